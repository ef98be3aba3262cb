public import CDTPlatform

/// A type of Foundation. It is converted as `Codable` encodes it, so that a variable in a selector equals the member of a document.
package protocol FoundationValue: JSONConvertible, Codable {}

extension FoundationValue {
  /// The value as `Codable` encodes it; NaN, which stores and selectors refuse, if it has no JSON, as an infinite date.
  public var jsonValue: JSONValue { (try? JSONValue(encoding: self)) ?? .double(.nan) }

  /// Decodes the value; fails if it has another type.
  public init?(jsonValue: JSONValue) {
    guard let decoded = try? jsonValue.decode(Self.self) else { return nil }
    self = decoded
  }
}

extension Date: FoundationValue {}
extension UUID: FoundationValue {}
extension URL: FoundationValue {}
extension Decimal: FoundationValue {}
extension Data: FoundationValue {}
