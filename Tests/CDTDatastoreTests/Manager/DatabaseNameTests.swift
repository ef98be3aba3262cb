import CDTDatastore
import CDTTestSupport
import Foundation
import Testing

@Suite struct DatabaseNameTests {
  @Test(arguments: ["a", "Z", "a_1", "Tasks", String(repeating: "Z", count: 200)])
  func `the name of a datastore is that of its directory`(_ name: String) throws {
    #expect(try DatabaseName(name).directoryName == name)
  }

  @Test(arguments: [
    ("obsidian-livesync", "obsidian-livesync"), ("userdb-616e61", "userdb-616e61"), ("a$b(c)+", "a$b(c)+"),
    ("couchdb-python/1", "couchdb-python%2F1"), ("a/", "a%2F"), ("a//b", "a%2F%2Fb"),
    (String(repeating: "a", count: 238), String(repeating: "a", count: 238)),
  ])
  func `a name of CouchDB has a directory from which it can be read`(_ name: String, _ directory: String)
    throws
  {
    #expect(try DatabaseName(name).directoryName == directory)
    #expect(try DatabaseName(directoryName: directory).description == name)
  }

  @Test(arguments: [
    "", "_users", "1a", "-a", "a b", "a.b", "é", "aé", "a-\u{301}", "a\0", "../a", "/a", "a\\b", "a%2Fb",
    "a\n", "@",
    "`", "A-b", "a-B", String(repeating: "Z", count: 201), String(repeating: "a", count: 239),
    // 256 bytes with %2F.
    String(repeating: "a/", count: 64),
  ])
  func `other names are refused`(_ name: String) {
    #expect(datastoreError { try DatabaseName(name) }?.code == .invalidName)
  }

  @Test(arguments: ["a/b", "a%2f", "a%2Fb.c", "%2Fa", "a%252Fb", ".deleted-a", "A%2Fb"])
  func `other directories have no datastore`(_ name: String) {
    #expect(datastoreError { try DatabaseName(directoryName: name) }?.code == .invalidName)
  }

  @Test func `a datastore with a name of CouchDB is found, closed and deleted by it`() async throws {
    let directory = try temporaryDirectory()
    defer { removeDirectory(directory) }
    let manager = try DatastoreManager(directory: directory)
    let name = try DatabaseName("user-tasks/2026")
    #expect(datastoreError { try manager.existingDatastore(named: name) }?.code == .notFound)
    let store = try manager.datastore(named: name)
    #expect(store.name == "user-tasks/2026")
    #expect(try manager.existingDatastore(named: name) === store)
    #expect(try FileManager.default.contentsOfDirectory(atPath: directory) == ["user-tasks%2F2026"])
    _ = try await manager.datastore(named: "Tasks")
    #expect(try manager.databaseNames() == [DatabaseName("Tasks"), name])
    // What a manager can't open by a string, it doesn't list as one.
    #expect(try manager.datastoreNames() == ["Tasks"])
    try manager.closeDatastore(named: name)
    #expect(datastoreError { try store.read { try $0.documentCount() } }?.code == .closed)
    try manager.deleteDatastore(named: name)
    #expect(try manager.databaseNames() == [DatabaseName("Tasks")])
  }
}
