/// The id of another document, with the type of its model.
///
/// ```swift
/// struct Person: DocumentModel {
///   var id = UUID()
///   var revision: RevisionID?
///   var name: String
/// }
/// struct Tool: DocumentModel {
///   var id = UUID()
///   var revision: RevisionID?
///   var name: String
///   var owner: Reference<Person>?
/// }
/// let anna = try store.save(Person(name: "Anna"))
/// try store.save(Tool(name: "Saw", owner: Reference(anna)))
/// let tools = try store.find(Tool.self) { $0.owner == Reference(anna) }
/// ```
///
/// It is stored as the text of the id. The document need not exist. See `docs/models.md`, Relations.
@dynamicMemberLookup
public struct Reference<Model: DocumentModel>: Hashable, Sendable {
  /// The id of the document.
  public let id: Model.ID

  /// The reference to a document by its id.
  public init(id: Model.ID) {
    self.id = id
  }

  /// The reference to the document of a model.
  public init(_ model: Model) {
    id = model.id
  }

  /// Does not compile: the message names the remedy.
  @available(
    *, unavailable, message: "a reference has only an id: read the model by it, or include the model"
  )
  public subscript<Member>(dynamicMember _: KeyPath<Model, Member>) -> Never? { nil }
}

extension Reference: Codable {
  /// Decodes the text of the id.
  public init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    let text = try container.decode(String.self)
    guard let id = Model.ID.key(exactly: text) else {
      throw DecodingError.dataCorruptedError(
        in: container,
        debugDescription:
          "\"\(text)\" is not the id of a \(Model.self), which is of the type \(Model.ID.self)")
    }
    self.id = id
  }

  /// Encodes the text of the id.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(id.documentID)
  }
}

/// A reference to any model.
package protocol AnyReference {}
extension Reference: AnyReference {}
