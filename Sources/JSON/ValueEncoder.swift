/// Where an encoded value goes. It is shared, as a type may go on with one container while it holds another.
final class EncodingSlot {
  enum Content {
    case nothing
    case value(JSONValue)
    case array([EncodingSlot])
    case object([(key: String, slot: EncodingSlot)])
  }

  var content = Content.nothing

  /// What was encoded; `nil` when that is nothing. Of a key that was encoded twice the last value stays.
  var value: JSONValue? {
    switch content {
    case .nothing: return nil
    case .value(let value): return value
    case .array(let slots): return .array(slots.map { $0.value ?? [:] })
    case .object(let slots):
      var object = JSONObject()
      for (key, slot) in slots { object[key] = slot.value ?? [:] }
      return .object(object)
    }
  }

  /// Makes a slot for an element.
  func append() -> EncodingSlot {
    let slot = EncodingSlot()
    var slots: [EncodingSlot] = []
    if case .array(let known) = content { slots = known }
    content = .nothing  // so that the slots are not copied
    slots.append(slot)
    content = .array(slots)
    return slot
  }

  /// Makes a slot for a member.
  func append(_ key: String) -> EncodingSlot {
    let slot = EncodingSlot()
    var slots: [(key: String, slot: EncodingSlot)] = []
    if case .object(let known) = content { slots = known }
    content = .nothing  // so that the slots are not copied
    slots.append((key, slot))
    content = .object(slots)
    return slot
  }

  /// How many elements there are.
  var count: Int {
    if case .array(let slots) = content { slots.count } else { 0 }
  }
}

/// Encodes into a slot.
struct ValueEncoder: Encoder {
  let slot: EncodingSlot
  let path: CodingPath?

  var codingPath: [any CodingKey] { path?.keys ?? [] }
  var userInfo: [CodingUserInfoKey: Any] { [:] }

  /// Lets a value encode itself here.
  func encode(_ value: some Encodable) throws {
    guard (path?.depth ?? 0) <= CodingPath.maximumDepth else {
      throw EncodingError.invalidValue(
        value,
        .init(
          codingPath: codingPath,
          debugDescription:
            "values are nested deeper than \(CodingPath.maximumDepth) levels; look for a cycle"))
    }
    try value.encode(to: self)
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
    ValueEncoder(slot: encoder.slot.append(key.stringValue), path: CodingPath(encoder.path, key))
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
    let path = CodingPath(encoder.path, AnyKey(intValue: count))
    return ValueEncoder(slot: encoder.slot.append(), path: path)
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

  func encode(_ value: Bool) { set(.bool(value)) }

  func encode(_ value: String) { set(.string(value)) }

  func encode(_ value: Double) throws { try encode(value, as: value) }

  /// A float keeps its own shortest text: 0.1, not the digits of the nearest double.
  func encode(_ value: Float) throws { try encode(value, as: Double(value.description) ?? Double(value)) }

  private func encode(_ value: some BinaryFloatingPoint & Encodable, as double: Double) throws {
    guard value.isFinite else {
      throw EncodingError.invalidValue(
        value,
        .init(
          codingPath: codingPath,
          debugDescription: "JSON has no \(value); encode it as null or as a string"))
    }
    set(.double(double))
  }

  func encode(_ value: Int) { set(JSONValue(value)) }
  func encode(_ value: Int8) { set(JSONValue(value)) }
  func encode(_ value: Int16) { set(JSONValue(value)) }
  func encode(_ value: Int32) { set(JSONValue(value)) }
  func encode(_ value: Int64) { set(JSONValue(value)) }
  func encode(_ value: Int128) { set(JSONValue(value)) }
  func encode(_ value: UInt) { set(JSONValue(value)) }
  func encode(_ value: UInt8) { set(JSONValue(value)) }
  func encode(_ value: UInt16) { set(JSONValue(value)) }
  func encode(_ value: UInt32) { set(JSONValue(value)) }
  func encode(_ value: UInt64) { set(JSONValue(value)) }
  func encode(_ value: UInt128) { set(JSONValue(value)) }

  func encode(_ value: some Encodable) throws { try encoder.encode(value) }
}
