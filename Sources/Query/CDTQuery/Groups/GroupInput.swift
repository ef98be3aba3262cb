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

/// The values in the key of an index row, or of a group of a summary, that has all of them.
struct IndexInput: GroupInput {
  private let key: JSONBytes
  private let cover: GroupCover
  /// A field and the offset of its part.
  private let known: (field: Int, offset: Int)

  /// - Parameter known: A field and the offset of its part, if they are known.
  init(_ key: JSONBytes, _ cover: GroupCover, known: (field: Int, offset: Int)? = nil) {
    self.key = key
    self.cover = cover
    self.known = known ?? (0, cover.layout.start)
  }

  /// The offset of a field's part, or of the id.
  private func start(of field: Int) -> Int {
    var (next, offset) = field < known.field ? (0, cover.layout.start) : known
    while next < field {
      offset = cover.layout.end(of: next, in: key, at: offset)
      next += 1
    }
    return offset
  }

  func isMissing(_ input: Int) -> Bool { cover.fields[input].map(isMissing(field:)) ?? false }

  func isMissing(field: Int) -> Bool {
    let layout = cover.layout
    guard layout.isNothing(field, in: key, at: start(of: field)) else { return false }
    return layout.absence(of: field, in: key, idAt: start(of: layout.fields)) != IndexRows.Absence.null
  }

  func appendKey(of input: Int, to bytes: inout [UInt8]) {
    let field = cover.fields[input] ?? cover.layout.fields
    let start = start(of: field)
    cover.layout.append(field, in: key, start..<cover.layout.end(of: field, in: key, at: start), to: &bytes)
  }

  func number(of input: Int) -> JSONNumber? {
    guard let field = cover.fields[input] else { return nil }
    return OrderKey.number(in: key, at: start(of: field), isInverted: cover.layout.isDescending(field))
  }
}
