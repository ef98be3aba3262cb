import CDTDatastore
import CDTJSON

/// The keys that a type reads when it is decoded.
final class SampleKeys {
  /// The keys of the members, in order.
  fileprivate(set) var names: [String] = []
  /// Whether a string is a coding key; `nil` if the type has no members.
  fileprivate(set) var accepts: ((String) -> Bool)?
  /// A type of which no sample can be made.
  fileprivate(set) var unmade: (any Any.Type)?
}

/// Makes a value of a type without a document: optionals are `nil`, arrays are empty, numbers are 0. One member can be changed.
struct SampleDecoder: Decoder {
  let keys: SampleKeys
  /// The member of the outer value that has another value.
  var changed: String?
  /// Whether all members have other values, inside the changed member.
  var isChanged = false
  var depth = 0

  var codingPath: [any CodingKey] { [] }
  var userInfo: [CodingUserInfoKey: Any] { [:] }

  func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedDecodingContainer<Key> {
    if depth == 0, keys.accepts == nil { keys.accepts = { Key(stringValue: $0) != nil } }
    return KeyedDecodingContainer(SampleMembers(decoder: self))
  }

  func unkeyedContainer() -> any UnkeyedDecodingContainer { SampleElements(decoder: self) }

  func singleValueContainer() throws -> any SingleValueDecodingContainer { throw noSample(Any.self) }

  fileprivate func inner(_ isChanged: Bool) -> SampleDecoder {
    SampleDecoder(keys: keys, isChanged: isChanged, depth: depth + 1)
  }

  fileprivate func noSample(_ type: any Any.Type) -> DecodingError {
    .valueNotFound(type, .init(codingPath: [], debugDescription: "no sample of \(type)"))
  }

  private static let (zeros, ones): ([JSONValue], [JSONValue]) = (
    [
      false, 0, "0", "2000-01-01T00:00:00.000Z", "00000000-0000-0000-0000-000000000000", "AA==", "1-a",
      [0, 0],
    ],
    [
      true, 1, "1", "2001-01-01T00:00:00.000Z", "00000000-0000-0000-0000-000000000001", "AQ==", "1-b",
      [1, 1],
    ]
  )

  /// A value of a scalar, an enumeration or a type with members.
  fileprivate func decode<T: Decodable>(_ type: T.Type) throws -> T {
    for value in isChanged ? Self.ones : Self.zeros {
      if let decoded = try? value.decode(T.self) { return decoded }
    }
    if let cases = T.self as? any CaseIterable.Type, let value = Self.value(of: cases, isChanged) as? T {
      return value
    }
    do {
      return try T(from: self)
    } catch {
      if keys.unmade == nil { keys.unmade = T.self }
      throw error
    }
  }

  private static func value<Cases: CaseIterable>(of type: Cases.Type, _ isChanged: Bool) -> Any? {
    isChanged ? Array(type.allCases).last : type.allCases.first
  }
}

private struct SampleMembers<Key: CodingKey>: KeyedDecodingContainerProtocol {
  let decoder: SampleDecoder

  var codingPath: [any CodingKey] { [] }
  /// One member for a dictionary, if it is changed.
  var allKeys: [Key] { decoder.isChanged ? [Key(stringValue: "0")].compactMap(\.self) : [] }

  func contains(_ key: Key) -> Bool { true }

  /// Optionals inside the changed member are not `nil`, except those of types that may contain themselves.
  func decodeNil(forKey key: Key) -> Bool { !member(key).isChanged || decoder.depth > 1 }

  private func member(_ key: Key) -> SampleDecoder {
    if decoder.depth == 0, !decoder.keys.names.contains(key.stringValue) {
      decoder.keys.names.append(key.stringValue)
    }
    return decoder.inner(decoder.isChanged || decoder.changed == key.stringValue)
  }

  func decode<T: Decodable>(_ type: T.Type, forKey key: Key) throws -> T { try member(key).decode(type) }

  func nestedContainer<Nested: CodingKey>(keyedBy type: Nested.Type, forKey key: Key)
    -> KeyedDecodingContainer<Nested>
  {
    member(key).container(keyedBy: type)
  }

  func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedDecodingContainer {
    member(key).unkeyedContainer()
  }

  /// A superclass has its members in the same values.
  func superDecoder() -> any Decoder { decoder }

  func superDecoder(forKey key: Key) -> any Decoder { member(key) }
}

/// One element if the array is changed, otherwise none. Deep inside there is none, as a type may contain itself.
private struct SampleElements: UnkeyedDecodingContainer {
  let decoder: SampleDecoder
  private(set) var currentIndex = 0

  init(decoder: SampleDecoder) {
    self.decoder = decoder
  }

  var codingPath: [any CodingKey] { [] }
  var count: Int? { decoder.isChanged && decoder.depth < 3 ? 1 : 0 }
  var isAtEnd: Bool { currentIndex >= count ?? 0 }

  private mutating func next() throws -> SampleDecoder {
    guard !isAtEnd else { throw decoder.noSample([Any].self) }
    currentIndex += 1
    return decoder.inner(true)
  }

  func decodeNil() -> Bool { false }

  mutating func decode<T: Decodable>(_ type: T.Type) throws -> T { try next().decode(type) }

  mutating func nestedContainer<Nested: CodingKey>(keyedBy type: Nested.Type) throws
    -> KeyedDecodingContainer<Nested>
  {
    try next().container(keyedBy: type)
  }

  mutating func nestedUnkeyedContainer() throws -> any UnkeyedDecodingContainer {
    try next().unkeyedContainer()
  }

  mutating func superDecoder() throws -> any Decoder { try next() }
}
