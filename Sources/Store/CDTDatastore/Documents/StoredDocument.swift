package import CDTJSON

/// A document's JSON text, assembled from stored columns: `{"_id":"…","_rev":"…",` and then the body's members.
package enum StoredDocument {
  /// Replaces the content of the buffer with the text of a document.
  package static func write(
    id: UnsafeRawBufferPointer, revision: UnsafeRawBufferPointer, body: UnsafeRawBufferPointer,
    to buffer: inout TextBuffer
  ) {
    // Nearly all ids need no escaping.
    if JSONString.isItsSpelling(id), JSONString.isItsSpelling(revision) {
      return write(spelledID: id, revision, body, to: &buffer)
    }
    JSONString.spelling(of: Array(id)).withUnsafeBytes { id in
      JSONString.spelling(of: Array(revision)).withUnsafeBytes { revision in
        write(spelledID: id, revision, body, to: &buffer)
      }
    }
  }

  /// The length of the text around the id, the revision and the body.
  private static let frame = 24

  @inline(__always)
  private static func write(
    spelledID id: UnsafeRawBufferPointer, _ revision: UnsafeRawBufferPointer, _ body: UnsafeRawBufferPointer,
    to buffer: inout TextBuffer
  ) {
    buffer.replace(upTo: frame + id.count + revision.count + body.count) { start in
      var end = start
      append("{\"_id\":\"", at: &end)
      append(id, at: &end)
      append("\",\"_rev\":\"", at: &end)
      append(revision, at: &end)
      if body.count > 2 {
        append("\",", at: &end)
        append(UnsafeRawBufferPointer(rebasing: body[1...]), at: &end)
      } else {
        append("\"}", at: &end)
      }
      return end
    }
  }

  @inline(__always)
  private static func append(_ bytes: UnsafeRawBufferPointer, at end: inout UnsafeMutableRawPointer) {
    guard let start = bytes.baseAddress else { return }
    end.copyMemory(from: start, byteCount: bytes.count)
    end += bytes.count
  }

  @inline(__always)
  private static func append(_ text: StaticString, at end: inout UnsafeMutableRawPointer) {
    append(UnsafeRawBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount), at: &end)
  }
}

/// The text of a document in the table `documents`: `{"_id":"…","_rev":"…",` and then the body's members.
package struct StoredText {
  /// The document's id; `nil` if it is escaped in the text.
  package let id: UnsafeRawBufferPointer?
  /// The id of the winner; `nil` if it is escaped in the text, and then it is in `stored_revision`, too.
  package let revision: UnsafeRawBufferPointer?
  /// The body, in which a comma takes the place of the opening brace, unless it is empty.
  package let body: UnsafeRawBufferPointer

  /// The column from which ``RevisionID/init(stored:)`` reads the winner's id: a long text is not read for it.
  static let revisionColumn = "coalesce(stored_revision, text)"

  /// The winner's id and its body in SQL. They are not computed columns, as SQLite computes those in each write, too.
  package static let revisionSQL = """
    coalesce(stored_revision, CAST(substr(CAST(text AS BLOB), length(CAST(id AS BLOB)) + 19,
      head - length(CAST(id AS BLOB)) - 19) AS TEXT))
    """
  package static let bodySQL = "'{' || ltrim(CAST(substr(CAST(text AS BLOB), head + 1) AS TEXT), ',')"

  private static let idStart = 8
  /// The length of `,"_rev":"`.
  private static let revisionName = 9
  /// A longer text has the winner's id also in `stored_revision`, so that it can be read without the text.
  private static let longest = 1_000

  /// Finds the parts of a text; those of a damaged text are wrong, but within it.
  package init(_ text: UnsafeRawBufferPointer) {
    let bytes = JSONBytes(text)
    let endOfID: Int
    let end: Int
    (id, endOfID) = Self.string(in: bytes, from: Self.idStart)
    (revision, end) = Self.string(in: bytes, from: endOfID + Self.revisionName)
    body =
      end == bytes.count - 1 && bytes[end] == UInt8(ascii: "}")
      ? Self.emptyBody : bytes.slice(end, bytes.count)
  }

  /// A string after its quotation mark, unless it is escaped, and the offset after it.
  @inline(__always)
  private static func string(in bytes: JSONBytes, from start: Int) -> (UnsafeRawBufferPointer?, end: Int) {
    let special = bytes.nextQuoteOrBackslash(from: start)
    return bytes[special] == UInt8(ascii: "\\")
      ? (nil, bytes.endOfString(at: special - 1)) : (bytes.slice(start, special), special + 1)
  }

  /// Whether a text is that of a design document.
  package static func isOfDesignDocument(_ text: UnsafeRawBufferPointer) -> Bool {
    text.count > idStart && DocumentID.isDesign(UnsafeRawBufferPointer(rebasing: text[idStart...]))
  }

  private static var emptyBody: UnsafeRawBufferPointer {
    let text: StaticString = "{}"
    return UnsafeRawBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount)
  }

  // MARK: Writing

  /// Appends the text up to the winner's id.
  ///
  /// - Returns: Whether the id has no escapes in the text.
  static func appendStart(id: UnsafeRawBufferPointer, to text: inout [UInt8]) -> Bool {
    append("{\"_id\":\"", to: &text)
    let isSpelled = append(spelling: id, to: &text)
    append("\",\"_rev\":\"", to: &text)
    return isSpelled
  }

  private static func append(spelling id: UnsafeRawBufferPointer, to text: inout [UInt8]) -> Bool {
    // Nearly all ids need no escaping.
    if JSONString.isItsSpelling(id) {
      text.append(contentsOf: id)
      return true
    }
    JSONString.appendSpelling(of: id, to: &text)
    return false
  }

  /// Appends what follows the winner's id.
  static func appendEnd(body: [UInt8], to text: inout [UInt8]) {
    let isEmpty = body.count == 2 && body[0] == UInt8(ascii: "{")
    append(isEmpty ? "\"}" : "\",", to: &text)
    if !isEmpty { text.append(contentsOf: body.dropFirst()) }
  }

  private static func append(_ part: StaticString, to text: inout [UInt8]) {
    text.append(contentsOf: UnsafeBufferPointer(start: part.utf8Start, count: part.utf8CodeUnitCount))
  }

  /// A text to be stored, and the other columns that depend on it.
  struct Columns {
    let text: [UInt8]
    /// The number of bytes before the body's members.
    let head: Int64
    /// Whether the winner's id is also in `stored_revision`.
    let hasStoredRevision: Bool

    init(id: String, revision: RevisionID, body: [UInt8]) {
      var (id, revision, text) = (id, revision.description, [UInt8]())
      text.reserveCapacity(32 + id.utf8.count + revision.utf8.count + body.count)
      var isSpelled = true
      id.withUTF8 { isSpelled = StoredText.appendStart(id: UnsafeRawBufferPointer($0), to: &text) }
      revision.withUTF8 {
        isSpelled = StoredText.append(spelling: UnsafeRawBufferPointer($0), to: &text) && isSpelled
      }
      head = Int64(text.count + 1)
      StoredText.appendEnd(body: body, to: &text)
      hasStoredRevision = StoredText.hasStoredRevision(isSpelled: isSpelled, length: text.count)
      self.text = text
    }
  }

  /// - Parameters:
  ///   - isSpelled: Whether neither id has escapes in the text.
  ///   - length: The length of the text in bytes.
  static func hasStoredRevision(isSpelled: Bool, length: Int) -> Bool { !isSpelled || length > longest }
}
