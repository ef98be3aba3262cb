public import CDTDatastore
public import CDTJSON
public import Foundation

extension JSONObject {
  /// Converts a dictionary of Foundation.
  ///
  /// ```swift
  /// let old: NSMutableDictionary = ["name": "Rex", "age": 3]
  /// let body = try JSONObject(old)
  /// ```
  ///
  /// The members are sorted by name.
  ///
  /// - Throws: `DatastoreError` with the code `.invalidBody` for a value that JSON can't represent, such as a `Date`.
  @_disfavoredOverload
  public init(_ dictionary: NSDictionary) throws(DatastoreError) {
    self = try Self.converted(dictionary, was: nil, path: [])
  }

  /// Converts a dictionary whose values have any type.
  ///
  /// - Throws: `DatastoreError` with the code `.invalidBody` for a value that JSON can't represent, such as a `Date`.
  @_disfavoredOverload
  public init(_ dictionary: [String: Any]) throws(DatastoreError) {
    self = try Self.converted(NSDictionary(dictionary: dictionary), was: nil, path: [])
  }

  /// The object as a dictionary of Foundation, with `Bool`, `Int64`, `Double`, `String`, arrays, dictionaries and `NSNull`.
  func foundation() -> NSMutableDictionary {
    let dictionary = NSMutableDictionary()
    for (key, value) in self { dictionary[key] = value.foundation }
    return dictionary
  }

  /// - Parameter was: The object that the dictionary was made from: members that have not changed keep their order and spelling.
  static func converted(
    _ dictionary: NSDictionary, was: JSONObject?, path: [String]
  ) throws(DatastoreError) -> JSONObject {
    guard path.count <= JSONParsingOptions().maximumDepth else {
      throw DatastoreError(
        .invalidBody,
        "the body is nested deeper than \(JSONParsingOptions().maximumDepth) levels; store it in several documents"
      )
    }
    var values: [String: JSONValue] = [:]
    for (key, value) in dictionary {
      guard let key = key as? String else {
        throw .notJSON(key, at: path, "is a key of a dictionary; use strings as keys")
      }
      values[key] = try JSONValue.converted(value, was: was?[key], path: path + [key])
    }
    let known = (was?.keys ?? []).filter { values[$0] != nil }
    let new = values.keys.filter { was?[$0] == nil }.sorted()
    return JSONObject((known + new).compactMap { key in values[key].map { (key, $0) } })
  }
}

extension JSONValue {
  fileprivate var foundation: Any {
    switch self {
    case .null: NSNull()
    case .bool(let bool): bool
    case .int(let int): int
    case .double(let double): double
    case .spelled(let number): number.doubleValue
    case .string(let string): string
    case .array(let elements): elements.map(\.foundation)
    case .object(let object): Dictionary(object.map { ($0.key, $0.value.foundation) }) { $1 }
    }
  }

  fileprivate static func converted(
    _ value: Any, was: JSONValue?, path: [String]
  ) throws(DatastoreError) -> JSONValue {
    if let dictionary = value as? NSDictionary
      ?? (value as? [String: Any]).map({ NSDictionary(dictionary: $0) })
    {
      return .object(try JSONObject.converted(dictionary, was: was?.objectValue, path: path))
    }
    // Arrays of JSON values too, as their elements may be dictionaries.
    if let array = value as? [Any] {
      let old = was?.arrayValue ?? []
      var elements: [JSONValue] = []
      for (position, element) in array.enumerated() {
        let was = position < old.count ? old[position] : nil
        elements.append(try converted(element, was: was, path: path + ["\(position)"]))
      }
      return .array(elements)
    }
    guard let now = scalar(value) else {
      throw .notJSON(value, at: path, "can't be represented in JSON; store it as a string or a number")
    }
    // A number that was not changed keeps its spelling; one with digits of its own is new.
    if case .spelled = now { return now }
    return was == now ? was ?? now : now
  }

  private static func scalar(_ value: Any) -> JSONValue? {
    switch value {
    case is Date, is Data, is UUID, is URL: nil
    case let value as any JSONConvertible: value.jsonValue
    case let string as String: .string(string)
    case let number as NSNumber: JSONValue(number)
    case is NSNull: .null
    default: nil
    }
  }

  private init(_ number: NSNumber) {
    // An NSNumber of a boolean has a class of its own.
    if type(of: number) == type(of: NSNumber(value: true)) {
      self = .bool(number.boolValue)
      return
    }
    switch String(cString: number.objCType) {
    case "d": self = .double(number.doubleValue)
    case "f": self = number.floatValue.jsonValue
    case "Q": self = number.uint64Value.jsonValue
    default: self = .int(number.int64Value)
    }
  }
}

extension DatastoreError {
  fileprivate static func notJSON(_ value: Any, at path: [String], _ remedy: String) -> DatastoreError {
    let place = path.isEmpty ? "" : " at \(path.joined(separator: "."))"
    return DatastoreError(.invalidBody, "a \(type(of: value))\(place) \(remedy)")
  }
}
