package import CDTJSON
package import CDTSQLite

/// A value in an index table: a tag that orders the types, and the value in SQLite's storage class.
///
/// SQLite sorts NULL before numbers and has no booleans. With the tag first, the order of rows is the order of values,
/// true is not 1, and integers are exact. Numbers and strings have the tags that SQLite stores without extra bytes.
package struct IndexKey: Sendable, Hashable {
  package enum Tag: Int64, Sendable, Comparable {
    /// Null and missing, which sort as equal; a row's `absent` column distinguishes them.
    case nothing = -3
    case `false` = -2
    case `true` = -1
    case number = 0
    case string = 1
    case array = 2
    case object = 3

    package static func < (left: Tag, right: Tag) -> Bool { left.rawValue < right.rawValue }
  }

  package enum Value: Sendable, Hashable {
    case zero
    case int(Int64)
    case double(Double)
    case text([UInt8])
    /// The ``OrderKey`` of an array or an object.
    case blob([UInt8])
  }

  package let tag: Tag
  package let value: Value

  package static let nothing = IndexKey(tag: .nothing, value: .zero)

  package static func string(_ utf8: [UInt8]) -> IndexKey {
    IndexKey(tag: .string, value: .text(utf8))
  }

  package init(_ int: Int64) {
    self.init(tag: .number, value: .int(int))
  }

  init(tag: Tag, value: Value) {
    self.tag = tag
    self.value = value
  }

  package init(_ value: JSONValue) {
    switch value {
    case .null: self = .nothing
    case .bool(let bool): self.init(tag: bool ? .true : .false, value: .zero)
    case .int(let int): self.init(int)
    case .string(let string): self.init(tag: .string, value: .text(Array(string.utf8)))
    case .double, .spelled, .array, .object:
      let text = value.utf8Text
      self = text.withUnsafeBytes { IndexKey(JSONBytes($0), at: 0) }
    }
  }

  /// The key of a stored value in an index with a collation, if it has one.
  package init(_ bytes: JSONBytes, at start: Int, by collation: Collation? = nil) {
    switch bytes.kind(at: start) {
    case .null, .invalid: self = .nothing
    case .false: self.init(tag: .false, value: .zero)
    case .true: self.init(tag: .true, value: .zero)
    case .number:
      switch bytes.number(at: start) {
      case .int(let int)?: self.init(int)
      case .double(let double)?: self.init(tag: .number, value: Self.number(double))
      case nil: self = .nothing
      }
    case .string:
      self.init(tag: .string, value: .text(bytes.withStringBytes(at: start) { $0.folded(by: collation) }))
    case .array: self.init(tag: .array, value: .blob(OrderKey(bytes, at: start, by: collation).bytes))
    case .object: self.init(tag: .object, value: .blob(OrderKey(bytes, at: start, by: collation).bytes))
    }
  }

  /// Reads the key from two columns of an index row: its tag, then its value.
  init(_ row: Statement, at column: Int) {
    let tag = Tag(rawValue: row.int64(column)) ?? .nothing
    let value: Value =
      switch tag {
      case .number: row.isInteger(column + 1) ? .int(row.int64(column + 1)) : .double(row.double(column + 1))
      case .string: .text(Array(row.unsafeBytes(column + 1)))
      case .array, .object: .blob(Array(row.unsafeBytes(column + 1)))
      case .nothing, .false, .true: .zero
      }
    self.init(tag: tag, value: value)
  }

  /// Equal numbers have equal keys: a double with an integral value is stored as an integer.
  static func number(_ double: Double) -> Value {
    if let int = Int64(exactly: double) { return .int(int) }
    return .double(double)
  }
}

extension IndexKey: Comparable {
  package static func < (left: IndexKey, right: IndexKey) -> Bool {
    if left.tag != right.tag { return left.tag < right.tag }
    switch (left.value, right.value) {
    case (.text(let left), .text(let right)), (.blob(let left), .blob(let right)):
      return left.withUnsafeBytes { left in right.withUnsafeBytes { Order(left, $0) == .ascending } }
    default:
      guard let leftNumber = left.value.number, let rightNumber = right.value.number else { return false }
      return Order(leftNumber, rightNumber) == .ascending
    }
  }
}

extension IndexKey.Value {
  var number: JSONNumber? {
    switch self {
    case .int(let int): .int(int)
    case .double(let double): .double(double)
    default: nil
    }
  }
}

extension Statement {
  /// Binds the key's value, without its tag.
  package func bind(value key: IndexKey, at position: Int) throws(SQLiteError) {
    switch key.value {
    case .zero: try bind(Int64(0), at: position)
    case .int(let int): try bind(int, at: position)
    case .double(let double): try bind(double, at: position)
    case .text(let text): try bind(text: text, at: position)
    case .blob(let blob): try bind(blob: blob, at: position)
    }
  }

  /// Binds a key as two parameters, its tag and its value.
  package func bind(_ key: IndexKey, at position: Int) throws(SQLiteError) {
    try bind(key.tag.rawValue, at: position)
    try bind(value: key, at: position + 1)
  }
}
