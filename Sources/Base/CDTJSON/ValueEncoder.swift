/// Encodes into a slot.
struct ValueEncoder: Encoder {
  let slot: EncodingSlot
  let path: CodingPath?
  let options: JSONCodingOptions
  let check: Check?

  /// Called with the type of each inner value.
  typealias Check = (_ type: any Any.Type, _ path: () -> [any CodingKey]) throws -> Void

  var codingPath: [any CodingKey] { path?.keys ?? [] }
  var userInfo: [CodingUserInfoKey: Any] { [:] }

  /// Encodes a value here, by the options or by its own implementation.
  func encode(_ value: some Encodable) throws {
    guard (path?.depth ?? 0) <= CodingPath.maximumDepth else {
      throw invalid(
        value, "values are nested deeper than \(CodingPath.maximumDepth) levels; look for a cycle")
    }
    if let check, path != nil { try check(type(of: value)) { codingPath } }
    if try !encodeFoundation(value) { try value.encode(to: self) }
  }

  func invalid(_ value: Any, _ description: String) -> EncodingError {
    .invalidValue(value, .init(codingPath: codingPath, debugDescription: description))
  }

  /// The encoder of a member or an element.
  func inner(_ slot: EncodingSlot, _ key: some CodingKey) -> ValueEncoder {
    ValueEncoder(slot: slot, path: CodingPath(path, key), options: options, check: check)
  }

  func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
    if case .object = slot.content {} else { slot.content = .object([]) }
    return KeyedEncodingContainer(KeyedValueEncoder(encoder: self))
  }

  func unkeyedContainer() -> any UnkeyedEncodingContainer {
    if case .array = slot.content {} else { slot.content = .array([]) }
    return UnkeyedValueEncoder(encoder: self)
  }

  func singleValueContainer() -> any SingleValueEncodingContainer { SingleValueEncoder(encoder: self) }
}

/// Encodes members into an object.
struct KeyedValueEncoder<Key: CodingKey>: KeyedEncodingContainerProtocol {
  let encoder: ValueEncoder

  var codingPath: [any CodingKey] { encoder.codingPath }

  private func member(_ key: some CodingKey) -> ValueEncoder {
    encoder.inner(encoder.slot.append(key.stringValue), key)
  }

  func encodeNil(forKey key: Key) { member(key).slot.content = .value(.null) }

  func encode(_ value: some Encodable, forKey key: Key) throws { try member(key).encode(value) }

  func nestedContainer<Nested: CodingKey>(
    keyedBy type: Nested.Type, forKey key: Key
  ) -> KeyedEncodingContainer<Nested> {
    member(key).container(keyedBy: type)
  }

  func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer {
    member(key).unkeyedContainer()
  }

  func superEncoder() -> any Encoder { member(AnyKey.superclass) }

  func superEncoder(forKey key: Key) -> any Encoder { member(key) }
}

/// Encodes elements into an array.
struct UnkeyedValueEncoder: UnkeyedEncodingContainer {
  let encoder: ValueEncoder

  var codingPath: [any CodingKey] { encoder.codingPath }
  var count: Int { encoder.slot.count }

  private func element() -> ValueEncoder {
    let key = AnyKey(intValue: count)
    return encoder.inner(encoder.slot.append(), key)
  }

  func encodeNil() { element().slot.content = .value(.null) }

  func encode(_ value: some Encodable) throws { try element().encode(value) }

  func nestedContainer<Nested: CodingKey>(keyedBy type: Nested.Type) -> KeyedEncodingContainer<Nested> {
    element().container(keyedBy: type)
  }

  func nestedUnkeyedContainer() -> any UnkeyedEncodingContainer { element().unkeyedContainer() }

  func superEncoder() -> any Encoder { element() }
}

/// Encodes a value that is neither object nor array.
struct SingleValueEncoder: SingleValueEncodingContainer {
  let encoder: ValueEncoder

  var codingPath: [any CodingKey] { encoder.codingPath }

  private func set(_ value: JSONValue) { encoder.slot.content = .value(value) }

  func encodeNil() { set(.null) }

  func encode(_ value: Bool) { set(value.jsonValue) }

  func encode(_ value: String) { set(value.jsonValue) }

  func encode(_ value: Double) throws { try encode(finite: value) }

  func encode(_ value: Float) throws { try encode(finite: value) }

  private func encode(finite value: some BinaryFloatingPoint & Encodable & JSONConvertible) throws {
    guard value.isFinite else {
      throw encoder.invalid(value, "JSON has no \(value); encode it as null or as a string")
    }
    set(value.jsonValue)
  }

  // The standard library has implementations for these, which would be preferred.
  func encode(_ value: Int128) { set(value.jsonValue) }
  func encode(_ value: UInt128) { set(value.jsonValue) }
  func encode(_ value: some FixedWidthInteger & Encodable & JSONConvertible) { set(value.jsonValue) }

  func encode(_ value: some Encodable) throws { try encoder.encode(value) }
}
