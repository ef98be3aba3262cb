/// A type with values for members that its JSON may lack, such as those of properties that were added later.
///
/// ```swift
/// struct Recipe: Codable, HasDefaults {
///   var title: String
///   var isFavorite = false
///   static let defaults = Recipe(title: "")
/// }
/// let old = try JSONValue(parsing: #"{"title":"Soup"}"#).decode(Recipe.self)  // old.isFavorite is false
/// ```
///
/// If a member is missing, the member of the encoded `defaults` with the same name is decoded instead. The Swift compiler's
/// `init(from:)` can't do that: it does not use the value of a `var` declaration. A member that is present is always decoded, and an
/// optional property whose member is missing is `nil`.
///
/// A value of the type stands in for every property. To have defaults for some members only, use an object, such as
/// `static let defaults: JSONObject = ["isFavorite": false]`.
public protocol HasDefaults: Decodable {
  /// A type that is encoded as an object, most often the type itself.
  associatedtype Defaults: Encodable

  /// The value whose encoded members are used where a member is missing.
  static var defaults: Defaults { get }
}

extension HasDefaults {
  /// The encoded default of a member; `nil` if there is none.
  package static func defaultMember(_ name: String, options: JSONCodingOptions = .init()) throws -> JSONValue?
  {
    try JSONObject(encoding: defaults, options: options)[name]
  }
}
