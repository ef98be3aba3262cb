extension JSONValue {
  /// Creates a value by encoding any `Encodable` type.
  ///
  /// ```swift
  /// struct Todo: Codable { var description: String, completed: Bool }
  /// try JSONValue(encoding: Todo(description: "Buy milk", completed: false)).text
  /// // {"description":"Buy milk","completed":false}
  /// ```
  ///
  /// Integers keep every digit. Members are in the order in which the type encodes them; the order of a `Dictionary`
  /// is unspecified. Foundation types are encoded as follows, at any depth:
  ///
  /// | Type | Encoded as |
  /// |---|---|
  /// | `Date` | an ISO 8601 string, unless ``JSONCodingOptions/dates`` says otherwise |
  /// | `Data` | a Base64 string, unless ``JSONCodingOptions/data`` says otherwise |
  /// | `URL`, `UUID` | a string |
  /// | `Decimal` | a number; refused if it does not keep every digit |
  ///
  /// Numbers are compared and summed as 64-bit integers and doubles. A `Decimal` that neither keeps with every digit, such as
  /// 0.12345678901234567890, is refused. A double keeps up to 15 digits.
  ///
  /// - Throws: `EncodingError` with the path of a value that JSON can't represent, such as infinity, or that is nested
  ///   deeper than 512 levels, such as a cycle; errors of the type's own encoding.
  public init(encoding value: some Encodable, options: JSONCodingOptions = .init()) throws {
    try self.init(encoding: value, options: options, checking: nil)
  }

  fileprivate init(
    encoding value: some Encodable, options: JSONCodingOptions, checking check: ValueEncoder.Check?
  ) throws {
    let slot = EncodingSlot()
    try ValueEncoder(slot: slot, path: nil, options: options, check: check).encode(value)
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
  /// let todo = try body.decode(Todo.self)
  /// ```
  ///
  /// A number is decoded as an integer if it is integral and in range, whether written as `5` or `5.0`. A `Decimal` is
  /// decoded from a number or a string.
  ///
  /// - Throws: `DecodingError` with the path of a missing or mistyped value; errors of the type's own decoding.
  public func decode<T: Decodable>(
    _ type: T.Type = T.self, options: JSONCodingOptions = .init()
  ) throws -> T {
    try ValueDecoder(value: self, path: nil, options: options).decode(type)
  }
}

extension JSONObject {
  /// Creates an object by encoding a type with keys; see ``JSONValue/init(encoding:options:)``.
  ///
  /// ```swift
  /// let body = try JSONObject(encoding: task)
  /// ```
  ///
  /// - Throws: `EncodingError`, also if the value is not encoded as an object.
  public init(encoding value: some Encodable, options: JSONCodingOptions = .init()) throws {
    try self.init(encoding: value, options: options, checking: nil)
  }

  /// Creates an object by encoding a type with keys, and calls `check` with the type and the path of each inner value.
  package init(
    encoding value: some Encodable, options: JSONCodingOptions = .init(),
    checking check: ((_ type: any Any.Type, _ path: () -> [any CodingKey]) throws -> Void)?
  ) throws {
    guard case .object(let object) = try JSONValue(encoding: value, options: options, checking: check) else {
      throw EncodingError.invalidValue(
        value, .init(codingPath: [], debugDescription: "the value is not encoded as an object; give it keys"))
    }
    self = object
  }

  /// Decodes a value of any `Decodable` type; see ``JSONValue/decode(_:options:)``.
  ///
  /// ```swift
  /// let todo = try body.decode(Todo.self)
  /// ```
  public func decode<T: Decodable>(
    _ type: T.Type = T.self, options: JSONCodingOptions = .init()
  ) throws -> T {
    try JSONValue.object(self).decode(type, options: options)
  }
}

extension JSONValue: Codable {
  /// Decodes any value.
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
      self = big.jsonValue
    } else if let double = try? container.decode(Double.self) {
      self = .double(double)
    } else {
      self = .string(try container.decode(String.self))
    }
  }

  /// Encodes the value. Encoders of other libraries can't keep the spelling of a number: they get a 64-bit integer, an
  /// unsigned one or a double.
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
    case .spelled(let number):
      if let unsigned = UInt64(number.text) {
        try container.encode(unsigned)
      } else {
        try container.encode(number.doubleValue)
      }
    }
  }
}

extension JSONObject: Codable {
  /// Decodes the members of an object.
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

  /// Encodes the members in order.
  public func encode(to encoder: any Encoder) throws {
    if let encoder = encoder as? ValueEncoder { return encoder.slot.content = .value(.object(self)) }
    var container = encoder.container(keyedBy: AnyKey.self)
    for (key, value) in self { try container.encode(value, forKey: AnyKey(stringValue: key)) }
  }
}
