public import CDTDatastore
package import CDTJSON
import CDTPlatform

/// The documents that the results of a query link under one name, or what is decoded from them, by their ids.
///
/// Ids are compared by their bytes. The order is that in which the results name them under this name.
///
/// See <doc:QueryingDocuments#Linked-documents>.
public struct Linked<Value: Sendable>: Sendable, Sequence {
  private let elements: [(id: String, value: Value)]
  private let positions: [KeyBytes: Int]

  /// - Parameter elements: The documents that exist, each once.
  init(_ elements: [(id: String, value: Value)] = []) {
    self.elements = elements
    positions = Dictionary(uniqueKeysWithValues: elements.enumerated().map { (KeyBytes($1.id), $0) })
  }

  /// The number of documents.
  public var count: Int { elements.count }

  /// The document with an id; `nil` if no result links it, or it does not exist.
  public subscript(id: String) -> Value? { positions[KeyBytes(id)].map { elements[$0].value } }

  /// Iterates over the ids and the documents.
  public func makeIterator() -> IndexingIterator<[(id: String, value: Value)]> { elements.makeIterator() }

  /// The documents decoded, without those for which there is no value.
  func mapped<Other>(_ transform: (Value) throws -> Other?) rethrows -> Linked<Other> {
    var others: [(id: String, value: Other)] = []
    for (id, value) in elements {
      if let other = try transform(value) { others.append((id, other)) }
    }
    return Linked<Other>(others)
  }
}

extension Linked where Value: DocumentModel {
  /// The model with an id; `nil` if there is no id, no result links it, or it does not exist.
  ///
  /// ```swift
  /// let query = try ModelQuery(Tool.self, where: { $0.owner != nil }).including(\.owner)
  /// let (tools, people) = try store.read { try $0.find(query) }
  /// for tool in tools { print(people[tool.owner]?.name ?? people[anna.id]?.name ?? "nobody") }
  /// ```
  @_disfavoredOverload
  public subscript(id: Value.ID?) -> Value? { id.flatMap { self[$0.documentID] } }

  /// The model to which a reference refers; `nil` if there is no reference, or the model does not exist.
  public subscript(reference: Reference<Value>?) -> Value? { self[reference?.id] }
}

/// The documents that a query includes, under each of its names.
package typealias IncludedDocuments = [String: Linked<DocumentRevision>]

extension IncludedDocuments {
  /// - Parameter found: The linked documents that exist, in any order.
  package init(_ links: LinkedIDs, _ found: [DocumentRevision]) {
    self.init()
    let all = [KeyBytes: DocumentRevision](found.map { (KeyBytes($0.id), $0) }) { first, _ in first }
    for (number, name) in links.names.enumerated() {
      self[name] = Linked(
        links.ids(ofInclude: number).compactMap { id in all[KeyBytes(id)].map { (id, $0) } })
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
