package import CDTJSON
import CDTSQLite

/// A validated body as it is stored: compact JSON text.
package struct BodyText: Sendable {
  package let text: [UInt8]

  /// The canonical text that the digest is computed from; empty for an empty body.
  package let canonical: [UInt8]

  /// The body of a tombstone.
  package static let none = BodyText(text: Array("{}".utf8), canonical: [])

  private init(text: [UInt8], canonical: [UInt8]) {
    self.text = text
    self.canonical = text.count > 2 ? canonical : []
  }

  /// Validates a body and writes its text.
  ///
  /// - Throws: ``DatastoreError``: `.missingBody`, `.reservedKey`, `.invalidBody`.
  init(of revision: DocumentRevision) throws(DatastoreError) {
    guard revision.hasBody else { throw DatastoreError(.missingBody(revision.id)) }
    try self.init(revision.body, id: revision.id)
  }

  /// Validates a body and writes its text.
  ///
  /// - Throws: ``DatastoreError``: `.reservedKey`, `.invalidBody`.
  package init(_ body: JSONObject, id: String?) throws(DatastoreError) {
    for (key, _) in body where ReservedMember.isReserved(key) {
      throw DatastoreError(.reservedKey(key, id: id))
    }
    try Self.check(.object(body), depth: 1, id: id)
    var text: [UInt8] = []
    body.write(to: &text)
    self.init(text: text, canonical: JSONCanonical.body(text))
  }

  /// Creates a body from text that was validated when it was read.
  package init(_ normalized: NormalizedObject) {
    self.init(text: normalized.text, canonical: normalized.canonical)
  }

  /// Creates a body from stored text.
  package init(stored text: [UInt8]) {
    self.init(text: text, canonical: JSONCanonical.body(text))
  }

  private static func check(_ value: JSONValue, depth: Int, id: String?) throws(DatastoreError) {
    switch value {
    case .double(let double):
      guard double.isFinite else { throw DatastoreError(.notANumber(id: id)) }
    case .array(let elements):
      guard depth <= JSONParsingOptions().maximumDepth else { throw DatastoreError(.bodyTooDeep(id: id)) }
      for element in elements { try check(element, depth: depth + 1, id: id) }
    case .object(let object):
      guard depth <= JSONParsingOptions().maximumDepth else { throw DatastoreError(.bodyTooDeep(id: id)) }
      for (_, value) in object { try check(value, depth: depth + 1, id: id) }
    default: break
    }
  }
}

/// The size of a document that SQLite can store: a row has at most 1,000,000,000 bytes, unless SQLite was built with
/// another limit.
enum DocumentSize {
  /// Room for the other columns of a row.
  private static let otherColumns = 1_000

  /// The maximum number of bytes of a document's id and body together.
  static func limit(on connection: Connection) -> Int { connection.maximumLength - otherColumns }

  /// - Throws: ``DatastoreError`` with the code `.invalidBody`.
  static func check(_ id: String, _ body: BodyText, on connection: Connection) throws(DatastoreError) {
    let (size, limit) = (id.utf8.count + body.text.count, limit(on: connection))
    guard size <= limit else { throw DatastoreError(.documentTooLarge(id, size, limit: limit)) }
  }
}
