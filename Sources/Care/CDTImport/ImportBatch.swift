package import CDTDatastore
import CDTJSON
import CDTPlatform

/// Documents to be written, and their places in the input.
package struct ImportBatch {
  let documents = NewDocuments()
  /// The attachments of the documents that have `_attachments`, by position.
  private(set) var attachments: [Int: Attachments] = [:]
  /// The revisions that documents replace, by position.
  private var revisions: [Int: RevisionID] = [:]
  private var file = ""
  private var lines: [Int] = []

  /// The number of documents.
  package var count: Int { lines.count }

  package func id(at row: Int) -> String { documents.id(at: row) }

  /// The JSON of a document without reserved members.
  package func text(at row: Int) -> [UInt8] { documents.body(at: row).text }

  /// The attachments of a document; `nil` if it has no `_attachments`.
  package func attachments(at row: Int) -> Attachments? { attachments[row] }

  /// The revision that a document replaces; `nil` if it replaces any.
  package func revision(at row: Int) -> RevisionID? { revisions[row] }

  /// The error of a document that has another revision than the one that it replaces.
  ///
  /// - Parameter isDeleted: Whether the other revision is a tombstone.
  package func stale(at row: Int, current: String, isDeleted: Bool) -> ImportError {
    let wanted = revisions[row].map { "\($0)" } ?? ""
    let change = isDeleted ? "was deleted (\(current))" : "has changed to \(current)"
    return problem(
      "document \(DatastoreError.quoted(id(at: row))) \(change), but this line replaces \(wanted); edit the current revision, or overwrite it with --force",
      at: row)
  }

  /// An error of a document.
  package func problem(_ message: String, at row: Int) -> ImportError {
    ImportError(file: file, line: lines[row], column: 0, message: message)
  }

  /// The error of a document whose id exists.
  package func conflict(at row: Int) -> ImportError {
    problem(
      "document \(DatastoreError.quoted(id(at: row))) already exists; skip or replace such documents (--on-conflict)",
      at: row)
  }

  mutating func removeAll() {
    documents.removeAll()
    attachments = [:]
    revisions = [:]
    lines.removeAll(keepingCapacity: true)
  }

  mutating func append(
    _ document: ImportedDocument, at place: SourcePlace, body: JSONNormalizer
  ) {
    if let attachments = document.attachments { self.attachments[count] = attachments }
    if let revision = document.revision { revisions[count] = revision }
    documents.append(id: document.id ?? DocumentID.make(), body: body)
    file = place.file
    lines.append(place.line)
  }
}
