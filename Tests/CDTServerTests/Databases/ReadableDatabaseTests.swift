import CDTDatastore
import CDTJSON
import CDTServer
import CDTServerTestSupport
import CDTTestSupport
import CouchDB
import Foundation
import Testing

/// The databases that a user may read: `_dbs_info?readable=true`.
@Suite struct ReadableDatabaseTests {
  private static func names(_ server: RunningServer, _ more: String = "") async throws -> [String] {
    let reply = try await server.get("/_dbs_info?readable=true\(more)")
    #expect(reply.status == 200, "\(reply.text)")
    return reply.json.arrayValue?.compactMap { $0["key"]?.stringValue } ?? []
  }

  private static func security(
    members: JSONValue = [:], admins: JSONValue = ["names": ["owner"]]
  ) -> JSONValue {
    ["admins": admins, "members": members]
  }

  /// Besides `db`, which everyone may read: `closed` for server admins, `open` for everyone, `sales` and `mine`.
  private static func withDatabases(
    requiresUser: Bool = false, _ body: (RuleSite) async throws -> Void
  ) async throws {
    try await RuleSite.run(requiresUser: requiresUser) { site async throws in
      for name in ["closed", "mine", "open", "sales"] { _ = try await site.admin.put("/\(name)") }
      for (name, security) in [
        ("open", security()), ("mine", security(members: ["names": ["bob"]])),
        ("sales", security(members: ["roles": ["sales"]], admins: ["names": ["carol"]])),
      ] { #expect(try await site.admin.put("/\(name)/_security", security).status == 200) }
      try await body(site)
    }
  }

  @Test func `members, admins and clients without a name get what they may read`() async throws {
    try await Self.withDatabases { site async throws in
      #expect(try await Self.names(site.server) == ["db", "open"])
      #expect(try await Self.names(site.user("anna")) == ["db", "open", "sales"])
      #expect(try await Self.names(site.user("bob")) == ["db", "mine", "open"])
      #expect(try await Self.names(site.user("carol")) == ["db", "open", "sales"])
      #expect(try await Self.names(site.user("owner")) == ["db", "mine", "open"])
      #expect(try await Self.names(site.admin) == ["closed", "db", "mine", "open", "sales"])
      // The pages are those of the databases that the user may read.
      let bob = site.user("bob")
      #expect(try await Self.names(bob, "&limit=1&skip=1") == ["mine"])
      #expect(try await Self.names(bob, "&start_key=%22e%22&descending=false") == ["mine", "open"])
      #expect(try await Self.names(bob, "&descending=true&limit=2") == ["open", "mine"])
      #expect(try await bob.get("/_dbs_info?readable=true&limit=x").status == 400)
      // Everything else is for server admins.
      for path in [
        "/_dbs_info", "/_dbs_info?readable=false", "/_dbs_info?readable", "/_all_dbs?readable=true",
      ] {
        #expect(try await bob.get(path).status == 401)
      }
      #expect(try await bob.post("/_dbs_info?readable=true", ["keys": ["db"]]).status == 401)
      // An admin as another user.
      var asBob = site.admin
      asBob.headers.append(("X-As-User", "bob"))
      #expect(try await Self.names(asBob) == ["db", "mine", "open"])
      asBob.headers = site.user("owner").headers + [("X-As-User", "anna")]
      #expect(try await Self.names(asBob) == ["db", "open"])
    }
    try await Self.withDatabases(requiresUser: true) { site async throws in
      #expect(try await site.server.get("/_dbs_info?readable=true").status == 401)
      #expect(try await Self.names(site.user("anna")) == ["db", "open", "sales"])
    }
    try await withServer { server async throws in #expect(try await Self.names(server) == ["db"]) }
    try await withServer({ $0.isReadOnly = true }) { server async throws in
      #expect(try await Self.names(server) == ["db"])
    }
  }

  @Test func `a change holds for the next list`() async throws {
    try await Self.withDatabases { site async throws in
      let anna = site.user("anna")
      _ = try await site.admin.put("/sales/_security", Self.security(members: ["names": ["bob"]]))
      _ = try await site.admin.put("/mine/_security", Self.security(members: ["names": ["anna"]]))
      _ = try await site.admin.delete("/open")
      #expect(try await Self.names(anna) == ["db", "mine"])
      try await site.setRoles(["x"], of: "anna")
      _ = try await site.admin.put("/sales/_security", Self.security(members: ["roles": ["x"]]))
      #expect(try await Self.names(anna) == ["db", "mine", "sales"])
    }
  }

  @Test func `a row has what the user sees of the database`() async throws {
    try await Self.withDatabases { site async throws in
      for (rev, text) in [("1-a", "one"), ("1-b", "two")] {
        for owner in ["anna", "bob"] {
          let document: JSONValue = [
            "_id": .string("c-\(owner)"), "_rev": .string(rev), "owner": .string(owner),
            "text": .string(text),
          ]
          _ = try await site.admin.post("/db/_bulk_docs", ["docs": [document], "new_edits": false])
        }
      }
      try await site.setRules([["roles": ["*"], "selector": ["owner": ["$data": "userCtx.name"]]]])
      for (user, conflicts) in [("anna", 1), ("carol", 0), ("owner", 2), ("root", 2)] {
        let user = site.user(user)
        let plain = try await user.get("/_dbs_info?readable=true&start_key=%22db%22&limit=1").json[0]
        let info = try await user.get("/db").json
        for member in ["db_name", "doc_count", "doc_del_count", "update_seq", "instance_start_time"] {
          #expect(plain?["info"]?[member] == info[member], "\(member)")
        }
        #expect(plain?["info"]?["conflicts"] == nil)
        let counted = try await user.get("/_dbs_info?readable=true&start_key=%22db%22&conflicts=true").json[0]
        #expect(counted?["info"]?["conflicts"]?.intValue == conflicts)
        #expect(try await user.get("/db/_conflicts").json["total_rows"]?.intValue == conflicts)
      }
    }
  }

  @Test func `a database that can't be opened is listed for server admins alone`() async throws {
    let directory = try ServerDirectory()
    let manager = try DatastoreManager(directory: directory.path("stores"))
    for name in ["damaged", "whole"] { _ = try await manager.datastore(named: name) }
    try await manager.closeDatastore(named: "damaged")
    try directory.write(String(repeating: "no database ", count: 1_000), to: "stores/damaged/db.sync")
    let users = directory.path("users.json")
    for (name, roles) in [("root", ["_admin"]), ("anna", [])] {
      _ = try UserFile(users).setPassword("secret \(name)", of: name, roles: roles)
    }
    try await withServer(of: manager, { $0.usersFile = users }) { server async throws in
      let site = RuleSite(server: server)
      _ = try await site.admin.put("/whole/_security", Self.security())
      #expect(try await Self.names(site.user("anna")) == ["whole"])
      let rows = try await site.admin.get("/_dbs_info?readable=true").json
      #expect(rows[0]?["key"] == "damaged" && rows[0]?["error"] != nil && rows[0]?["info"] == nil)
      #expect(rows[1]?["info"]?["db_name"] == "whole")
    }
  }

  @Test func `databases that are closed are opened only after a change`() async throws {
    let directory = try ServerDirectory()
    let manager = try DatastoreManager(directory: directory.path)
    let databases = Databases(manager, limit: 2)
    let names = (0..<6).map { "db\($0)" }
    for name in names { try await databases.create(name) }
    // Those that are closed after their rules were read may have other files then.
    for _ in 0..<3 {
      for name in names { _ = try await databases.security(of: name, hasUsers: true) }
    }
    for name in ["db0", "db1"] { _ = try await databases.database(named: name) }
    func readAll() async throws {
      for name in names {
        let rules = try await databases.security(of: name, hasUsers: true)
        #expect(throws: CouchError.self) {
          try rules.checkMember(Identity(name: "anna", roles: [], handler: nil))
        }
      }
    }
    try await readAll()
    #expect(databases.openNames == ["db0", "db1"])
    // Another program writes.
    let other = try await DatastoreManager(directory: directory.path).datastore(named: "db3")
    _ = try await other.createDocument(from: DocumentDraft(id: "a", body: [:]))
    try await readAll()
    #expect(databases.openNames.contains("db3"))
  }

  @Test func `another server's change of a database that is closed is seen`() async throws {
    let directory = try ServerDirectory()
    let users = directory.path("users.json")
    for (name, roles) in [("root", ["_admin"]), ("anna", [])] {
      _ = try UserFile(users).setPassword("secret \(name)", of: name, roles: roles)
    }
    let stores = directory.path("stores")
    let names = ["a", "b", "c", "d"]
    let manager = try DatastoreManager(directory: stores)
    for name in names { _ = try await manager.datastore(named: name) }
    for name in names { try await manager.closeDatastore(named: name) }
    try await withServer(
      of: manager,
      {
        $0.usersFile = users
        $0.limits.openDatastores = 1
      }
    ) { first async throws in
      try await withServer(of: DatastoreManager(directory: stores), { $0.usersFile = users }) {
        second async throws in
        let anna = RuleSite(server: first).user("anna")
        for _ in 0..<3 { #expect(try await Self.names(anna) == []) }
        for name in ["b", "d"] {
          let changed = try await RuleSite(server: second).admin.put("/\(name)/_security", Self.security())
          #expect(changed.status == 200)
        }
        // The rules of a database that is open are read again after a second.
        try await Task.sleep(for: .milliseconds(1_100))
        #expect(try await Self.names(anna) == ["b", "d"])
      }
    }
  }
}
