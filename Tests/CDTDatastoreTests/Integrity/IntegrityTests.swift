import CDTDatastore
import CDTJSON
import CDTSQLite
import CDTTestSupport
import Foundation
import Testing

/// Damage that SQLite takes for good rows is found by `checkIntegrity()`.
@Suite struct IntegrityTests {
  struct Damage: Sendable, CustomTestStringConvertible {
    let testDescription, sql, finding: String

    init(_ sql: String, _ finding: String) {
      testDescription = sql
      self.sql = sql
      self.finding = finding
    }
  }

  static let damages = [
    Damage("UPDATE documents SET leaves = 3", #"tree: document "a": it has 2 leaves and should have 3"#),
    Damage(
      "UPDATE revisions SET sequence = 0 WHERE leaf", #"tree: document "a": 2-b has the sequence 0, after 2"#),
    Damage(
      "UPDATE documents SET sequence = -5", #"tree: document "a": 3-c has the sequence -5, after -5"#),
    Damage(
      "UPDATE revisions SET parent = '1-z' WHERE leaf",
      #"tree: document "a": the parent 1-z of 2-b is missing"#),
    Damage("UPDATE documents SET parent = '1-a'", #"tree: document "a": 1-a can't be the parent of 3-c"#),
    Damage(
      "UPDATE revisions SET leaf = 1 WHERE generation = 1", #"tree: document "a": 1-a is marked as a leaf"#),
    Damage("UPDATE revisions SET leaf = 0", #"tree: document "a": 2-b is not marked as a leaf"#),
    Damage("UPDATE revisions SET body = NULL WHERE leaf", #"tree: document "a": the leaf 2-b has no body"#),
    Damage("UPDATE documents SET deleted = 1", #"tree: document "a": the winner is 3-c and should be 2-b"#),
    Damage(
      "UPDATE revisions SET generation = 7 WHERE leaf", #"tree: document "a": 2-b is stored as generation 7"#),
    Damage(
      "INSERT INTO revisions SELECT number, 3, '3-c', parent, 2, 1, 0, 0, '{}' FROM documents",
      #"tree: document "a": a revision occurs twice"#),
    Damage(
      "UPDATE revisions SET revision = '0-x' WHERE leaf",
      #"tree: document "a": the store is damaged: "0-x" is not a revision id; restore it from a backup, or save what can be read with "cdtquery recover""#
    ),
    Damage(
      "UPDATE documents SET text = substr(text, 1, head) || ',\"a\" : 1}'",
      #"body: document "a": the body of 3-c differs from what was saved"#),
    Damage(
      "UPDATE revisions SET body = '[' WHERE leaf",
      #"body: document "a": the body of 2-b differs from what was saved"#),
    Damage(
      "UPDATE documents SET text = replace(text, '\"a\"', '\"b\"')",
      #"body: document "a": the text differs from what was saved"#),
    Damage(
      "UPDATE documents SET head = head + 1", #"body: document "a": the text differs from what was saved"#),
    Damage(
      "UPDATE documents SET stored_revision = '3-c'",
      #"body: document "a": the text differs from what was saved"#),
    Damage("UPDATE revisions SET document = 99 WHERE leaf", "tree: 1 revisions belong to no document"),
    Damage(
      "UPDATE documents SET attachments = 2", #"tree: document "a": 3-c has 1 attachments and should have 2"#),
    Damage("UPDATE attachments SET document = 99", "attachment: 1 attachments belong to no revision"),
    Damage(
      "UPDATE documents SET id = CAST(x'61FF' AS TEXT)",
      "tree: document \"a\u{FFFD}\": the id is not valid UTF-8 text"),
  ]

  @Test func `local documents with and without a number are sound`() throws {
    try withTemporaryDatastore { store in
      try store.write { transaction in
        try transaction.setLocalDocument(["last": 1.50, "text": "é"], withID: "plain")
        try transaction.setLocalDocument(LocalDocument(body: ["last": 1.50], revision: 2), withID: "numbered")
        try transaction.setLocalDocument(LocalDocument(body: [:], revision: 1), withID: "empty")
      }
      #expect(try store.checkIntegrity() == [])
    }
  }

  @Test(arguments: damages) func `damage is found and told`(_ damage: Damage) throws {
    try withTemporaryDirectory { directory in
      let manager = try DatastoreManager(directory: directory)
      let store = try manager.datastore(named: "store")
      try store.insert("2-b", after: ["1-a"])
      try store.insert(
        "3-c", after: ["2-c", "1-a"],
        attachments: [DocumentAttachment(data: Data("x".utf8), name: "x", contentType: "")])
      #expect(try store.checkIntegrity() == [])
      try withDatabase(of: "store", in: directory) { try $0.execute(damage.sql) }
      let findings = try store.checkIntegrity().map(\.description)
      #expect(findings.contains(damage.finding), "\(findings)")
      // Nor does compaction or a write trap on it.
      _ = try? store.compact()
      _ = try? store.insert("4-d", after: ["3-c", "2-c"])
      _ = try? store.deleteDocument(withID: "a")
    }
  }
}
