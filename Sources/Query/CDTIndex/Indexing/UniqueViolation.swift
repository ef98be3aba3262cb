public import CDTJSON

/// Documents that have the same key in a unique index.
///
/// A write that would make two documents have the same key throws it, and is rolled back. `uniqueViolations()` of a
/// datastore lists those that replications have brought, and those that were there before the index.
///
/// ```swift
/// do {
///   try store.createDocument(DocumentDraft(body: ["email": "ann@example.com"]))
/// } catch let violation as UniqueViolation {
///   violation.index              // "unique_email"
///   violation.key                // ["ann@example.com"]
///   violation.documentIDs.last   // the document that has it
/// }
/// ```
///
/// See <doc:QueryingDocuments#Unique-indexes>.
public struct UniqueViolation: Error, Hashable, Sendable {
  /// The name of the index.
  public let index: String

  /// The value of each field of the index. Empty if one document has more than 1,000 keys, which are not compared.
  public let key: [JSONValue]

  /// The documents that have the key. Of a refused write, the first is the one that would get it, and the other has it, if the user
  /// sees it; in a list, all that have it, sorted.
  public let documentIDs: [String]

  /// The violation of a refused write with the name of the other document only if it is seen.
  package func naming(_ sees: (_ id: String) throws -> Bool) rethrows -> UniqueViolation {
    let others = try documentIDs.dropFirst().filter(sees)
    return UniqueViolation(index: index, key: key, documentIDs: documentIDs.prefix(1) + others)
  }
}

extension UniqueViolation: CustomStringConvertible {
  /// The message: the problem, then the remedy.
  public var description: String {
    let name = JSONValue.string(index).text
    let ids = documentIDs.map { JSONValue.string($0).text }
    if key.isEmpty {
      let text =
        "the document \(ids.first ?? "") has more than \(IndexRows.maximumCombinations) keys in the unique index \(name); "
        + "shorten its arrays"
      return text.boundedMessage
    }
    guard ids.count > 1 else {
      return
        "the document \(ids.first ?? "") has the same key \(JSONValue.array(key).text) in the unique index \(name) as another one; change it"
        .boundedMessage
    }
    let shown =
      ids.prefix(Self.maximumShown).joined(separator: ", ") + (ids.count > Self.maximumShown ? ", …" : "")
    return
      "the documents \(shown) have the same key \(JSONValue.array(key).text) in the unique index \(name); change one of them"
      .boundedMessage
  }

  private static let maximumShown = 10
}
