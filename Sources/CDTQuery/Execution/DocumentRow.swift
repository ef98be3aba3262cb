import CDTDatastore
import JSON
import SQLite

/// The row of a statement that gives documents: the one place that knows their columns. What it lends is valid until the
/// statement is stepped or reset.
struct DocumentRow {
  /// The columns of a document that is read.
  ///
  /// - Parameter table: The table that has the documents.
  static func columns(of table: String) -> String {
    "\(table).number, \(table).id, \(table).revision, \(table).body, \(table).attachments, "
      + "coalesce(\(table).written, \(table).sequence)"
  }

  /// The columns of a candidate whose document is not read.
  static func columns(number: String, id: String) -> String { "\(number), \(id)" }

  private let statement: Statement

  init(_ statement: Statement) {
    self.statement = statement
  }

  /// The number of the document, which never changes.
  var number: Int64 { statement.int64(0) }
  var id: UnsafeRawBufferPointer { statement.unsafeBytes(1) }

  // MARK: Where the document is read

  var bytes: DocumentBytes {
    DocumentBytes(id: id, revision: statement.unsafeBytes(2), body: statement.unsafeBytes(3))
  }

  var hasAttachments: Bool { statement.int64(4) > 0 }
  /// The sequence at which the revision was written.
  var sequence: Int64 { statement.int64(5) }
}
