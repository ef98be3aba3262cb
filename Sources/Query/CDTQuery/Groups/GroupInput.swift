import CDTJSON
import CDTSQLite

/// The values of a document, or of an unwound element of it, that are grouped and aggregated.
protocol GroupInput {
  /// Whether there is no value, not even null.
  func isMissing(_ input: Int) -> Bool
  /// Appends the ``OrderKey`` of a value; that of null if it is missing.
  func appendKey(of input: Int, to bytes: inout [UInt8])
  /// A value that is a number.
  func number(of input: Int) -> JSONNumber?
}

/// The values in the text of a document.
///
/// A path that goes through an array has the value that it reaches, or the array of them if it reaches several.
///
/// ```
/// pets.kind in {"pets": [{"kind": "cat"}, {"age": 3}]}          →  "cat"
/// pets.kind in {"pets": [{"kind": "cat"}, {"kind": "dog"}]}     →  ["cat", "dog"]
/// ```
struct DocumentInput: GroupInput {
  private let document: DocumentBytes
  private let inputs: [ResolvedGroups.Input]
  /// The offset of the unwound element.
  private let element: Int?

  init(_ document: DocumentBytes, _ inputs: [ResolvedGroups.Input], element: Int? = nil) {
    self.document = document
    self.inputs = inputs
    self.element = element
  }

  private enum Value {
    case missing
    case one(Int)
    case several([Int])
  }

  private func value(of input: ResolvedGroups.Input) -> Value {
    if let element, let segments = input.inElement { return value(at: segments, from: element) }
    return value(at: input.path.segments, from: 0)
  }

  private func value(at segments: [FieldPath.Segment], from start: Int) -> Value {
    let bytes = document.body
    var offset = start
    for segment in segments {
      switch bytes.kind(at: offset) {
      case .object: break
      case .array: return reached(by: segments, from: start)
      default: return .missing
      }
      guard let member = bytes.member(spelled: segment.spelling, at: offset) else { return .missing }
      offset = member
    }
    return .one(offset)
  }

  private func reached(by segments: [FieldPath.Segment], from start: Int) -> Value {
    var walk = PathWalk(document.body, from: start, through: segments)
    guard let first = walk.next() else { return .missing }
    guard let second = walk.next() else { return .one(first) }
    var offsets = [first, second]
    while let next = walk.next() { offsets.append(next) }
    return .several(offsets)
  }

  func isMissing(_ input: Int) -> Bool {
    guard inputs[input].documentField == nil, case .missing = value(of: inputs[input]) else { return false }
    return true
  }

  func appendKey(of input: Int, to bytes: inout [UInt8]) {
    let input = inputs[input]
    if let field = input.documentField {
      return OrderKey.append(string: document.string(of: field), to: &bytes)
    }
    switch value(of: input) {
    case .missing: bytes.append(OrderKey.null)
    case .one(let offset): OrderKey.append(document.body, at: offset, to: &bytes)
    case .several(let offsets): OrderKey.append(document.body, elementsAt: offsets, to: &bytes)
    }
  }

  func number(of input: Int) -> JSONNumber? {
    guard inputs[input].documentField == nil, case .one(let offset) = value(of: inputs[input]),
      document.body.kind(at: offset) == .number
    else { return nil }
    return document.body.number(at: offset)
  }
}

/// The values in an index row that has all of them.
struct IndexInput: GroupInput {
  private let row: Statement
  private let cover: GroupCover

  init(_ row: Statement, _ cover: GroupCover) {
    self.row = row
    self.cover = cover
  }

  private func tag(_ input: Int) -> IndexKey.Tag { IndexKey.Tag(rawValue: row.int64(2 * input)) ?? .nothing }

  func isMissing(_ input: Int) -> Bool {
    guard let field = cover.fields[input], tag(input) == .nothing else { return false }
    return IndexInput.absence(of: field, row.int64(cover.absenceColumn)) != IndexRows.Absence.null
  }

  static func absence(of field: Int, _ absent: Int64) -> Int64 { absent >> Int64(2 * field) & 3 }

  func appendKey(of input: Int, to bytes: inout [UInt8]) { Self.appendKey(row, at: 2 * input, to: &bytes) }

  /// Appends the ``OrderKey`` of the value in two columns, its tag and itself.
  static func appendKey(_ row: Statement, at column: Int, to bytes: inout [UInt8]) {
    switch row.isNull(column) ? .nothing : IndexKey.Tag(rawValue: row.int64(column)) ?? .nothing {
    case .nothing: bytes.append(OrderKey.null)
    case .false: OrderKey.append(false, to: &bytes)
    case .true: OrderKey.append(true, to: &bytes)
    case .number: OrderKey.append(number(row, at: column + 1), to: &bytes)
    case .string: OrderKey.append(string: row.unsafeBytes(column + 1), to: &bytes)
    case .array, .object: bytes.append(contentsOf: row.unsafeBytes(column + 1))
    }
  }

  func number(of input: Int) -> JSONNumber? {
    tag(input) == .number ? Self.number(row, at: 2 * input + 1) : nil
  }

  private static func number(_ row: Statement, at column: Int) -> JSONNumber {
    row.isInteger(column) ? .int(row.int64(column)) : .double(row.double(column))
  }
}
