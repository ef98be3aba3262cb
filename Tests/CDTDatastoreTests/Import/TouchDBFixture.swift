import CDTDatastore
import CDTImport
import CDTSQLite
import CDTTestSupport
import Foundation
import Testing

/// A copy of the datastore that `Fixtures/touchdb/make.sh` made, for a test to change, and a store to import it into.
struct TouchDBFixture {
  let directory: String
  let store: Datastore
  let manager: DatastoreManager

  var path: String { "\(directory)/tasks.touchdb" }
  var attachments: String { "\(directory)/tasks attachments" }
  var indexes: String { "\(directory)/tasks_extensions/com.cloudant.sync.query/indexes.sqlite" }

  static let source = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "Fixtures/touchdb")

  /// Runs SQL on the file, as its own app would.
  func change(_ sql: String) throws {
    let connection = try Connection(path: path, mode: .readWriteCreate)
    defer { connection.close() }
    try connection.execute(sql)
  }

  /// Every file beside the database with its content and its time.
  func files() throws -> [String: [String]] {
    var files: [String: [String]] = [:]
    for name in try FileManager.default.subpathsOfDirectory(atPath: directory) {
      let path = "\(directory)/\(name)"
      let attributes = try FileManager.default.attributesOfItem(atPath: path)
      let content = FileManager.default.contents(atPath: path)?.base64EncodedString() ?? ""
      files[name] = ["\(attributes[.modificationDate] ?? "")", content]
    }
    return files
  }

  /// The revisions of a document's tree, each with its parent and what is known of it.
  func tree(of id: String) throws -> Set<String> {
    try withDatabase(of: "store", in: manager.directory) { connection in
      let statement = try connection.statement(
        """
        SELECT \(StoredText.revisionSQL), parent, 'leaf', deleted, \(StoredText.bodySQL) FROM documents WHERE id = ?1
         UNION ALL
        SELECT revision, parent, iif(leaf, 'leaf', ''), deleted, body FROM revisions
         WHERE document = (SELECT number FROM documents WHERE id = ?1)
        """)
      defer { statement.reset() }
      try statement.bind(id, at: 1)
      var nodes: Set<String> = []
      while try statement.step() {
        let shown = [0, 1, 4].map { statement.isNull($0) ? "none" : Self.short(statement.text($0)) }
        let kind = statement.text(2) + (statement.int64(3) != 0 ? " deleted" : "")
        nodes.insert("\(shown[1]) < \(shown[0]) \(shown[2]) \(kind)".trimmingCharacters(in: .whitespaces))
      }
      return nodes
    }
  }

  /// `2-00000000000000000000000000000b0a` as `2-b0a`.
  private static func short(_ text: String) -> String {
    text.replacing(/^([0-9]+-)0+/) { "\($0.1)" }
  }
}

/// Runs `body` with a fresh copy of the fixture and an empty store.
func withTouchDB<R>(_ body: (TouchDBFixture) throws -> R) throws -> R {
  try withTemporaryDirectory { directory in
    let source = "\(directory)/source"
    try FileManager.default.copyItem(atPath: TouchDBFixture.source.path, toPath: source)
    let manager = try DatastoreManager(directory: "\(directory)/stores")
    defer { manager.close() }
    return try body(
      TouchDBFixture(directory: source, store: try manager.datastore(named: "store"), manager: manager))
  }
}

/// The error that an import ends with; anything else fails the test.
@discardableResult
func touchDBError<R>(
  sourceLocation: SourceLocation = #_sourceLocation, _ body: () throws -> R
) -> TouchDBError? {
  #expect(throws: TouchDBError.self, sourceLocation: sourceLocation) { _ = try body() }
}
