import CDTDatastore
import CDTJSON
import CDTServerTestSupport
import Foundation
import Glibc
import Testing

/// A database whose files can only be read. Permissions don't hold back root, so the file system itself refuses.
@Suite(.enabled(if: geteuid() == 0, "no file system can be mounted here, as root it can"))
struct ReadOnlyDatabaseTests {
  @Test func `its views answer also after a document has expired`() async throws {
    let directory = try ServerDirectory()
    let path = directory.path("stores")
    let made = try DatastoreManager(directory: path)
    _ = try await made.datastore(named: "db")
    try await withServer(of: made) { server async throws in
      let design: JSONValue = [
        "language": "query",
        "views": ["n": ["map": ["fields": ["n": "asc"]], "reduce": "_count"]],
      ]
      #expect(try await server.put("/db/_design/v", design).status == 201)
      // A revision that has expired and can't be deleted.
      let revision = "\(Int.max - 1)-\(String(repeating: "f", count: 32))"
      #expect(
        try await server.put("/db/a?new_edits=false", ["_rev": .string(revision), "n": 1]).status == 201)
      #expect(try await server.put("/db/a", ["_rev": .string(revision), "n": 1, "at": 1]).status == 201)
      let index: JSONValue = ["index": ["fields": ["at"], "expireAfter": 1]]
      #expect(try await server.post("/db/_index", index).status == 200)
      #expect(try await server.get("/db/_design/v/_view/n").status == 200)
    }
    try await made.closeDatastore(named: "db")
    let flags = UInt(MS_BIND)
    try #require(mount(path, path, nil, flags, nil) == 0, "errno \(errno)")
    defer { umount2(path, Int32(MNT_DETACH)) }
    try #require(mount(nil, path, nil, flags | UInt(MS_REMOUNT) | UInt(MS_RDONLY), nil) == 0)
    try await withServer(of: try DatastoreManager(directory: path)) { server in
      let reply = try await server.get("/db/_design/v/_view/n")
      #expect(reply.status == 200, "\(reply.text)")
      #expect(reply.json["rows"]?[0]?["value"] == 1)
    }
  }

  @Test func `it is read, and each write is refused with 403 and the reason`() async throws {
    let directory = try ServerDirectory()
    let stored = try DatastoreManager(directory: directory.path("stores"))
    _ = try await stored.datastore(named: "db").createDocument(from: DocumentDraft(id: "a", body: ["n": 1]))
    try await stored.closeDatastore(named: "db")
    let (path, flags) = (directory.path("stores"), UInt(MS_BIND))
    try #require(mount(path, path, nil, flags, nil) == 0, "errno \(errno)")
    defer { umount2(path, Int32(MNT_DETACH)) }
    try #require(mount(nil, path, nil, flags | UInt(MS_REMOUNT) | UInt(MS_RDONLY), nil) == 0)
    let manager = try DatastoreManager(directory: path)
    try await withServer(of: manager) { server in
      #expect(try await server.get("/db/a").json["n"] == 1)
      #expect(try await server.post("/db/_find", ["selector": ["n": 1]]).status == 200)
      let writes: [(String, String, JSONValue?)] = [
        ("PUT", "/db/_local/checkpoint", [:]), ("DELETE", "/db/_local/checkpoint", nil),
        ("PUT", "/db/b", [:]),
        ("POST", "/db", [:]), ("POST", "/db/_bulk_docs", ["docs": [["_id": "b"]]]),
        ("PUT", "/db/a/file", nil),
        ("DELETE", "/db/a?rev=1-a", nil), ("POST", "/db/_index", ["index": ["fields": ["n"]]]),
        ("PUT", "/db/_security", [:]), ("PUT", "/db/_revs_limit", 5), ("POST", "/db/_compact", [:]),
      ]
      for (method, path, json) in writes {
        let reply = try await server.send(method, path, json: json)
        #expect(reply.status == 403, "\(method) \(path) \(reply.text)")
        #expect(reply.json["reason"]?.stringValue?.hasPrefix("The database can only be read") == true)
      }
      let new = try await server.put("/new", [:])
      #expect(new.status == 403)
      #expect(
        new.json["reason"]
          == "The directory of the databases can't be written to; allow the server to write to it.")
      #expect(try await server.get("/db/a").json["n"] == 1)
    }
  }
}
