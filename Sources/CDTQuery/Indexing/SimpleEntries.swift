import JSON

/// The rows of a document in an index where they can be told without collecting them first: no array lies on the way to
/// a field, and at most one field has an array for its value. They are those of ``IndexEntries``.
struct SimpleEntries {
  private let paths: [[FieldPath.Segment]]
  /// What each field has in the document that was read last.
  private var fields: [Value] = []
  private var absent: Int64 = 0
  /// The array that a field has for its value, not empty.
  private var array: Int?
  /// Whether an array was met.
  private(set) var isMultiple = false

  private enum Value {
    case nothing
    case one(Int)
    case elements
  }

  init(_ definition: IndexDefinition) {
    paths = definition.fields.map(\.fieldPath.segments)
  }

  /// Looks a document's fields up.
  ///
  /// - Returns: Whether its rows are as simple as that.
  mutating func read(_ body: JSONBytes) -> Bool {
    fields.removeAll(keepingCapacity: true)
    absent = 0
    array = nil
    isMultiple = false
    for number in paths.indices {
      guard let value = value(of: number, in: body) else { return false }
      fields.append(value)
    }
    return true
  }

  private mutating func value(of number: Int, in body: JSONBytes) -> Value? {
    var offset = 0
    for segment in paths[number] {
      switch body.kind(at: offset) {
      case .object: break
      case .array: return nil
      default: return missing(IndexEntries.Absence.missing, number)
      }
      guard let member = body.member(spelled: segment.spelling, at: offset) else {
        return missing(IndexEntries.Absence.missing, number)
      }
      offset = member
    }
    guard body.kind(at: offset) == .array else { return .one(offset) }
    if isMultiple { return nil }
    isMultiple = true
    if body.element(at: 0, of: offset) == nil { return missing(IndexEntries.Absence.emptyArray, number) }
    guard body.element(at: IndexEntries.maximumCombinations, of: offset) == nil else { return nil }
    array = offset
    return .elements
  }

  private mutating func missing(_ why: Int64, _ number: Int) -> Value {
    absent |= why << Int64(2 * number)
    return .nothing
  }

  /// Adds the rows. An element that is there twice makes the same row twice, and the table takes it once.
  func add(to rows: inout IndexRows, body: JSONBytes, id: UnsafeRawBufferPointer, sequence: Int64) {
    let document = IndexRows.Document(id: id, sequence: sequence, absent: absent)
    guard let array else { return add(document, to: &rows, body: body, element: 0) }
    var elements = body.elements(at: array)
    while let element = elements.next() { add(document, to: &rows, body: body, element: element) }
  }

  private func add(
    _ document: IndexRows.Document, to rows: inout IndexRows, body: JSONBytes, element: Int
  ) {
    rows.add(document) { rows in
      for number in fields.indices {
        switch fields[number] {
        case .nothing: rows.append(.nothing, field: number)
        case .one(let value): rows.append(body, at: value, field: number)
        case .elements: rows.append(body, at: element, field: number)
        }
      }
    }
  }
}
