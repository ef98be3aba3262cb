public import CDTDatastore
public import CDTJSON

/// The documents that never expire by an index with `expireAfter`, since the value of its field is not a date, or is one thousands of years
/// from now.
///
/// See <doc:QueryingDocuments#Documents-that-expire>.
public struct NeverExpiring: Sendable, Hashable, CustomStringConvertible {
  /// The name of the index.
  public let index: String
  /// The path of its field.
  public let field: String
  /// The number of documents.
  public internal(set) var count = 0
  /// The ids of the first documents, at most three.
  public internal(set) var documentIDs: [String] = []
  /// The values of these documents in the field.
  public internal(set) var values: [JSONValue] = []
  /// The number of values that are numbers and look like milliseconds.
  public internal(set) var milliseconds = 0

  static let maximumExamples = 3

  /// As in `2 documents never expire by the index "expire_seen" as "seen" is not a date, such as "a" with 1577836800000: …`.
  public var description: String {
    let examples = zip(documentIDs, values).map { id, value in
      "\(JSONValue.string(id).text) with \(value.text.boundedExample)"
    }
    let documents = count == 1 ? "1 document never expires" : "\(count) documents never expire"
    let remedy =
      milliseconds > 0
      ? "numbers are seconds since 1970; with the option milliseconds they are milliseconds"
      : "dates are ISO 8601 text with seconds and a time zone, such as 2026-11-26T15:00:00Z, or seconds since 1970"
    return """
      \(documents) by the index \(JSONValue.string(index).text) as "\(field)" is not a date, such as \
      \(examples.joined(separator: ", ")): \(remedy)
      """
  }
}

extension String {
  /// The text, cut if it is long.
  fileprivate var boundedExample: String { utf8.count > 40 ? "\(prefix(30))…" : self }
}

extension Datastore {
  /// The documents that never expire, by each index with `expireAfter`, though they have a value in its field: it is not a date, or is
  /// thousands of years from now, such as milliseconds that are read as seconds.
  ///
  /// ```swift
  /// for mistake in try store.documentsThatNeverExpire() { print(mistake) }
  /// ```
  ///
  /// - Parameter name: An index, or `nil` for all.
  /// - Returns: The indexes by which there are such documents, in the order of their names.
  /// - Complexity: O(*bytes of the documents*) if there is an index with `expireAfter`, otherwise O(1).
  ///
  /// See <doc:QueryingDocuments#Documents-that-expire>.
  public func documentsThatNeverExpire(byIndex name: String? = nil) throws -> [NeverExpiring] {
    let definitions = try mapped { try queryExtension().design.definitions() }
      .filter { definition in name.map { definition.name.hasSameBytes(as: $0) } ?? true }
      .sorted { $0.name.precedesInBytes($1.name) }
    var found = definitions.compactMap { definition -> (rule: ExpiryRule, mistakes: NeverExpiring)? in
      guard let rule = ExpiryRule(definition), let field = definition.fields.first else { return nil }
      return (rule, NeverExpiring(index: definition.name, field: field.path))
    }
    guard !found.isEmpty else { return [] }
    try readSnapshot { transaction in
      let range = DocumentRange()
      try transaction.forEachDocument(in: range, limit: .max) { document in
        let body = document.bodyText
        let (id, revision) = (Array(document.id.utf8), Array(document.revisionID.description.utf8))
        id.withUnsafeBytes { id in
          revision.withUnsafeBytes { revision in
            body.withUnsafeBytes { body in
              let bytes = DocumentBytes(id: id, revision: revision, body: body)
              for number in found.indices { found[number].mistakes.note(bytes, by: found[number].rule) }
            }
          }
        }
        return true
      }
    }
    return found.map(\.mistakes).filter { $0.count > 0 }
  }
}

extension NeverExpiring {
  fileprivate mutating func note(_ document: DocumentBytes, by rule: ExpiryRule) {
    guard let place = rule.mistake(in: document) else { return }
    count += 1
    if document.body.kind(at: place) == .number { milliseconds += 1 }
    guard documentIDs.count < Self.maximumExamples else { return }
    documentIDs.append(String(decoding: document.id, as: UTF8.self))
    values.append(document.body.value(at: place))
  }
}
