package import CDTDatastore
package import CDTJSON
import CDTPlatform

/// The documents that the results of a query link under one name, or what is decoded from them, by their ids.
///
/// Ids are compared by their bytes. The order is that in which the results name them.
///
/// See <doc:QueryingDocuments#Linked-documents>.
public struct Linked<Value: Sendable>: Sendable, Sequence {
  /// The ids of the documents under every name.
  fileprivate var ids: [String] = []
  fileprivate var positions: [KeyBytes: Int] = [:]
  /// For each id the document; `nil` if there is none, or it is under another name only.
  fileprivate var values: [Value?] = []

  private var elements: [(id: String, value: Value)] {
    zip(ids, values).compactMap { id, value in value.map { (id, $0) } }
  }

  /// The number of documents.
  public var count: Int { values.count { $0 != nil } }

  /// The document with an id; `nil` if no result links it, or it does not exist.
  public subscript(id: String) -> Value? { positions[KeyBytes(id)].flatMap { values[$0] } }

  /// Iterates over the ids and the documents.
  public func makeIterator() -> IndexingIterator<[(id: String, value: Value)]> { elements.makeIterator() }

  /// The documents decoded, without those for which there is no value.
  func mapped<Other>(_ transform: (Value) throws -> Other?) rethrows -> Linked<Other> {
    try Linked<Other>(ids: ids, positions: positions, values: values.map { try $0.flatMap(transform) })
  }
}

/// The documents that a query includes, under each of its names.
package typealias IncludedDocuments = [String: Linked<DocumentRevision>]

extension IncludedDocuments {
  /// - Parameter found: The linked documents that exist, in any order.
  package init(_ links: LinkedIDs, _ found: [DocumentRevision]) {
    self.init()
    var all = [DocumentRevision?](repeating: nil, count: links.ids.count)
    for document in found {
      if let position = links.positions[KeyBytes(document.id)] { all[position] = document }
    }
    for (number, name) in links.names.enumerated() {
      let values = all.enumerated().map { links.has($0, include: number) ? $1 : nil }
      self[name] = Linked(ids: links.ids, positions: links.positions, values: values)
    }
  }

  /// Whether both have the same revisions.
  func isSame(as other: IncludedDocuments) -> Bool {
    count == other.count
      && allSatisfy { other[$0.key]?.elementsEqual($0.value) { $0.value == $1.value } ?? false }
  }

  /// `{"owner": {"ann": {"_id": "ann", …}}}`, as `_find` returns it.
  ///
  /// - Parameter shown: The JSON of a document.
  package func json(_ shown: (DocumentRevision) -> JSONObject = { $0.json }) -> JSONObject {
    JSONObject(
      sorted { $0.key.precedesInBytes($1.key) }.map { name, documents in
        (name, .object(JSONObject(documents.map { ($0.id, .object(shown($0.value))) })))
      })
  }
}
