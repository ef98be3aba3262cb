import CDTJSON

/// Groups while documents or index rows are added to them, and then their rows.
///
/// Groups are found by a key: the ``OrderKey`` of the value of each field, then bits that tell missing fields from null. When the
/// groups fill the memory, values of further groups are sorted by their keys, on disk if they are many, and are grouped at the end.
struct GroupTable: ~Copyable {
  private let groups: ResolvedGroups
  private let stop: QueryStop
  private var memory: Int
  /// Whether each group comes after another, except that those of null and missing fields may alternate.
  private var isOrdered: Bool
  private var places: [OrderKey: Int] = [:]
  /// The key of each group, and what has been computed of it.
  private var keys: [OrderKey] = []
  private var counts: [Int] = []
  private var sums: [ExactSum] = []
  private var extremes: [OrderKey] = []
  /// Whether there was no memory for a group.
  private var isFull = false
  /// The memory of the groups, about.
  private var size = 0
  private var last = -1
  private var key = OrderKey()
  private var candidate = OrderKey()
  private var found = FieldValues()
  private var others: ResultOrder
  private var hasOthers = false
  private var rows: GroupRows

  /// The bytes at the end of a key, with a bit for each field that is not missing.
  private static let presence = MemoryLayout<UInt32>.size

  /// - Parameters:
  ///   - memory: The memory of the groups in bytes. Rows of results need more.
  ///   - isOrdered: Whether each group comes after another.
  init(_ groups: ResolvedGroups, memory: Int, isOrdered: Bool = false, _ stop: QueryStop = QueryStop()) {
    self.groups = groups
    self.memory = memory
    self.isOrdered = isOrdered
    self.stop = stop
    others = ResultOrder(wanted: nil, memory: memory)
    rows = GroupRows(groups, stop)
  }

  /// Whether input of later groups can be ignored.
  var isComplete: Bool { isOrdered && rows.isComplete }

  // MARK: Adding

  /// Adds a document, or each element of its unwound array.
  mutating func add(_ document: DocumentBytes) throws {
    guard let unwind = groups.unwind else {
      try add(DocumentInput(document, groups.inputs))
      return
    }
    found.read(unwind, in: document.body)
    for element in found.offsets {
      try add(DocumentInput(document, groups.inputs, element: element))
    }
  }

  /// Adds a part of a group, or a whole one, when the groups come one after another.
  ///
  /// - Parameters:
  ///   - input: The values of its fields.
  ///   - extremes: The least and greatest values; a key without a value is empty.
  mutating func add(
    _ input: some GroupInput, count: Int, sums: [ExactSum], extremes: [OrderKey]
  ) throws {
    writeKey(input)
    let group = try group() ?? insert()
    counts[group] += count
    for (slot, sum) in sums.enumerated() { self.sums[group * groups.sums.count + slot].add(sum) }
    for (slot, extreme) in extremes.enumerated() where !extreme.bytes.isEmpty {
      note(extreme, slot, of: group)
    }
  }

  private mutating func writeKey(_ input: some GroupInput) {
    key.removeAll()
    var presence = UInt32.max
    for number in 0..<groups.fields {
      let start = key.bytes.count
      input.appendKey(of: number, to: &key.bytes)
      if key.bytes[start] == OrderKey.null, input.isMissing(number) {
        presence &= ~(1 << UInt32(31 - number))
      }
    }
    withUnsafeBytes(of: presence.bigEndian) { key.bytes.append(contentsOf: $0) }
  }

  /// - Returns: Whether it was added to a group; otherwise it is kept for the end.
  @discardableResult
  mutating func add(_ input: some GroupInput) throws -> Bool {
    writeKey(input)
    if let group = try group() {
      counts[group] += 1
      update(group, input)
      return true
    } else {
      let length = key.bytes.count
      for number in groups.fields..<groups.inputs.count { input.appendKey(of: number, to: &key.bytes) }
      try others.add(key, number: Int64(length))
      hasOthers = true
      return false
    }
  }

  /// Adds the values of a document to the group to which something was added last, without counting it.
  mutating func addToLast(_ input: some GroupInput) { update(last, input) }

  /// Counts documents in the group to which something was added last.
  mutating func countInLast(_ count: Int) { counts[last] += count }

  /// The group with the key; `nil` if it is new and memory is full. The first group is always made.
  private mutating func group() throws -> Int? {
    if last >= 0, keys[last] == key { return last }
    if let known = places[key] {
      last = known
      return known
    }
    if isOrdered, last >= 0, keys[last].bytes.dropLast(Self.presence) != key.bytes.dropLast(Self.presence) {
      try finishGroups()
    }
    // Once values of other groups are kept apart, a new one may have some there, also if there is memory again.
    guard keys.isEmpty || !isFull && size < memory else {
      isFull = true
      return nil
    }
    return insert()
  }

  private mutating func insert() -> Int {
    last = keys.count
    places[key] = last
    keys.append(key)
    counts.append(0)
    for _ in groups.sums { sums.append(ExactSum()) }
    for _ in groups.extremes { extremes.append(OrderKey()) }
    size += key.bytes.count + 128 + groups.sums.count * 128 + groups.extremes.count * 64
    return last
  }

  private mutating func update(_ group: Int, _ input: some GroupInput) {
    for slot in groups.sums.indices {
      guard let number = input.number(of: groups.sums[slot]) else { continue }
      sums[group * groups.sums.count + slot].add(number)
    }
    for slot in groups.extremes.indices {
      candidate.removeAll()
      input.appendKey(of: groups.extremes[slot].input, to: &candidate.bytes)
      if candidate.bytes.first != OrderKey.null { note(candidate, slot, of: group) }
    }
  }

  /// Keeps a value if it is the least or greatest of its group so far.
  private mutating func note(_ candidate: OrderKey, _ slot: Int, of group: Int) {
    let place = group * groups.extremes.count + slot
    let isFirst = extremes[place].bytes.isEmpty
    let comesFirst =
      groups.extremes[slot].isMaximum ? extremes[place] < candidate : candidate < extremes[place]
    guard isFirst || comesFirst else { return }
    size += candidate.bytes.count - extremes[place].bytes.count
    extremes[place] = candidate
  }

  // MARK: Rows

  /// Ends the groups.
  ///
  /// - Returns: The page of their rows.
  mutating func finish() throws -> [JSONObject] {
    if groups.fields == 0, keys.isEmpty {
      // All documents are one group, also if there are none.
      key = OrderKey([UInt8](repeating: 0xFF, count: Self.presence))
      _ = insert()
    }
    try finishGroups()
    if hasOthers {
      (memory, isOrdered, isFull) = (.max, true, false)
      let groups = groups
      while let input = try others.takeNext({ StoredInput($0, groups, fieldsEnd: Int($1) - Self.presence) }) {
        try stop.check()
        try add(input)
      }
      try finishGroups()
    }
    return rows.page()
  }

  private mutating func finishGroups() throws {
    for group in keys.indices { try rows.add(row(of: group), key: keys[group]) }
    places.removeAll(keepingCapacity: keys.count < 1_000)
    keys.removeAll(keepingCapacity: true)
    counts.removeAll(keepingCapacity: true)
    sums.removeAll(keepingCapacity: true)
    extremes.removeAll(keepingCapacity: true)
    (size, last) = (0, -1)
  }

  private func row(of group: Int) -> JSONObject {
    var row = JSONObject()
    keys[group].bytes.withUnsafeBytes { buffer in
      let bytes = JSONBytes(buffer)
      var offset = 0
      let presence = UInt32(truncatingIfNeeded: bytes.prefix(bytes.count - Self.presence, bytes.count) >> 32)
      for number in 0..<groups.fields {
        let value = OrderKey.value(in: bytes, at: &offset)
        guard presence & 1 << UInt32(31 - number) != 0 else { continue }
        Self.set(value, at: groups.memberNames[number][...], in: &row)
      }
    }
    for (name, output) in groups.outputs { row[name] = value(of: output, group) }
    return row
  }

  private static func set(_ value: JSONValue, at names: ArraySlice<String>, in object: inout JSONObject) {
    guard let name = names.first else { return }
    guard names.count > 1 else { return object[name] = value }
    var inner = object[name]?.objectValue ?? [:]
    set(value, at: names.dropFirst(), in: &inner)
    object[name] = .object(inner)
  }

  private func value(of output: ResolvedGroups.Output, _ group: Int) -> JSONValue {
    switch output {
    case .count: return .int(Int64(counts[group]))
    case .sum(let slot): return sums[group * groups.sums.count + slot].total
    case .average(let slot): return sums[group * groups.sums.count + slot].average
    case .extreme(let slot):
      return extremes[group * groups.extremes.count + slot].bytes.withUnsafeBytes { bytes in
        var offset = 0
        return OrderKey.value(in: JSONBytes(bytes), at: &offset)
      }
    }
  }
}

/// Values that were kept for the end: the key of a group, then the keys of the other inputs.
private struct StoredInput: GroupInput {
  private let bytes: [UInt8]
  /// The range of the key of each input.
  private var parts: [Range<Int>] = []
  private let presence: UInt32

  /// - Parameter fieldsEnd: The end of the keys of the fields.
  init(_ stored: UnsafeRawBufferPointer, _ groups: ResolvedGroups, fieldsEnd: Int) {
    bytes = Array(stored)
    let text = JSONBytes(stored)
    presence = UInt32(truncatingIfNeeded: text.prefix(fieldsEnd, fieldsEnd + 4) >> 32)
    var offset = 0
    for number in groups.inputs.indices {
      if number == groups.fields { offset = fieldsEnd + 4 }
      let start = offset
      _ = OrderKey.value(in: text, at: &offset)
      parts.append(min(start, text.count)..<min(offset, text.count))
    }
  }

  func isMissing(_ input: Int) -> Bool { presence & 1 << UInt32(31 - input) == 0 }

  func appendKey(of input: Int, to bytes: inout [UInt8]) { bytes += self.bytes[parts[input]] }

  func number(of input: Int) -> JSONNumber? {
    bytes.withUnsafeBytes { buffer in
      var offset = parts[input].lowerBound
      return JSONNumber(OrderKey.value(in: JSONBytes(buffer), at: &offset))
    }
  }
}
