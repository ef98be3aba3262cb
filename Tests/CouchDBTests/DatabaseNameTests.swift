import CDTDatastore
import CouchDB
import Foundation
import Testing

@Suite struct DatabaseNameTests {
  @Test(arguments: ["a", "tasks", "Tasks", "t_1", "Z9_", String(repeating: "a", count: 200)])
  func `a name of a datastore`(name: String) throws {
    try DatabaseName.check(name)
  }

  @Test(arguments: [
    "", "_users", "_replicator", "_x", "1a", "-a", "a b", "a.b", "é", "aé", "a\u{0}", "../a", "a\\b", "a%2Fb",
    "a\n", " a",
    "@", "[", "`", "{",
  ]) func `a name that CouchDB refuses`(name: String) {
    #expect(throws: CouchError.illegalDatabaseName(name)) { try DatabaseName.check(name) }
  }

  @Test(arguments: ["a/b", "a-b", "a$", "a(b)", "a+b", String(repeating: "a", count: 201)])
  func `a name that only CouchDB can have`(name: String) {
    #expect(throws: CouchError.unsupportedDatabaseName(name)) { try DatabaseName.check(name) }
  }

  @Test func `a name that is too long for CouchDB`() {
    let name = String(repeating: "a", count: 239)
    #expect(throws: CouchError.databaseNameTooLong(name)) { try DatabaseName.check(name) }
  }

  /// The limit is stated here and in CDTDatastore.
  @Test func `a manager opens the names that are accepted, and no longer ones`() throws {
    let directory = FileManager.default.temporaryDirectory.appending(path: "names-\(UUID().uuidString)")
    defer { try? FileManager.default.removeItem(at: directory) }
    let manager = try DatastoreManager(directory: directory.path)
    let longest = String(repeating: "a", count: DatabaseName.maximumLength)
    _ = try manager.datastore(named: longest)
    #expect(throws: DatastoreError.self) { try manager.datastore(named: longest + "a") }
  }
}
