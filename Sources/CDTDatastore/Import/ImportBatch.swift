import CDTJSON

/// Documents to be written, and their places in the input.
package struct ImportBatch {
  let documents = NewDocuments()
  /// The attachments of the documents that have `_attachments`, by position.
  private(set) var attachments: [Int: Attachments] = [:]
  private var file = ""
  private var lines: [Int] = []

  /// The number of documents.
  package var count: Int { lines.count }

  package func id(at row: Int) -> String { documents.id(at: row) }

  /// The JSON of a document without reserved members.
  package func text(at row: Int) -> [UInt8] { documents.body(at: row).text }

  /// The attachments of a document; `nil` if it has no `_attachments`.
  package func attachments(at row: Int) -> Attachments? { attachments[row] }

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
    lines.removeAll(keepingCapacity: true)
  }

  mutating func append(
    _ id: String, _ document: JSONNormalizer, _ attachments: Attachments?, at place: SourcePlace
  ) {
    if let attachments { self.attachments[count] = attachments }
    documents.append(id: id, body: document)
    file = place.file
    lines.append(place.line)
  }
}
