import CDTJSON
import CDTSQLite

/// Rows of one index table, to be compared, sorted and written.
///
/// A document has a row for each combination of its fields' values; each element of an array is a value. Their keys are
/// those of ``KeyLayout``. They share one byte array, because small arrays per row would dominate the cost.
package struct IndexRows: ~Copyable {
  /// The outcome of adding one document's rows.
  struct Shape {
    /// Whether an array was expanded, so that the document may have any number of rows.
    var isMultiple = false
    /// Whether there were more combinations than ``maximumCombinations``. Then no rows were added: the document is
    /// in the overflow of the index and always checked by the matcher.
    var overflows = false
  }

  /// The reasons for which a field has no value.
  package enum Absence {
    package static let null = 0
    package static let missing = 1
    static let emptyArray = 2
  }

  /// The memory is reserved at once, and a large budget would reserve more than most builds fill.
  private static let maximumMemory = 256 << 20

  /// The maximum number of rows of a document in an index.
  static let maximumCombinations = 1_000

  private let fields: [IndexDefinition.Field]
  let layout: KeyLayout
  private let collation: Collation?
  /// The filter of a partial index.
  private let filter: Matcher?
  /// The rule for the time at which a document expires, in an index of such times.
  private let expiry: ExpiryRule?
  /// Whether each element of an array is a value. In a summary, as in groups, the array is.
  private let expandsArrays: Bool
  private var bytes: [UInt8] = []
  private var rows: [Row] = []
  /// The values of the document being added, field after field, and where each field's values end.
  private var values: [Value] = []
  private var ends: [Int] = []
  /// The marks of the fields without a value.
  private var marks: [UInt8] = []
  /// The value of each field in the row being added.
  private var chosen: [Int] = []
  private var found = FieldValues()
  private var other = FieldValues()

  fileprivate struct Row {
    /// The first sixteen bytes of the key, which decide most comparisons, as two integers.
    let prefix: UInt64
    let next: UInt64
    let start: UInt32
    let length: UInt32
    let number: Int64

    var range: Range<Int> { Int(start)..<Int(start) + Int(length) }
  }

  /// A value of the document being added.
  private enum Value {
    case nothing
    case at(Int)
    /// The array of the values at some offsets.
    case several([Int])
    /// A time, in seconds since 1970.
    case time(Double)
    /// The cell of a place.
    case cell(UInt64)
    case id, revision
  }

  /// The number of bytes from which on the rows are full, and the number of rows.
  private var limits = (bytes: Int.max, rows: Int.max)

  init(_ definition: IndexDefinition) {
    fields = definition.fields
    layout = KeyLayout(definition)
    collation = definition.collation
    filter = definition.filter.map { Matcher($0.clause) }
    expiry = ExpiryRule(definition)
    expandsArrays = definition.groupedFields == nil
  }

  /// Creates a list that is full when it uses this memory, in bytes.
  ///
  /// The memory is divided among the bytes, the list of rows, and the copy of half of it that a sort makes. It is
  /// reserved, as an array that grows is twice as large as its content. Some of it is for the rows of the last document.
  ///
  /// - Parameter memory: At most ``maximumMemory`` is used.
  init(_ definition: IndexDefinition, memory: Int) {
    self.init(definition)
    let memory = min(memory, Self.maximumMemory)
    let capacity = (bytes: memory / 8 * 5, rows: memory / 4 / MemoryLayout<Row>.stride)
    bytes.reserveCapacity(capacity.bytes)
    rows.reserveCapacity(capacity.rows)
    limits = (capacity.bytes / 16 * 15, capacity.rows / 16 * 15)
  }

  var count: Int { rows.count }
  var isEmpty: Bool { rows.isEmpty }
  var isFull: Bool { bytes.count > limits.bytes || rows.count > limits.rows }

  /// The memory used by the rows.
  var size: Int { bytes.count + rows.count * MemoryLayout<Row>.stride }

  /// Removes all rows but keeps the memory.
  mutating func removeAll() {
    bytes.removeAll(keepingCapacity: true)
    rows.removeAll(keepingCapacity: true)
  }

  // MARK: Adding

  /// Whether the index holds a document.
  private func holds(_ document: DocumentBytes) -> Bool {
    if let expiry { return expiry.time(of: document) != nil }
    guard let filter else { return true }
    // Only patterns fail, and a filter has none.
    return (try? filter.matches(document)) ?? false
  }

  /// Whether two states of a document have the same text in each field, and so the same rows.
  mutating func haveSameValues(_ left: DocumentBytes, _ right: DocumentBytes) -> Bool {
    let isHeld = holds(right)
    guard isHeld == holds(left) else { return false }
    return !isHeld
      || fields.allSatisfy { field in
        if let documentField = field.fieldPath.documentField { return documentField == .id }
        if field.fieldPath.isCell {
          return GeoPoint.places(of: field.fieldPath, in: left.body)
            == GeoPoint.places(of: field.fieldPath, in: right.body)
        }
        found.read(field.fieldPath, in: left.body)
        other.read(field.fieldPath, in: right.body)
        if !expandsArrays, found.isMultiple || other.isMultiple { return false }
        return found.absence == other.absence && found.offsets.count == other.offsets.count
          && zip(found.offsets, other.offsets).allSatisfy { first, second in
            let first = left.body.slice(first, left.body.endOfValue(at: first))
            let second = right.body.slice(second, right.body.endOfValue(at: second))
            return Order(first, second) == .same
          }
      }
  }

  /// Adds the rows of a document, none if the filter does not match it. Repeated elements of an array produce repeated rows.
  mutating func add(_ document: DocumentBytes, number: Int64) -> Shape {
    var shape = Shape()
    guard holds(document) else { return shape }
    var combinations = 1
    marks.removeAll(keepingCapacity: true)
    values.removeAll(keepingCapacity: true)
    ends.removeAll(keepingCapacity: true)
    for position in fields.indices {
      let start = values.count
      if let why = readValues(of: position, in: document, &shape) {
        marks.append(UInt8(truncatingIfNeeded: 2 * position + why - 1))
      }
      ends.append(values.count)
      combinations *= values.count - start
      guard combinations <= Self.maximumCombinations else {
        shape.overflows = true
        return shape
      }
    }
    chosen.removeAll(keepingCapacity: true)
    for position in ends.indices { chosen.append(position == 0 ? 0 : ends[position - 1]) }
    for _ in 0..<combinations {
      appendRow(of: document, number: number)
      // The next combination: the last field changes fastest.
      var position = chosen.count - 1
      while position >= 0 {
        chosen[position] += 1
        if chosen[position] < ends[position] { break }
        chosen[position] = position == 0 ? 0 : ends[position - 1]
        position -= 1
      }
    }
    return shape
  }

  /// Appends the values of one field.
  ///
  /// - Returns: The reason if there are none.
  private mutating func readValues(
    of position: Int, in document: DocumentBytes, _ shape: inout Shape
  ) -> Int? {
    switch fields[position].fieldPath.documentField {
    case .id?: values.append(.id)
    case .revision?: values.append(.revision)
    case nil:
      if let time = expiry?.time(of: document) {
        values.append(.time(time))
        return nil
      }
      if fields[position].fieldPath.isCell {
        return readCells(of: fields[position].fieldPath, in: document.body, &shape)
      }
      guard expandsArrays else { return readWhole(fields[position].fieldPath, in: document.body, &shape) }
      found.read(fields[position].fieldPath, in: document.body)
      if found.isMultiple { shape.isMultiple = true }
      guard found.offsets.isEmpty else {
        for offset in found.offsets { values.append(.at(offset)) }
        return nil
      }
      values.append(.nothing)
      return found.absence == .missing ? Absence.missing : Absence.emptyArray
    }
    return nil
  }

  /// Appends the cells of the places that a path reaches.
  ///
  /// - Returns: The reason if there are none.
  private mutating func readCells(of path: FieldPath, in bytes: JSONBytes, _ shape: inout Shape) -> Int? {
    let places = GeoPoint.places(of: path, in: bytes)
    if places.count > 1 { shape.isMultiple = true }
    for place in places { values.append(.cell(PlaceCells.number(of: place))) }
    if places.isEmpty { values.append(.nothing) }
    return places.isEmpty ? Absence.missing : nil
  }

  /// Appends the value of a field of a summary.
  ///
  /// - Returns: The reason if there is none.
  private mutating func readWhole(_ path: FieldPath, in bytes: JSONBytes, _ shape: inout Shape) -> Int? {
    var offsets: [Int] = []
    switch path.singleValue(in: bytes) {
    case .missing: break
    case .value(let value): offsets = [value]
    case .several:
      shape.isMultiple = true
      var walk = PathWalk(bytes, from: 0, through: path.segments)
      while let value = walk.next() { offsets.append(value) }
    }
    switch offsets.count {
    case 0: values.append(.nothing)
    case 1: values.append(.at(offsets[0]))
    default: values.append(.several(offsets))
    }
    return offsets.isEmpty ? Absence.missing : nil
  }

  /// Appends the row of the chosen values.
  private mutating func appendRow(of document: DocumentBytes, number: Int64) {
    let start = bytes.count
    for position in chosen.indices {
      let fieldStart = bytes.count
      appendKey(of: values[chosen[position]], document)
      if fields[position].isDescending {
        for index in fieldStart..<bytes.count { bytes[index] = ~bytes[index] }
      }
    }
    OrderKey.append(string: document.id, to: &bytes)
    bytes += marks
    let end = bytes.count
    let (prefix, next) = bytes.withUnsafeBytes { buffer in
      let bytes = JSONBytes(buffer)
      return (bytes.prefix(start, end), bytes.prefix(start + 8, end))
    }
    rows.append(
      Row(
        prefix: prefix, next: next, start: UInt32(truncatingIfNeeded: start),
        length: UInt32(truncatingIfNeeded: end - start), number: number))
  }

  private mutating func appendKey(of value: Value, _ document: DocumentBytes) {
    switch value {
    case .nothing: bytes.append(OrderKey.null)
    case .time(let time): OrderKey.append(.double(time), to: &bytes)
    case .cell(let cell): OrderKey.append(cell: cell, to: &bytes)
    case .several(let offsets): OrderKey.append(document.body, elementsAt: offsets, to: &bytes)
    case .id: OrderKey.append(string: document.id, to: &bytes)
    case .revision: OrderKey.append(string: document.revision, to: &bytes)
    case .at(let offset):
      let text = document.body
      if text.kind(at: offset) == .string {
        text.withStringBytes(at: offset) { OrderKey.append(string: $0, by: collation, to: &bytes) }
      } else {
        OrderKey.append(text, at: offset, by: collation, to: &bytes)
      }
    }
  }

  // MARK: Order

  /// Sorts the rows in the order of the table.
  mutating func sort() {
    bytes.withUnsafeBytes { buffer in
      let bytes = JSONBytes(buffer)
      rows.sort { Self.precedes($0, bytes, $1, bytes) }
    }
  }

  /// Removes the rows that two sorted lists share from both.
  mutating func removeShared(with other: inout IndexRows) {
    bytes.withUnsafeBytes { own in
      other.bytes.withUnsafeBytes { others in
        removeShared(JSONBytes(own), &other.rows, JSONBytes(others))
      }
    }
  }

  private mutating func removeShared(_ bytes: JSONBytes, _ others: inout [Row], _ otherBytes: JSONBytes) {
    var (position, kept, other, otherKept) = (0, 0, 0, 0)
    while position < rows.count, other < others.count {
      let (left, right) = (rows[position], others[other])
      if Self.precedes(left, bytes, right, otherBytes) {
        rows[kept] = left
        (kept, position) = (kept + 1, position + 1)
      } else if Self.precedes(right, otherBytes, left, bytes) {
        others[otherKept] = right
        (otherKept, other) = (otherKept + 1, other + 1)
      } else {
        // Each list may repeat a row.
        while position < rows.count, !Self.precedes(left, bytes, rows[position], bytes) { position += 1 }
        while other < others.count, !Self.precedes(left, bytes, others[other], otherBytes) { other += 1 }
      }
    }
    rows.removeSubrange(kept..<position)
    others.removeSubrange(otherKept..<other)
  }

  private static func precedes(_ left: Row, _ bytes: JSONBytes, _ right: Row, _ rightBytes: JSONBytes) -> Bool
  {
    if left.prefix != right.prefix { return left.prefix < right.prefix }
    if left.next != right.next { return left.next < right.next }
    let (left, right) = (left.range, right.range)
    return Order(
      bytes.slice(left.lowerBound, left.upperBound), rightBytes.slice(right.lowerBound, right.upperBound)
    ).isAscending
  }

  // MARK: Reading

  /// The number of a row's document.
  func number(at position: Int) -> Int64 { rows[position].number }

  /// Calls `body` with the rows for binding to statements.
  func withBinding<R>(_ body: (Binding) throws -> R) rethrows -> R {
    try bytes.withUnsafeBytes { try body(Binding(rows: rows, bytes: JSONBytes($0))) }
  }

  /// Binds rows to statements without copying. The bindings are valid until `withBinding` ends; clear the statement
  /// before that.
  struct Binding {
    fileprivate let rows: [Row]
    fileprivate let bytes: JSONBytes

    func key(of position: Int) -> JSONBytes {
      let range = rows[position].range
      return JSONBytes(bytes.slice(range.lowerBound, range.upperBound))
    }

    /// Binds the key of a row.
    func bindKey(of position: Int, to statement: Statement, at first: Int) throws(SQLiteError) {
      let range = rows[position].range
      try statement.bind(blobInPlace: bytes.slice(range.lowerBound, range.upperBound), at: first)
    }

    /// Binds a whole row: the key and the document's number.
    func bindRow(_ position: Int, to statement: Statement, at first: Int) throws(SQLiteError) {
      try bindKey(of: position, to: statement, at: first)
      try statement.bind(rows[position].number, at: first + 1)
    }
  }
}
