/// Decodes from a value.
struct ValueDecoder: Decoder {
  let value: JSONValue
  let path: CodingPath?
  let options: JSONCodingOptions
  /// The type that is decoded here.
  var type: (any Any.Type)?

  var codingPath: [any CodingKey] { path?.keys ?? [] }
  var userInfo: [CodingUserInfoKey: Any] { [:] }

  func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
    KeyedDecodingContainer(KeyedValueDecoder(object: try object(), decoder: self))
  }

  func unkeyedContainer() throws -> any UnkeyedDecodingContainer {
    guard case .array(let elements) = value else { throw mismatch([JSONValue].self, "an array") }
    return UnkeyedValueDecoder(elements: elements, decoder: self)
  }

  func singleValueContainer() -> any SingleValueDecodingContainer { SingleValueDecoder(decoder: self) }

  func object() throws -> JSONObject {
    guard case .object(let object) = value else { throw mismatch(JSONObject.self, "an object") }
    return object
  }

  /// Decodes a type from here, by the options or by its own implementation.
  func decode<T: Decodable>(_ type: T.Type) throws -> T {
    if let value = try decodeFoundation(type) { return value }
    var decoder = self
    decoder.type = type
    return try T(from: decoder)
  }

  /// The decoder of a member or an element.
  func inner(_ value: JSONValue, _ path: CodingPath) -> ValueDecoder {
    ValueDecoder(value: value, path: path, options: options)
  }

  func mismatch(_ type: any Any.Type, _ wanted: String) -> DecodingError {
    let context = context("expected \(wanted), found \(value.typeDescription)")
    return value == .null ? .valueNotFound(type, context) : .typeMismatch(type, context)
  }

  func corrupted(_ description: String) -> DecodingError {
    .dataCorrupted(context(description))
  }

  func context(_ description: String) -> DecodingError.Context {
    DecodingError.Context(codingPath: codingPath, debugDescription: description)
  }
}

extension JSONValue {
  fileprivate var isNumber: Bool { doubleValue != nil }

  /// The value's type for a message.
  fileprivate var typeDescription: String {
    switch self {
    case .null: "null"
    case .bool: "a boolean"
    case .int, .double, .spelled: "a number"
    case .string: "a string"
    case .array: "an array"
    case .object: "an object"
    }
  }
}

/// Decodes the members of an object.
struct KeyedValueDecoder<Key: CodingKey>: KeyedDecodingContainerProtocol {
  let object: JSONObject
  let decoder: ValueDecoder

  var codingPath: [any CodingKey] { decoder.codingPath }
  var allKeys: [Key] { object.keys.compactMap(Key.init(stringValue:)) }

  private func member(_ key: some CodingKey) throws -> ValueDecoder {
    guard let value = try object[key.stringValue] ?? defaultMember(key.stringValue) else {
      throw DecodingError.keyNotFound(key, decoder.context("there is no member \"\(key.stringValue)\""))
    }
    return decoder.inner(value, CodingPath(decoder.path, key))
  }

  private func defaultMember(_ name: String) throws -> JSONValue? {
    // The cast takes time, and most members are there.
    try (decoder.type as? any HasDefaults.Type)?.defaultMember(name, options: decoder.options)
  }

  func contains(_ key: Key) -> Bool { object[key.stringValue] != nil }

  func decodeNil(forKey key: Key) throws -> Bool { try member(key).value.isNull }

  func decode<T: Decodable>(_ type: T.Type, forKey key: Key) throws -> T { try member(key).decode(type) }

  func nestedContainer<Nested: CodingKey>(
    keyedBy type: Nested.Type, forKey key: Key
  ) throws -> KeyedDecodingContainer<Nested> {
    try member(key).container(keyedBy: type)
  }

  func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer {
    try member(key).unkeyedContainer()
  }

  func superDecoder() throws -> any Decoder { try member(AnyKey.superclass) }

  func superDecoder(forKey key: Key) throws -> any Decoder { try member(key) }
}

/// Decodes the elements of an array.
struct UnkeyedValueDecoder: UnkeyedDecodingContainer {
  let elements: [JSONValue]
  let decoder: ValueDecoder
  private(set) var currentIndex = 0

  init(elements: [JSONValue], decoder: ValueDecoder) {
    self.elements = elements
    self.decoder = decoder
  }

  var codingPath: [any CodingKey] { decoder.codingPath }
  var count: Int? { elements.count }
  var isAtEnd: Bool { currentIndex >= elements.count }

  /// The next element.
  private func next(_ type: any Any.Type) throws -> ValueDecoder {
    let path = CodingPath(decoder.path, AnyKey(intValue: currentIndex))
    guard !isAtEnd else {
      throw DecodingError.valueNotFound(
        type,
        .init(codingPath: path.keys, debugDescription: "the array has only \(elements.count) elements"))
    }
    return decoder.inner(elements[currentIndex], path)
  }

  /// Decodes the next element, and advances only if that succeeds.
  private mutating func take<R>(_ type: any Any.Type, _ decode: (ValueDecoder) throws -> R) throws -> R {
    let result = try decode(next(type))
    currentIndex += 1
    return result
  }

  mutating func decodeNil() throws -> Bool {
    guard try next(JSONValue.self).value.isNull else { return false }
    currentIndex += 1
    return true
  }

  mutating func decode<T: Decodable>(_ type: T.Type) throws -> T { try take(type) { try $0.decode(type) } }

  mutating func nestedContainer<Nested: CodingKey>(
    keyedBy type: Nested.Type
  ) throws -> KeyedDecodingContainer<Nested> {
    try take(KeyedDecodingContainer<Nested>.self) { try $0.container(keyedBy: type) }
  }

  mutating func nestedUnkeyedContainer() throws -> any UnkeyedDecodingContainer {
    try take((any UnkeyedDecodingContainer).self) { try $0.unkeyedContainer() }
  }

  mutating func superDecoder() throws -> any Decoder { try take((any Decoder).self) { $0 } }
}

/// Decodes a value that is neither object nor array.
struct SingleValueDecoder: SingleValueDecodingContainer {
  let decoder: ValueDecoder

  var codingPath: [any CodingKey] { decoder.codingPath }

  func decodeNil() -> Bool { decoder.value.isNull }

  func decode(_ type: Bool.Type) throws -> Bool { try scalar(type, "a boolean", decoder.value.boolValue) }
  func decode(_ type: String.Type) throws -> String {
    try scalar(type, "a string", decoder.value.stringValue)
  }
  func decode(_ type: Double.Type) throws -> Double { try number(type) }
  func decode(_ type: Float.Type) throws -> Float { try number(type) }
  // The standard library has implementations for these, which would be preferred.
  func decode(_ type: Int128.Type) throws -> Int128 { try number(type) }
  func decode(_ type: UInt128.Type) throws -> UInt128 { try number(type) }
  func decode<T: FixedWidthInteger & Decodable & JSONConvertible>(_ type: T.Type) throws -> T {
    try number(type)
  }

  private func scalar<T>(_ type: T.Type, _ wanted: String, _ value: T?) throws -> T {
    guard let value else { throw decoder.mismatch(type, wanted) }
    return value
  }

  /// Integers are converted exactly or not at all.
  private func number<T: JSONConvertible>(_ type: T.Type) throws -> T {
    if let number = T(jsonValue: decoder.value) { return number }
    guard decoder.value.isNumber else { throw decoder.mismatch(type, "a number") }
    throw decoder.corrupted("the number \(decoder.value) does not fit in \(type)")
  }

  func decode<T: Decodable>(_ type: T.Type) throws -> T { try decoder.decode(type) }
}
