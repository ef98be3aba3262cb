import JSON
import SQLite

/// Rows that are to be written to one index table, sorted before they are so that pages are filled one after the other.
///
/// A row is one run of bytes, so that sorting and writing it touches one place in memory:
///
/// | part | |
/// |---|---|
/// | key | for each field its type and its ``OrderKey``, turned around where the field descends |
/// | id | so that key and id compare, byte by byte, as the table orders rows |
/// | record | the row as SQLite stores it |
struct IndexRows: ~Copyable {
  private let descending: [Bool]
  private var bytes = RecordBytes()
  private var rows: [Row] = []
  /// The row being added.
  private var record = TableRecord()
  /// The id that was added last, and whether ids have only gone up.
  private var lastID = 0..<0
  private var areIDsSorted = true
  private var lastSequence = Int64.min

  fileprivate struct Row {
    /// The first sixteen bytes of the key, which decide most comparisons, as two integers.
    let prefix: UInt64
    let next: UInt64
    let start: Int
    /// Where the record begins, and in the lowest bits those of the document's sequence.
    private let place: Int
    /// Where it ends, twice, and one more if the key is no longer than its beginning.
    private let extent: Int

    private static let sequenceBits = 20

    init(
      prefix: UInt64, next: UInt64, start: Int, record: Int, end: Int, isWhole: Bool, sequence: Int64
    ) {
      self.prefix = prefix
      self.next = next
      self.start = start
      place = record << Self.sequenceBits | Int(sequence) & (1 << Self.sequenceBits - 1)
      extent = end << 1 | (isWhole ? 1 : 0)
    }

    var record: Int { place >> Self.sequenceBits }
    var end: Int { extent >> 1 }

    /// Whether the rows may be of one document; false is certain, and no key had to be fetched from memory for it.
    func mayShareDocument(with other: Row) -> Bool {
      (place ^ other.place) & (1 << Self.sequenceBits - 1) == 0
    }

    var isWhole: Bool { extent & 1 == 1 }
  }

  /// The document whose rows are being added.
  struct Document {
    let id: UnsafeRawBufferPointer
    let sequence: Int64
    let absent: Int64
  }

  init(_ definition: IndexDefinition) {
    descending = definition.fields.map(\.isDescending)
  }

  var isEmpty: Bool { rows.isEmpty }

  /// How much memory the rows take.
  var size: Int { bytes.count + rows.count * MemoryLayout<Row>.stride }

  /// Makes room for rows, so that they are not copied as they become many.
  mutating func reserve(_ count: Int) {
    rows.reserveCapacity(count)
    bytes.reserve(count * 80)
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
    bytes.append(document.id)
    let end = bytes.count
    // The rows of one document come one after the other.
    if document.sequence != lastSequence {
      noteOrder(id..<end)
      lastSequence = document.sequence
    }
    record.append(text: document.id)
    record.append(int: document.sequence)
    record.append(int: document.absent)
    bytes.append(record)
    record.removeAll()
    let (prefix, next) = bytes.withBytes { buffer in
      let bytes = JSONBytes(buffer)
      return (bytes.prefix(start, id), bytes.prefix(start + 8, id))
    }
    rows.append(
      Row(
        prefix: prefix, next: next, start: start, record: end, end: bytes.count, isWhole: id - start <= 16,
        sequence: document.sequence))
  }

  private mutating func noteOrder(_ id: Range<Int>) {
    if areIDsSorted {
      let last = lastID
      areIDsSorted = bytes.withBytes { buffer in
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
    case .zero:
      end(begin(key.tag), field: field)
      record.append(int: 0)
    case .int(let int): append(.int(int), field: field)
    case .double(let double): append(.double(double), field: field)
    case .text(let text): text.withUnsafeBytes { append(string: $0, field: field) }
    case .blob(let blob):
      // Such keys compare byte by byte as they are, and none is the beginning of another.
      let start = begin(key.tag)
      blob.withUnsafeBytes {
        bytes.append($0)
        record.append(blob: $0)
      }
      end(start, field: field)
    }
  }

  private mutating func append(_ number: JSONNumber?, field: Int) {
    guard let number else { return append(.nothing, field: field) }
    let start = begin(.number)
    let (double, rest) = OrderKey.parts(of: number)
    bytes.append(bigEndian: double)
    bytes.append(bigEndian: rest)
    end(start, field: field)
    switch number {
    case .int(let int): record.append(int: int)
    case .double(let double):
      // Equal numbers are one key.
      if let int = Int64(exactly: double) { record.append(int: int) } else { record.append(double: double) }
    }
  }

  @inline(__always)
  private mutating func append(string: UnsafeRawBufferPointer, field: Int) {
    let start = begin(.string)
    if string.contains(0) {
      var escaped: [UInt8] = []
      OrderKey.appendEscaped(string, to: &escaped)
      escaped.withUnsafeBytes { bytes.append($0) }
    } else {
      bytes.append(string)
      bytes.append(bigEndian: OrderKey.endOfString)
    }
    end(start, field: field)
    record.append(text: string)
  }

  @inline(__always)
  private mutating func begin(_ tag: IndexKey.Tag) -> Int {
    record.append(int: tag.rawValue)
    bytes.append(tag.byte)
    return bytes.count - 1
  }

  @inline(__always)
  private mutating func end(_ start: Int, field: Int) {
    if descending[field] { bytes.invert(from: start) }
  }

  // MARK: Writing

  /// Writes the rows into an image of the table, by the values and then by id. None are left here.
  mutating func move(into image: inout TableImage) {
    sort()
    bytes.withBytes { buffer in
      let bytes = JSONBytes(buffer)
      var last: Row?
      for row in rows {
        // An element that is there twice has the same row twice, and the table takes it once.
        if let last, row.isSame(as: last, in: bytes) { continue }
        image.append(bytes.slice(row.record, row.end))
        last = row
      }
    }
    rows = []
    bytes = RecordBytes()
  }

  private mutating func sort() {
    // Key and id are compared only where the beginnings of the keys leave it open.
    var room: [Row] = []
    RadixSort.sort(&rows, room: &room, by: \.next)
    RadixSort.sort(&rows, room: &room, by: \.prefix)
    bytes.withBytes { buffer in
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
  }
}

extension IndexRows.Row {
  /// The key with the id behind it.
  @inline(__always)
  fileprivate func key(in bytes: JSONBytes) -> UnsafeRawBufferPointer {
    bytes.slice(start, record)
  }

  @inline(__always)
  fileprivate func isSame(as other: IndexRows.Row, in bytes: JSONBytes) -> Bool {
    mayShareDocument(with: other) && prefix == other.prefix && next == other.next
      && Order(key(in: bytes), other.key(in: bytes)) == .same
  }
}

extension IndexKey.Tag {
  /// A byte that orders the types.
  fileprivate var byte: UInt8 {
    UInt8(truncatingIfNeeded: rawValue - Self.nothing.rawValue + 1)
  }
}
