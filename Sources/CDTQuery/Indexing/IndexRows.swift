import JSON
import SQLite

/// Rows that are to be written to one index table, sorted before they are so that pages are filled one after the other.
///
/// A row is one record of bytes, so that sorting and writing it touches one place in memory:
///
/// | part | |
/// |---|---|
/// | head | four integers: where the id starts, where it ends, the sequence, the absence |
/// | key | the values in a form that compares byte by byte as they do, see ``IndexRowKey`` |
/// | id | so that key and id compare as the table orders rows |
/// | spares | values that the key holds in another form, each behind its length |
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
    /// Whether that is the whole key.
    let isWhole: Bool
  }

  fileprivate static let headLength = 32

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

  // MARK: Adding

  /// Adds a row.
  ///
  /// - Parameter values: Appends the value of each field in turn.
  @inline(__always)
  mutating func add(_ document: Document, _ values: (inout IndexRows) -> Void) {
    let start = bytes.count
    for _ in 0..<Self.headLength { bytes.append(0) }
    values(&self)
    let id = bytes.count
    bytes.append(contentsOf: document.id)
    noteOrder(id..<bytes.count)
    let key = start + Self.headLength
    rows.append(
      Row(
        prefix: word(at: key, before: id), next: word(at: key + 8, before: id), start: start,
        isWhole: id - key <= 16))
    put(Int64(id), at: start)
    put(Int64(bytes.count), at: start + 8)
    put(document.sequence, at: start + 16)
    put(document.absent, at: start + 24)
    if spares.isEmpty { return }
    for spare in spares {
      for _ in 0..<8 { bytes.append(0) }
      put(Int64(spare.count), at: bytes.count - 8)
      bytes += spare
    }
    spares = []
  }

  /// Eight bytes of a key as an integer, the first highest; what is behind its end is 0.
  private func word(at start: Int, before end: Int) -> UInt64 {
    var word: UInt64 = 0
    for offset in start..<start + 8 { word = word << 8 | UInt64(offset < end ? bytes[offset] : 0) }
    return word
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

  private mutating func put(_ int: Int64, at start: Int) {
    for byte in 0..<8 { bytes[start + byte] = UInt8(truncatingIfNeeded: int >> Int64(8 * byte)) }
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
    return SortedIndexRows(descending: descending, bytes: bytes, rows: rows)
  }
}

extension IndexRows.Row {
  /// The key with the id behind it.
  @inline(__always)
  fileprivate func key(in bytes: JSONBytes) -> UnsafeRawBufferPointer {
    bytes.slice(start + IndexRows.headLength, Int(bytes.int64(at: start + 8)))
  }
}

/// The columns of an index table: a tag and a value for each field, the id, the sequence, the absence.
private final class SortedIndexRows: MemoryRows {
  let bytes: [UInt8]
  private let descending: [Bool]
  private let rows: [IndexRows.Row]

  init(descending: [Bool], bytes: [UInt8], rows: [IndexRows.Row]) {
    self.descending = descending
    self.bytes = bytes
    self.rows = rows
  }

  var count: Int { rows.count }

  func read(row: Int, of buffer: UnsafeRawBufferPointer, into values: inout [MemoryValue]) {
    let bytes = JSONBytes(buffer)
    let start = rows[row].start
    let (id, end) = (Int(bytes.int64(at: start)), Int(bytes.int64(at: start + 8)))
    var key = IndexRowKey(bytes, from: start + IndexRows.headLength, spares: end)
    for isDescending in descending {
      let (tag, value) = key.next(isDescending: isDescending)
      values.append(.int(tag.rawValue))
      values.append(value)
    }
    values.append(.text(id..<end))
    values.append(.int(bytes.int64(at: start + 16)))
    values.append(.int(bytes.int64(at: start + 24)))
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
