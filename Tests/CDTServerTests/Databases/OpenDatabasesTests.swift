import CDTDatastore
import CDTServer
import CDTServerTestSupport
import CouchDB
import Synchronization
import Testing

/// Which datastores a server keeps open.
@Suite struct OpenDatabasesTests {
  private func withDatabases(
    limit: Int?, count: Int, _ body: (Databases) async throws -> Void
  ) async throws {
    let directory = try ServerDirectory()
    let manager = try DatastoreManager(directory: directory.path)
    let databases = Databases(manager, limit: limit)
    for number in 0..<count { try await databases.create("db\(number)") }
    try await body(databases)
  }

  @Test func `without a limit, every datastore stays open`() async throws {
    try await withDatabases(limit: nil, count: 5) { databases in
      for number in 0..<5 { _ = try await databases.database(named: "db\(number)") }
      #expect(databases.openNames.count == 5)
    }
  }

  @Test func `the datastore that was used longest ago is closed, and opened again`() async throws {
    try await withDatabases(limit: 2, count: 4) { databases in
      for number in [0, 1, 0, 2] {
        let database = try await databases.database(named: "db\(number)")
        _ = try await database.store.read { try $0.documentCount() }
      }
      #expect(databases.openNames == ["db0", "db2"])
      let again = try await databases.database(named: "db1")
      #expect(try await again.store.read { try $0.documentCount() } == 0)
    }
  }

  @Test func `datastores that were only created are closed, too`() async throws {
    try await withDatabases(limit: 3, count: 20) { databases in
      #expect(databases.openNames.count <= 3)
    }
  }

  @Test(arguments: [5, nil]) func `with a limit, a datastore that no request uses is closed by its name`(
    _ limit: Int?
  ) async throws {
    try await withDatabases(limit: limit, count: 2) { databases in
      let used = try await databases.database(named: "db0")
      for name in ["db0", "db1", "none"] { await databases.closeIfIdle(name) }
      #expect(databases.openNames == (limit == nil ? ["db0", "db1"] : ["db0"]))
      #expect(try await used.store.read { try $0.documentCount() } == 0)
    }
  }

  private final class Files: Sendable {
    let areLeft = Atomic(true)
  }

  @Test func `without files left, idle datastores are closed, and what needs one is refused for a time`()
    async throws
  {
    let directory = try ServerDirectory()
    let (manager, files) = (try DatastoreManager(directory: directory.path), Files())
    let databases = Databases(manager, limit: 10) { files.areLeft.load(ordering: .relaxed) }
    for name in ["a", "b", "c"] { try await databases.create(name) }
    let used = try await databases.database(named: "a")
    files.areLeft.store(false, ordering: .relaxed)
    for _ in 0..<2 {
      let error = await #expect(throws: CouchError.self) { try await databases.create("d") }
      #expect(error?.status == 503)
    }
    #expect(databases.openNames == ["a"])
    #expect(try await used.store.read { try $0.documentCount() } == 0)
    #expect(try manager.datastoreNames() == ["a", "b", "c"])
    files.areLeft.store(true, ordering: .relaxed)
    try await databases.create("d")
    _ = try await databases.database(named: "b")
  }

  @Test func `a datastore in use is not closed`() async throws {
    try await withDatabases(limit: 1, count: 4) { databases in
      let first = try await databases.database(named: "db0")
      for number in 1..<4 { _ = try await databases.database(named: "db\(number)") }
      #expect(databases.openNames.contains("db0"))
      _ = try await first.store.createDocument(from: DocumentDraft(id: "a", body: [:]))
      #expect(try await databases.database(named: "db0").store === first.store)
    }
  }

  @Test func `a datastore that others delete or replace is noticed before a reply begins`() async throws {
    try await withServer { server in
      _ = try await server.put("/db")
      _ = try await server.put("/db/old", [:])
      let other = try DatastoreManager(directory: server.manager.directory)
      try other.deleteDatastore(named: "db")
      #expect(try await server.get("/db/_all_docs").status == 404)
      _ = try await server.put("/db")
      _ = try await server.get("/db/_all_docs")
      try other.deleteDatastore(named: "db")
      _ = try await other.datastore(named: "db").createDocument(from: DocumentDraft(id: "new", body: [:]))
      #expect(try await server.get("/db/_all_docs").json["rows"]?[0]?["id"] == "new")
    }
  }

  @Test func `of many who create a database one succeeds`() async throws {
    try await withDatabases(limit: 1, count: 0) { databases in
      let created = await withTaskGroup(of: Bool.self) { group in
        for _ in 0..<20 {
          group.addTask {
            do {
              try await databases.create("new")
              return true
            } catch {
              return false
            }
          }
        }
        return await group.reduce(0) { $0 + ($1 ? 1 : 0) }
      }
      #expect(created == 1)
    }
  }

  @Test func `many requests to more datastores than stay open are all answered`() async throws {
    try await withDatabases(limit: 2, count: 6) { databases in
      try await withThrowingTaskGroup(of: Void.self) { group in
        for task in 0..<12 {
          group.addTask {
            for step in 0..<25 {
              let database = try await databases.database(named: "db\((task + step * 5) % 6)")
              try await database.store.createDocument(from: DocumentDraft(id: "\(task)-\(step)", body: [:]))
            }
          }
        }
        try await group.waitForAll()
      }
      var count = 0
      for number in 0..<6 {
        count += try await databases.database(named: "db\(number)").store.read { try $0.documentCount() }
      }
      #expect(count == 12 * 25)
      #expect(databases.openNames.count <= 2)
    }
  }

  @Test func `a database that others have deleted can be created`() async throws {
    let directory = try ServerDirectory()
    let databases = Databases(try DatastoreManager(directory: directory.path))
    try await databases.create("db")
    _ = try await databases.database(named: "db")
    try DatastoreManager(directory: directory.path).deleteDatastore(named: "db")
    try await databases.create("db")
    #expect(try await databases.database(named: "db").store.read { try $0.documentCount() } == 0)
    await #expect(throws: CouchError.self) { try await databases.create("db") }
  }
}
