extension JSONValue {
  /// Encodes a value of any `Encodable` type.
  ///
  /// ```swift
  /// struct Task: Codable { var description: String, completed: Bool }
  /// try JSONValue(encoding: Task(description: "Buy milk", completed: false)).text
  /// // {"description":"Buy milk","completed":false}
  /// ```
  ///
  /// Integers keep every digit. Members are in the order in which the type encodes them; a `Dictionary` has none of its
  /// own. Types of Foundation are encoded as they do it themselves: a `Date` as seconds since 2001.
  ///
  /// - Throws: `EncodingError` with the path of a value that JSON can't hold, such as an infinity, or that is nested
  ///   deeper than 512 levels, as a cycle is; what the type itself throws passes through.
  public init(encoding value: some Encodable) throws {
    let slot = EncodingSlot()
    try ValueEncoder(slot: slot, path: nil).encode(value)
    guard let encoded = slot.value else {
      throw EncodingError.invalidValue(
        value,
        .init(
          codingPath: [], debugDescription: "the value encodes nothing; encode a container, even an empty one"
        ))
    }
    self = encoded
  }

  /// Decodes a value of any `Decodable` type.
  ///
  /// ```swift
  /// let task = try body.decode(Task.self)
  /// ```
  ///
  /// A number is taken as an integer when it is whole and fits, whether written as `5` or `5.0`.
  ///
  /// - Throws: `DecodingError` with the path of what is missing or of another type; what the type itself throws passes
  ///   through.
  public func decode<T: Decodable>(_ type: T.Type = T.self) throws -> T {
    try T(from: ValueDecoder(value: self, path: nil))
  }
}

extension JSONObject {
  /// Encodes a value of a type that encodes itself with keys.
  ///
  /// - Throws: `EncodingError`, also for a value that is encoded as anything but an object.
  public init(encoding value: some Encodable) throws {
    guard case .object(let object) = try JSONValue(encoding: value) else {
      throw EncodingError.invalidValue(
        value, .init(codingPath: [], debugDescription: "the value is not encoded as an object; give it keys"))
    }
    self = object
  }

  /// Decodes a value of any `Decodable` type; see ``JSONValue/decode(_:)``.
  public func decode<T: Decodable>(_ type: T.Type = T.self) throws -> T {
    try JSONValue.object(self).decode(type)
  }
}

extension JSONValue: Codable {
  /// Takes whatever value there is.
  public init(from decoder: any Decoder) throws {
    if let decoder = decoder as? ValueDecoder {
      self = decoder.value
    } else if let container = try? decoder.container(keyedBy: AnyKey.self) {
      self = .object(try JSONObject(container))
    } else if var container = try? decoder.unkeyedContainer() {
      var elements: [JSONValue] = []
      while !container.isAtEnd { elements.append(try container.decode(JSONValue.self)) }
      self = .array(elements)
    } else {
      self = try JSONValue(decoder.singleValueContainer())
    }
  }

  private init(_ container: any SingleValueDecodingContainer) throws {
    if container.decodeNil() {
      self = .null
    } else if let bool = try? container.decode(Bool.self) {
      self = .bool(bool)
    } else if let int = try? container.decode(Int64.self) {
      self = .int(int)
    } else if let big = try? container.decode(UInt64.self) {
      self = JSONValue(big)
    } else if let double = try? container.decode(Double.self) {
      self = .double(double)
    } else {
      self = .string(try container.decode(String.self))
    }
  }

  /// Encodes the value as what it is; with a foreign encoder whole numbers beyond 64 bits become doubles.
  public func encode(to encoder: any Encoder) throws {
    if let encoder = encoder as? ValueEncoder { return encoder.slot.content = .value(self) }
    switch self {
    case .object(let object): return try object.encode(to: encoder)
    case .array(let elements):
      var container = encoder.unkeyedContainer()
      for element in elements { try container.encode(element) }
      return
    default: break
    }
    var container = encoder.singleValueContainer()
    switch self {
    case .null, .array, .object: try container.encodeNil()
    case .bool(let bool): try container.encode(bool)
    case .int(let int): try container.encode(int)
    case .double(let double): try container.encode(double)
    case .string(let string): try container.encode(string)
    case .bigInteger(let big):
      if let unsigned = UInt64(big.text) {
        try container.encode(unsigned)
      } else {
        try container.encode(big.doubleValue)
      }
    }
  }

  /// An integer of any width; beyond 64 bits it keeps its digits.
  init(_ integer: some BinaryInteger) {
    self =
      Int64(exactly: integer).map(JSONValue.int)
      ?? .bigInteger(JSONBigInteger(text: String(integer), doubleValue: Double(integer)))
  }
}

extension JSONObject: Codable {
  /// Takes the members of an object.
  public init(from decoder: any Decoder) throws {
    if let decoder = decoder as? ValueDecoder {
      self = try decoder.object()
    } else {
      try self.init(decoder.container(keyedBy: AnyKey.self))
    }
  }

  fileprivate init(_ container: KeyedDecodingContainer<AnyKey>) throws {
    self.init()
    for key in container.allKeys { self[key.stringValue] = try container.decode(JSONValue.self, forKey: key) }
  }

  /// Encodes the members in their order.
  public func encode(to encoder: any Encoder) throws {
    if let encoder = encoder as? ValueEncoder { return encoder.slot.content = .value(.object(self)) }
    var container = encoder.container(keyedBy: AnyKey.self)
    for (key, value) in self { try container.encode(value, forKey: AnyKey(stringValue: key)) }
  }
}
