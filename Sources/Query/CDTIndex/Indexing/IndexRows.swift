import CDTJSON
import CDTSQLite

/// Rows of one index table, to be compared, sorted and written.
///
/// A document has a row for each combination of its fields' values; each element of an array is a value. All rows
/// share one byte array, because small arrays per row would dominate the cost:
///
/// | part | |
/// |---|---|
/// | number, absent, length of the id | eight bytes each |
/// | key | for each field its type and its ``OrderKey``, inverted if the field descends; then the id. Byte order of
/// keys is the row order of the table |
/// | values | for each field its tag and its SQLite value, see ``Storage`` |
package struct IndexRows: ~Copyable {
  /// The outcome of adding one document's rows.
  struct Shape {
    /// Whether an array was expanded, so that the document may have any number of rows.
    var isMultiple = false
    /// Whether there were more combinations than ``maximumCombinations``. Then no rows were added: the document is
    /// in the overflow of the index and always checked by the matcher.
    var overflows = false
  }

  /// The two bits of a field in the `absent` column, for a field without a value.
  package enum Absence {
    package static let null: Int64 = 0
    package static let missing: Int64 = 1
    static let emptyArray: Int64 = 2
  }

  /// The memory is reserved at once, and a large budget would reserve more than most builds fill.
  private static let maximumMemory = 256 << 20

  /// The maximum number of rows of a document in an index.
  static let maximumCombinations = 1_000

  private let fields: [IndexDefinition.Field]
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
  /// The value of each field in the row being added.
  private var chosen: [Int] = []
  private var found = FieldValues()
  private var other = FieldValues()

  fileprivate struct Row {
    /// The first sixteen bytes of the key, which decide most comparisons, as two integers.
    let prefix: UInt64
    let next: UInt64
    let start: UInt32
    let keyLength: UInt32

    static let headerSize = 24
    var key: Int { Int(start) + Self.headerSize }
    var values: Int { key + Int(keyLength) }
  }

  /// A value of the document being added.
  private enum Value {
    case nothing
    case at(Int)
    /// The array of the values at some offsets.
    case several([Int])
    /// A time, in seconds since 1970.
    case time(Double)
    case id, revision
  }

  /// The encoding of a field's value after the key and its tag.
  fileprivate enum Storage {
    static let zero: UInt8 = 0
    static let int: UInt8 = 1
    static let double: UInt8 = 2
    /// Text or a blob: its length in four bytes, then its bytes.
    static let text: UInt8 = 3
    static let blob: UInt8 = 4
  }

  /// The number of bytes from which on the rows are full, and the number of rows.
  private var limits = (bytes: Int.max, rows: Int.max)

  init(_ definition: IndexDefinition) {
    fields = definition.fields
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

  /// Removes the rows from a position on. Only valid before sorting.
  mutating func removeLast(from first: Int) {
    guard first < rows.count else { return }
    bytes.removeLast(bytes.count - Int(rows[first].start))
    rows.removeLast(rows.count - first)
  }

  /// Whether the rows from a position on equal those of another list, in the same order.
  func endsEqually(from first: Int, _ other: borrowing IndexRows, from otherFirst: Int) -> Bool {
    guard rows.count - first == other.rows.count - otherFirst else { return false }
    let start = first < rows.count ? Int(rows[first].start) : bytes.count
    let otherStart = otherFirst < other.rows.count ? Int(other.rows[otherFirst].start) : other.bytes.count
    return bytes[start...] == other.bytes[otherStart...]
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
    var absent: Int64 = 0
    var combinations = 1
    values.removeAll(keepingCapacity: true)
    ends.removeAll(keepingCapacity: true)
    for position in fields.indices {
      let start = values.count
      if let why = readValues(of: position, in: document, &shape) { absent |= why << Int64(2 * position) }
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
      appendRow(of: document, number: number, absent: absent)
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
  ) -> Int64? {
    switch fields[position].fieldPath.documentField {
    case .id?: values.append(.id)
    case .revision?: values.append(.revision)
    case nil:
      if let time = expiry?.time(of: document) {
        values.append(.time(time))
        return nil
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

  /// Appends the value of a field of a summary.
  ///
  /// - Returns: The reason if there is none.
  private mutating func readWhole(_ path: FieldPath, in bytes: JSONBytes, _ shape: inout Shape) -> Int64? {
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
  private mutating func appendRow(of document: DocumentBytes, number: Int64, absent: Int64) {
    let start = bytes.count
    let header = (number.bigEndian, absent.bigEndian, Int64(document.id.count).bigEndian)
    withUnsafeBytes(of: header) { bytes.append(contentsOf: $0) }
    let key = bytes.count
    for position in chosen.indices {
      let fieldStart = bytes.count
      appendKey(of: values[chosen[position]], document)
      if fields[position].isDescending {
        for index in fieldStart..<bytes.count { bytes[index] = ~bytes[index] }
      }
    }
    bytes.append(contentsOf: document.id)
    let keyEnd = bytes.count
    for value in chosen { appendStorage(of: values[value], document) }
    let (prefix, next) = bytes.withUnsafeBytes { buffer in
      let bytes = JSONBytes(buffer)
      return (bytes.prefix(key, keyEnd), bytes.prefix(key + 8, keyEnd))
    }
    rows.append(
      Row(
        prefix: prefix, next: next, start: UInt32(truncatingIfNeeded: start),
        keyLength: UInt32(truncatingIfNeeded: keyEnd - key)))
  }

  private mutating func appendKey(of value: Value, _ document: DocumentBytes) {
    switch value {
    case .nothing: bytes.append(OrderKey.null)
    case .time(let time): OrderKey.append(.double(time), to: &bytes)
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

  private mutating func appendStorage(of value: Value, _ document: DocumentBytes) {
    switch value {
    case .nothing: append(.nothing, Storage.zero)
    case .time(let time): append(.double(time))
    case .several(let offsets):
      var key = OrderKey()
      OrderKey.append(document.body, elementsAt: offsets, to: &key.bytes)
      append(.array, Storage.blob, key)
    case .id: append(.string, Storage.text, document.id)
    case .revision: append(.string, Storage.text, document.revision)
    case .at(let offset):
      let text = document.body
      switch text.kind(at: offset) {
      case .string:
        text.withStringBytes(at: offset) { string in
          guard collation != nil else { return append(.string, Storage.text, string) }
          string.folded(by: collation).withUnsafeBytes { append(.string, Storage.text, $0) }
        }
      case .number: append(text.number(at: offset))
      case .array: append(.array, Storage.blob, OrderKey(text, at: offset, by: collation))
      case .object: append(.object, Storage.blob, OrderKey(text, at: offset, by: collation))
      case .false: append(.false, Storage.zero)
      case .true: append(.true, Storage.zero)
      case .null, .invalid: append(.nothing, Storage.zero)
      }
    }
  }

  private mutating func append(_ number: JSONNumber?) {
    switch number {
    case .int(let int)?: append(int: int)
    case .double(let double)?:
      // Equal numbers have equal keys.
      if let int = Int64(exactly: double) { return append(int: int) }
      append(.number, Storage.double)
      append(integer: double.bitPattern)
    case nil: append(.nothing, Storage.zero)
    }
  }

  private mutating func append(int: Int64) {
    append(.number, Storage.int)
    append(integer: UInt64(bitPattern: int))
  }

  private mutating func append(_ tag: IndexKey.Tag, _ storage: UInt8) {
    bytes.append(UInt8(bitPattern: Int8(truncatingIfNeeded: tag.rawValue)))
    bytes.append(storage)
  }

  private mutating func append(_ tag: IndexKey.Tag, _ storage: UInt8, _ content: UnsafeRawBufferPointer) {
    append(tag, storage)
    withUnsafeBytes(of: UInt32(truncatingIfNeeded: content.count).bigEndian) {
      bytes.append(contentsOf: $0)
    }
    bytes.append(contentsOf: content)
  }

  private mutating func append(_ tag: IndexKey.Tag, _ storage: UInt8, _ key: OrderKey) {
    key.bytes.withUnsafeBytes { append(tag, storage, $0) }
  }

  private mutating func append(integer: UInt64) {
    withUnsafeBytes(of: integer.bigEndian) { bytes.append(contentsOf: $0) }
  }

  // MARK: Order

  /// Sorts the rows in the order of the table.
  mutating func sort() {
    bytes.withUnsafeBytes { buffer in
      let bytes = JSONBytes(buffer)
      rows.sort { Self.precedes($0, $1, bytes) }
    }
  }

  private static func precedes(_ left: Row, _ right: Row, _ bytes: JSONBytes) -> Bool {
    if left.prefix != right.prefix { return left.prefix < right.prefix }
    if left.next != right.next { return left.next < right.next }
    return Order(bytes.slice(left.key, left.values), bytes.slice(right.key, right.values)).isAscending
  }

  private static func endOfStorage(at start: Int, _ bytes: JSONBytes) -> Int {
    switch bytes[start + 1] {
    case Storage.int, Storage.double: start + 10
    case Storage.text, Storage.blob: start + 6 + length(at: start + 2, bytes)
    default: start + 2
    }
  }

  // MARK: Reading

  @inline(__always)
  private static func integer(at offset: Int, _ bytes: JSONBytes) -> Int64 {
    Int64(bitPattern: bytes.prefix(offset, offset + 8))
  }

  private static func length(at offset: Int, _ bytes: JSONBytes) -> Int {
    Int(bytes.prefix(offset, offset + 4) >> 32)
  }

  /// The number of a row's document.
  func number(at position: Int) -> Int64 {
    bytes.withUnsafeBytes { Self.integer(at: Int(rows[position].start), JSONBytes($0)) }
  }

  /// Calls `body` with the rows for binding to statements.
  func withBinding<R>(_ body: (Binding) throws -> R) rethrows -> R {
    try bytes.withUnsafeBytes { try body(Binding(rows: rows, bytes: JSONBytes($0), fields: fields.count)) }
  }

  /// Binds rows to statements without copying. The bindings are valid until `withBinding` ends; clear the statement
  /// before that.
  struct Binding {
    fileprivate let rows: [Row]
    fileprivate let bytes: JSONBytes
    /// The number of fields of a row.
    let fields: Int

    /// Binds the tag and value of each field, and the id: 2 × fields + 1 parameters.
    func bindKey(of position: Int, to statement: Statement, at first: Int) throws(SQLiteError) {
      let row = rows[position]
      var place = row.values
      for field in 0..<fields {
        let tag = Int64(Int8(bitPattern: bytes[place]))
        try statement.bind(tag, at: first + 2 * field)
        try bindStorage(at: place + 1, to: statement, at: first + 2 * field + 1)
        place = IndexRows.endOfStorage(at: place, bytes)
      }
      try statement.bind(textInPlace: id(of: row), at: first + 2 * fields)
    }

    /// Binds a whole row: the key, the document's number and `absent`.
    func bindRow(_ position: Int, to statement: Statement, at first: Int) throws(SQLiteError) {
      try bindKey(of: position, to: statement, at: first)
      let start = Int(rows[position].start)
      try statement.bind(IndexRows.integer(at: start, bytes), at: first + 2 * fields + 1)
      try statement.bind(IndexRows.integer(at: start + 8, bytes), at: first + 2 * fields + 2)
    }

    /// The values of a row; `nil` if a field has none, or null.
    func keys(of position: Int) -> [IndexKey]? {
      let values = values(of: position)
      return values.contains(.nothing) ? nil : values
    }

    /// The values of a row.
    func values(of position: Int) -> [IndexKey] {
      var place = rows[position].values
      return (0..<fields).map { _ in
        let tag = IndexKey.Tag(rawValue: Int64(Int8(bitPattern: bytes[place]))) ?? .nothing
        defer { place = IndexRows.endOfStorage(at: place, bytes) }
        return IndexKey(tag: tag, value: value(at: place + 1))
      }
    }

    /// A row of a summary.
    func summaryRow(_ position: Int) -> SummaryTable.Row {
      let row = rows[position]
      return SummaryTable.Row(
        values: values(of: position), absent: IndexRows.integer(at: Int(row.start) + 8, bytes),
        isOfDesignDocument: DocumentID.isDesign(id(of: row)))
    }

    private func value(at place: Int) -> IndexKey.Value {
      switch bytes[place] {
      case Storage.int: .int(IndexRows.integer(at: place + 1, bytes))
      case Storage.double:
        .double(Double(bitPattern: UInt64(bitPattern: IndexRows.integer(at: place + 1, bytes))))
      case Storage.text: .text(Array(content(at: place + 1)))
      case Storage.blob: .blob(Array(content(at: place + 1)))
      default: .zero
      }
    }

    private func bindStorage(at place: Int, to statement: Statement, at position: Int) throws(SQLiteError) {
      switch bytes[place] {
      case Storage.int: try statement.bind(IndexRows.integer(at: place + 1, bytes), at: position)
      case Storage.double:
        try statement.bind(
          Double(bitPattern: UInt64(bitPattern: IndexRows.integer(at: place + 1, bytes))), at: position)
      case Storage.text: try statement.bind(textInPlace: content(at: place + 1), at: position)
      case Storage.blob: try statement.bind(blobInPlace: content(at: place + 1), at: position)
      default: try statement.bind(Int64(0), at: position)
      }
    }

    private func content(at place: Int) -> UnsafeRawBufferPointer {
      bytes.slice(place + 4, place + 4 + IndexRows.length(at: place, bytes))
    }

    /// The key ends with the id.
    private func id(of row: Row) -> UnsafeRawBufferPointer {
      let length = IndexRows.integer(at: Int(row.start) + 16, bytes)
      return bytes.slice(row.values - Int(length), row.values)
    }
  }
}
