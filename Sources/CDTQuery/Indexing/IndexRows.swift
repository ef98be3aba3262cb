import JSON
import SQLite

/// Rows that are to be written to one index table, sorted before they are so that pages are filled one after the other.
///
/// A row is one record of bytes, so that sorting and writing it touches one place in memory:
///
/// | part | |
/// |---|---|
/// | key | the values in a form that compares byte by byte as they do, see ``IndexRowKey`` |
/// | id | so that key and id compare as the table orders rows |
/// | spares | values that the key holds in another form, each behind its length |
/// | tail | four integers: the lengths of key and id, the sequence, the absence |
struct IndexRows {
  private let descending: [Bool]
  private var bytes: [UInt8] = []
  private var rows: [Row] = []
  /// The id that was added last, and whether ids have only gone up.
  private var lastID = 0..<0
  private var areIDsSorted = true
  /// The spares of the row being added.
  private var spares: [[UInt8]] = []

  fileprivate struct Row {
    /// The first sixteen bytes of the key, which decide most comparisons, as two integers.
    let prefix: UInt64
    let next: UInt64
    let start: Int
    /// How long the record is, twice, and one more if the key is no longer than its beginning.
    private let extent: Int

    init(prefix: UInt64, next: UInt64, start: Int, length: Int, isWhole: Bool) {
      self.prefix = prefix
      self.next = next
      self.start = start
      extent = length << 1 | (isWhole ? 1 : 0)
    }

    var length: Int { extent >> 1 }
    var isWhole: Bool { extent & 1 == 1 }
  }

  fileprivate static let tailLength = 32

  /// The document whose rows are being added.
  struct Document {
    let id: UnsafeRawBufferPointer
    let sequence: Int64
    let absent: Int64
  }

  init(_ definition: IndexDefinition) {
    self.init(descending: definition.fields.map(\.isDescending))
  }

  private init(descending: [Bool]) {
    self.descending = descending
  }

  var isEmpty: Bool { rows.isEmpty }

  /// How much memory the rows take.
  var size: Int { bytes.count + rows.count * MemoryLayout<Row>.stride }

  /// Makes room for rows, so that they are not copied as they become many.
  mutating func reserve(_ count: Int) {
    rows.reserveCapacity(count)
    bytes.reserveCapacity(count * 80)
  }

  // MARK: Adding

  /// Adds a row.
  ///
  /// - Parameter values: Appends the value of each field in turn.
  @inline(__always)
  mutating func add(_ document: Document, _ values: (inout IndexRows) -> Void) {
    let start = bytes.count
    values(&self)
    let id = bytes.count
    bytes.append(contentsOf: document.id)
    let end = bytes.count
    noteOrder(id..<end)
    if !spares.isEmpty { appendSpares() }
    appendTail(Int64(id - start), Int64(end - id), document.sequence, document.absent)
    let (prefix, next) = bytes.withUnsafeBytes { buffer in
      let bytes = JSONBytes(buffer)
      return (bytes.prefix(start, id), bytes.prefix(start + 8, id))
    }
    rows.append(
      Row(
        prefix: prefix, next: next, start: start, length: bytes.count - start,
        isWhole: id - start <= 16))
  }

  private mutating func appendSpares() {
    for spare in spares {
      withUnsafeBytes(of: Int64(spare.count).littleEndian) { bytes.append(contentsOf: $0) }
      bytes += spare
    }
    spares.removeAll(keepingCapacity: true)
  }

  @inline(__always)
  private mutating func appendTail(_ key: Int64, _ id: Int64, _ sequence: Int64, _ absent: Int64) {
    let tail = SIMD4<Int64>(key.littleEndian, id.littleEndian, sequence.littleEndian, absent.littleEndian)
    withUnsafeBytes(of: tail) { bytes.append(contentsOf: $0) }
  }

  private mutating func noteOrder(_ id: Range<Int>) {
    if areIDsSorted {
      let last = lastID
      areIDsSorted = bytes.withUnsafeBytes { buffer in
        let bytes = JSONBytes(buffer)
        return Order(
          bytes.slice(last.lowerBound, last.upperBound), bytes.slice(id.lowerBound, id.upperBound))
          != .descending
      }
    }
    lastID = id
  }

  /// Appends the value at an offset of a document's text as the row's next field.
  @inline(__always)
  mutating func append(_ text: JSONBytes, at start: Int, field: Int) {
    switch text.kind(at: start) {
    case .string: text.withStringBytes(at: start) { append(string: $0, field: field) }
    case .number: append(text.number(at: start), field: field)
    default: append(IndexKey(text, at: start), field: field)
    }
  }

  /// Appends a key as the row's next field.
  mutating func append(_ key: IndexKey, field: Int) {
    switch key.value {
    case .zero: end(begin(key.tag), field: field)
    case .int(let int): append(.int(int), field: field)
    case .double(let double): append(.double(double), field: field)
    case .text(let text): text.withUnsafeBytes { append(string: $0, field: field) }
    case .blob(let blob):
      // Such keys compare byte by byte as they are, and none is the beginning of another.
      let start = begin(key.tag)
      bytes += blob
      end(start, field: field)
      spares.append(blob)
    }
  }

  private mutating func append(_ number: JSONNumber?, field: Int) {
    guard let number else { return append(.nothing, field: field) }
    let start = begin(.number)
    OrderKey.append(number, to: &bytes)
    end(start, field: field)
  }

  private mutating func append(string: UnsafeRawBufferPointer, field: Int) {
    let start = begin(.string)
    OrderKey.appendEscaped(string, to: &bytes)
    let isItself = bytes.count == start + 1 + string.count + OrderKey.endOfString.count
    if !isItself || descending[field] { spares.append(Array(string)) }
    end(start, field: field)
  }

  private mutating func begin(_ tag: IndexKey.Tag) -> Int {
    bytes.append(tag.byte)
    return bytes.count - 1
  }

  private mutating func end(_ start: Int, field: Int) {
    guard descending[field] else { return }
    for offset in start..<bytes.count { bytes[offset] = ~bytes[offset] }
  }

  // MARK: Writing

  /// The rows in the order of the table, by the values and then by id, for SQLite to read. None are left here.
  mutating func takeSorted() -> some MemoryRows {
    // Key and id are compared only where the beginnings of the keys leave it open.
    rows = RadixSort.sorted(RadixSort.sorted(rows, by: \.next), by: \.prefix)
    bytes.withUnsafeBytes { buffer in
      let bytes = JSONBytes(buffer)
      var start = 0
      while start < rows.count {
        var end = start + 1
        var isDecided = areIDsSorted && rows[start].isWhole
        while end < rows.count, rows[end].prefix == rows[start].prefix, rows[end].next == rows[start].next {
          isDecided = isDecided && rows[end].isWhole
          end += 1
        }
        if end > start + 1, !isDecided {
          rows[start..<end].sort { Order($0.key(in: bytes), $1.key(in: bytes)) == .ascending }
        }
        start = end
      }
    }
    defer { self = IndexRows(descending: descending) }
    return SortedIndexRows(descending: descending, records: inOrder(), lengths: rows.map(\.length))
  }

  /// The records in the order of the rows. Copying them fetches several from memory at a time; read one by one by SQLite,
  /// each would be waited for.
  private func inOrder() -> [UInt8] {
    var records: [UInt8] = []
    records.reserveCapacity(bytes.count)
    bytes.withUnsafeBytes { buffer in
      let bytes = JSONBytes(buffer)
      for row in rows { records.append(contentsOf: bytes.slice(row.start, row.end)) }
    }
    return records
  }
}

extension IndexRows.Row {
  fileprivate var end: Int { start + length }

  /// The key with the id behind it.
  @inline(__always)
  fileprivate func key(in bytes: JSONBytes) -> UnsafeRawBufferPointer {
    let tail = end - IndexRows.tailLength
    return bytes.slice(start, start + Int(bytes.int64(at: tail) &+ bytes.int64(at: tail + 8)))
  }
}

/// The columns of an index table: a tag and a value for each field, the id, the sequence, the absence.
private final class SortedIndexRows: MemoryRows {
  let bytes: [UInt8]
  private let descending: [Bool]
  private let lengths: [Int]
  /// Where the row begins that is read next; they are read from the first to the last.
  private var next = (row: 0, start: 0)

  init(descending: [Bool], records: [UInt8], lengths: [Int]) {
    self.descending = descending
    self.lengths = lengths
    bytes = records
  }

  var count: Int { lengths.count }

  func read(row: Int, of buffer: UnsafeRawBufferPointer, into values: inout [MemoryValue]) {
    if row < next.row { next = (0, 0) }
    while next.row < row { next = (next.row + 1, next.start + lengths[next.row]) }
    let bytes = JSONBytes(buffer)
    let start = next.start
    let tail = start + lengths[row] - IndexRows.tailLength
    let id = start + Int(bytes.int64(at: tail))
    let end = id + Int(bytes.int64(at: tail + 8))
    var key = IndexRowKey(bytes, from: start, spares: end)
    for isDescending in descending {
      let (tag, value) = key.next(isDescending: isDescending)
      values.append(.int(tag.rawValue))
      values.append(value)
    }
    values.append(.text(id..<end))
    values.append(.int(bytes.int64(at: tail + 16)))
    values.append(.int(bytes.int64(at: tail + 24)))
  }
}

/// Reads the values of a row's fields back out of its key.
///
/// A field is a byte for its type and the bytes of its ``OrderKey``, all of them turned around where the index holds the
/// field in descending order. A text that stands there as it is is taken from there, any other from the spares.
private struct IndexRowKey {
  private let bytes: JSONBytes
  private var offset: Int
  private var spare: Int

  init(_ bytes: JSONBytes, from start: Int, spares: Int) {
    self.bytes = bytes
    offset = start
    spare = spares
  }

  mutating func next(isDescending: Bool) -> (IndexKey.Tag, MemoryValue) {
    let turn: UInt8 = isDescending ? 0xFF : 0
    let tag = IndexKey.Tag(byte: bytes[offset] ^ turn)
    offset += 1
    switch tag {
    case .nothing, .false, .true: return (tag, .int(0))
    case .number: return (tag, number(turn))
    case .string: return (tag, text(turn))
    case .array, .object:
      let range = takeSpare()
      offset += range.count
      return (tag, .blob(range))
    }
  }

  private mutating func number(_ turn: UInt8) -> MemoryValue {
    defer { offset += OrderKey.numberLength }
    switch OrderKey.number(in: bytes, at: offset, turn: turn) {
    case .int(let int): return .int(int)
    case .double(let double): return .double(double)
    }
  }

  private mutating func text(_ turn: UInt8) -> MemoryValue {
    let start = offset
    var isItself = turn == 0
    while offset < bytes.count {
      if bytes[offset] ^ turn == 0 {
        if bytes[offset + 1] ^ turn == 1 { break }
        isItself = false
        offset += 1
      }
      offset += 1
    }
    let end = offset
    offset += OrderKey.endOfString.count
    return .text(isItself ? start..<end : takeSpare())
  }

  private mutating func takeSpare() -> Range<Int> {
    let length = Int(bytes.int64(at: spare))
    defer { spare += 8 + length }
    return spare + 8..<spare + 8 + max(0, length)
  }
}

extension IndexKey.Tag {
  /// A byte that orders the types.
  fileprivate var byte: UInt8 {
    UInt8(truncatingIfNeeded: rawValue - Self.nothing.rawValue + 1)
  }

  fileprivate init(byte: UInt8) {
    self = Self(rawValue: Int64(byte) + Self.nothing.rawValue - 1) ?? .nothing
  }
}
