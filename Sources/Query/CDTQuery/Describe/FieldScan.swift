import CDTJSON

/// Collects the fields of documents from their JSON text, which is scanned once.
///
/// Memory is bounded by the limits of ``FieldSummary``, whatever the documents are.
package struct FieldScan {
  private let root: FieldNode
  private var documents = 0
  private var nodes = 0
  private var omitted = DistinctCounter()

  /// Only damaged text is deeper.
  private static let deepest = 600

  /// - Parameter isSampling: Whether the fields have samples of their values.
  package init(isSampling: Bool = false) {
    root = FieldNode(name: [], path: "", queryPath: "", isSampling: isSampling)
  }

  /// Adds the text of a document. Names that begin with `_` are not its fields.
  package mutating func add(_ text: UnsafeRawBufferPointer) {
    let bytes = JSONBytes(text)
    if bytes.kind(at: 0) == .object { _ = object(bytes, at: 0, of: root, depth: 0) }
    documents += 1
  }

  /// - Parameter indexed: The first fields of the indexes that exist; `nil` proposes none.
  package func summary(indexed: Set<String>?) -> FieldSummary {
    var fields: [FieldSummary.Field] = []
    root.collect(into: &fields)
    return FieldSummary(
      documents: documents, fields: fields, omittedFields: omitted.count,
      proposedIndexes: indexed.map { FieldSummary.proposals(for: fields, of: documents, indexed: $0) } ?? [])
  }

  // MARK: Values. Each function returns the offset after what it has read.

  private mutating func value(_ bytes: JSONBytes, at start: Int, of node: FieldNode, depth: Int) -> Int {
    node.enter(documents)
    switch bytes.kind(at: start) {
    case .object:
      node.objects += 1
      return object(bytes, at: start, of: node, depth: depth)
    case .array:
      node.arrays += 1
      return array(bytes, at: start, of: node, depth: depth)
    case .string:
      node.strings += 1
      let end = bytes.endOfString(at: start)
      node.add(DistinctCounter.hash(bytes.slice(start, end), kind: 0), bytes, at: start)
      return end
    case .number:
      node.numbers += 1
      let end = bytes.endOfValue(at: start)
      node.add(Self.hash(ofNumber: bytes, at: start, to: end), bytes, at: start)
      return end
    case .null: node.nulls += 1
    case .true, .false: node.booleans += 1
    case .invalid: break
    }
    let end = bytes.endOfValue(at: start)
    node.add(DistinctCounter.hash(bytes.slice(start, end), kind: 0), bytes, at: start)
    return end
  }

  /// Equal numbers have the same hash, also 42 and 42.0.
  private static func hash(ofNumber bytes: JSONBytes, at start: Int, to end: Int) -> UInt64 {
    switch bytes.number(at: start) {
    case .int(let int)?: return DistinctCounter.mixed(UInt64(bitPattern: int))
    case .double(let double)?:
      if let int = Int64(exactly: double) { return DistinctCounter.mixed(UInt64(bitPattern: int)) }
      return DistinctCounter.mixed(double.bitPattern ^ 1 << 63)
    case nil: return DistinctCounter.hash(bytes.slice(start, end), kind: 0)
    }
  }

  private mutating func object(_ bytes: JSONBytes, at start: Int, of node: FieldNode, depth: Int) -> Int {
    var offset = bytes.skipSpace(start + 1)
    if bytes[offset] == UInt8(ascii: "}") { return offset + 1 }
    var expected = 0
    while bytes[offset] == UInt8(ascii: "\"") {
      let nameEnd = bytes.endOfString(at: offset)
      let name = bytes.slice(offset + 1, nameEnd - 1)
      let start = bytes.skipSpace(bytes.skipSpace(nameEnd) + 1)
      if depth == 0, name.first == UInt8(ascii: "_") {
        offset = bytes.endOfValue(at: start)
      } else if depth < Self.deepest, let child = child(named: name, of: node, &expected) {
        offset = value(bytes, at: start, of: child, depth: depth + 1)
      } else {
        omitted.insert(DistinctCounter.hash(name, kind: UInt64(bitPattern: Int64(node.number))))
        offset = bytes.endOfValue(at: start)
      }
      offset = bytes.skipSpace(offset)
      guard bytes[offset] == UInt8(ascii: ",") else { break }
      offset = bytes.skipSpace(offset + 1)
    }
    return offset + 1
  }

  private mutating func array(_ bytes: JSONBytes, at start: Int, of node: FieldNode, depth: Int) -> Int {
    var offset = bytes.skipSpace(start + 1)
    if bytes[offset] == UInt8(ascii: "]") { return offset + 1 }
    guard depth < Self.deepest, let elements = elements(of: node) else { return bytes.endOfValue(at: start) }
    while offset < bytes.count {
      offset = bytes.skipSpace(value(bytes, at: offset, of: elements, depth: depth + 1))
      guard bytes[offset] == UInt8(ascii: ",") else { break }
      offset = bytes.skipSpace(offset + 1)
    }
    return offset + 1
  }

  // MARK: Nodes

  /// - Parameter expected: The position of the child that was found last in the same object, and one: most objects have the
  ///   same order.
  private mutating func child(
    named name: UnsafeRawBufferPointer, of node: FieldNode, _ expected: inout Int
  ) -> FieldNode? {
    if let found = node.child(named: name, from: expected) {
      expected = found + 1
      return node.children[found]
    }
    guard nodes < FieldSummary.maximumFields,
      node.path.utf8.count + name.count < FieldSummary.maximumPathLength,
      node === root || node.children.count < FieldSummary.maximumFieldsOfObject
    else { return nil }
    nodes += 1
    let child = node.makeChild(named: Array(name), number: nodes)
    expected = node.children.count
    return child
  }

  private mutating func elements(of node: FieldNode) -> FieldNode? {
    if let elements = node.elements { return elements }
    guard nodes < FieldSummary.maximumFields else { return nil }
    nodes += 1
    let elements = FieldNode(
      name: [], path: node.path + "[]", queryPath: node.queryPath, number: nodes, isSampling: node.isSampling)
    node.elements = elements
    return elements
  }
}

/// A field, with those in it.
private final class FieldNode {
  /// The name as it is spelled in stored JSON.
  let name: [UInt8]
  let path: String
  let queryPath: String
  let number: Int
  private(set) var children: [FieldNode] = []
  private var positions: [[UInt8]: Int] = [:]
  var elements: FieldNode?

  var nulls = 0, booleans = 0, numbers = 0, strings = 0, arrays = 0, objects = 0
  private var documents = 0
  private var lastDocument = -1
  private var distinct = DistinctCounter()
  private var examples: [JSONValue] = []

  /// The values with their hashes and numbers, while they are few; `nil` if they are not.
  private var counts: [UInt64: FieldSummary.Field.ValueCount]? = [:]

  let isSampling: Bool
  private var sample: [(rank: UInt64, value: JSONValue)] = []
  private var values: UInt64 = 0
  /// A value is in the sample if its rank, which is pseudorandom, is below.
  private var greatestRank = UInt64.max

  private static let maximumExamples = 3
  private static let longestExample = 60

  init(name: [UInt8], path: String, queryPath: String, number: Int = 0, isSampling: Bool) {
    self.isSampling = isSampling
    self.name = name
    self.path = path
    self.queryPath = queryPath
    self.number = number
  }

  /// The position of a child, which is often the expected one.
  func child(named name: UnsafeRawBufferPointer, from expected: Int) -> Int? {
    if expected < children.count, name.elementsEqual(children[expected].name) { return expected }
    return positions[Array(name)]
  }

  func makeChild(named name: [UInt8], number: Int) -> FieldNode {
    let segment = FieldPath(segments: [FieldPath.Segment(name: name.withUnsafeBytes(JSONString.unescaped))])
      .text
    let separator = path.isEmpty ? "" : "."
    let child = FieldNode(
      name: name, path: path + separator + segment, queryPath: queryPath + separator + segment,
      number: number, isSampling: isSampling)
    positions[name] = children.count
    children.append(child)
    return child
  }

  func enter(_ document: Int) {
    guard lastDocument != document else { return }
    lastDocument = document
    documents += 1
  }

  func add(_ hash: UInt64, _ bytes: JSONBytes, at start: Int) {
    if distinct.insert(hash), examples.count < Self.maximumExamples {
      examples.append(Self.example(bytes, at: start))
    }
    counts?[hash, default: .init(value: Self.example(bytes, at: start))].count += 1
    if let known = counts?.count, known > FieldSummary.maximumCounts { counts = nil }
    if isSampling { addToSample(bytes, at: start) }
  }

  private func addToSample(_ bytes: JSONBytes, at start: Int) {
    values += 1
    let rank = DistinctCounter.mixed(values)
    guard rank < greatestRank else { return }
    sample.append((rank, Self.example(bytes, at: start)))
    while sample.count > FieldSummary.maximumSample {
      greatestRank /= 2
      sample.removeAll { $0.rank >= greatestRank }
    }
  }

  private static func example(_ bytes: JSONBytes, at start: Int) -> JSONValue {
    let value = bytes.value(at: start)
    guard let text = value.stringValue, text.utf8.count > longestExample else { return value }
    var cut = text.prefix(longestExample)
    // A character can have any number of bytes.
    while cut.utf8.count > longestExample { cut.removeLast() }
    return .string(cut + "…")
  }

  func collect(into fields: inout [FieldSummary.Field]) {
    if number > 0 {
      let counts: [(JSONType, Int)] = [
        (.null, nulls), (.boolean, booleans), (.number, numbers), (.string, strings), (.array, arrays),
        (.object, objects),
      ]
      let types = Dictionary(
        counts.filter { $1 > 0 }.map { ($0.rawValue, $1) }, uniquingKeysWith: { first, _ in first })
      fields.append(
        FieldSummary.Field(
          path: path, documents: documents, types: types,
          distinct: min(distinct.count, nulls + booleans + numbers + strings),
          isDistinctExact: distinct.isExact, examples: examples,
          counts: self.counts?.sorted {
            ($1.value.count, $0.value.value.text, $0.key) < ($0.value.count, $1.value.value.text, $1.key)
          }.map(\.value),
          sample: isSampling && self.counts == nil ? sample.map(\.value) : nil, queryPath: queryPath))
    }
    for child in children { child.collect(into: &fields) }
    elements?.collect(into: &fields)
  }
}
