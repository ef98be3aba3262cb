import CDTJSON
public import CDTPlatform

/// The type of the ids of a ``DocumentModel``: `String`, an integer, `UUID`, or your own.
///
/// ```swift
/// struct ISBN: RawRepresentable, DocumentKey { let rawValue: String }
/// struct Book: DocumentModel {
///   var id: ISBN
///   var revision: RevisionID?
///   var title: String
/// }
/// let book = try store.save(Book(id: ISBN(rawValue: "978-3"), title: "Soups"))
/// ```
///
/// A type that is `RawRepresentable` by such a type, or `LosslessStringConvertible`, only states the conformance. Another type says which
/// text it is:
///
/// ```swift
/// struct Week: DocumentKey {
///   var year: Int, number: Int
///   var documentID: String { "\(year)-\(number)" }
///   static func key(documentID: String) -> Week? {
///     let parts = documentID.split(separator: "-").compactMap { Int($0) }
///     return parts.count == 2 ? Week(year: parts[0], number: parts[1]) : nil
///   }
/// }
/// ```
public protocol DocumentKey: Hashable, Codable, Sendable {
  /// The key with this document id; `nil` if the id is not the text of a key.
  ///
  /// An initializer of `Int` and `String` with this argument would make `compactMap(Int.init)` ambiguous.
  static func key(documentID: String) -> Self?

  /// The id of the document. Different keys have different ids.
  var documentID: String { get }
}

extension DocumentKey where Self: RawRepresentable, RawValue: DocumentKey {
  /// The key whose raw value has this document id.
  public static func key(documentID: String) -> Self? {
    RawValue.key(documentID: documentID).flatMap(Self.init(rawValue:))
  }

  /// The document id of the raw value.
  public var documentID: String { rawValue.documentID }
}

extension DocumentKey where Self: LosslessStringConvertible {
  /// The key with this description.
  public static func key(documentID: String) -> Self? { Self(documentID) }

  /// The description.
  public var documentID: String { description }
}

extension DocumentKey {
  /// The key of a document id exactly as the key writes it: `007` is not the id of an integer.
  package static func key(exactly documentID: String) -> Self? {
    key(documentID: documentID).flatMap { $0.documentID.hasSameBytes(as: documentID) ? $0 : nil }
  }
}

extension String: DocumentKey {}
extension Int: DocumentKey {}
extension Int32: DocumentKey {}
extension Int64: DocumentKey {}
extension UInt: DocumentKey {}
extension UInt32: DocumentKey {}
extension UInt64: DocumentKey {}

extension UUID: DocumentKey {
  /// The UUID with this text.
  public static func key(documentID: String) -> UUID? { UUID(uuidString: documentID) }

  /// The text of the UUID, with capital letters.
  public var documentID: String { uuidString }
}
