/// An order of strings for a query or an index, in place of the order of their bytes.
///
/// ```swift
/// let query = try Query(["name": "anna"], sort: ["name"], collation: .unicode)  // finds "Anna"
/// ```
///
/// A string is replaced by its folded form, and folded forms are compared by their bytes. Strings with the same form are equal.
public enum Collation: String, Sendable, Hashable, CaseIterable {
  /// Letters are equal regardless of case, by Unicode's simple case folding. Otherwise the order is that of the bytes.
  case nocase
  /// The order of Unicode's collation by primary weights: letters are equal regardless of case and accents, and `Å` is
  /// before `Z`.
  case unicode

  /// The number of the tables that decide: a part of the version of an index file.
  package static var tables: Int64 { CollationData.number }

  /// Appends the folded form of a string, which is UTF-8.
  ///
  /// - Complexity: O(*n*), also for many combining characters.
  package func fold(_ string: UnsafeRawBufferPointer, to bytes: inout [UInt8]) {
    switch self {
    case .nocase: CaseFolding.shared.fold(string, to: &bytes)
    case .unicode: CollationTable.shared.fold(string, to: &bytes)
    }
  }

  /// The folded form of a string.
  package func folded(_ string: String) -> String {
    var (string, bytes) = (string, [UInt8]())
    string.withUTF8 { fold(UnsafeRawBufferPointer($0), to: &bytes) }
    return String(decoding: bytes, as: UTF8.self)
  }

  /// A value with all its strings folded, also within arrays and objects. The names of members stay as they are.
  package func folded(_ value: JSONValue) -> JSONValue {
    switch value {
    case .string(let string): .string(folded(string))
    case .array(let elements): .array(elements.map(folded))
    case .object(let object): .object(JSONObject(object.map { ($0.key, folded($0.value)) }))
    default: value
    }
  }
}

extension JSONValue {
  /// Whether the value is a string, or has one among its elements or the values of its members.
  package var hasString: Bool {
    switch self {
    case .string: true
    case .array(let elements): elements.contains(where: \.hasString)
    case .object(let object): object.contains(where: \.value.hasString)
    default: false
    }
  }
}
