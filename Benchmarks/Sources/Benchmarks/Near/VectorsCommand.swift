import ArgumentParser
import CDTDatastore
import CDTJSON
import CDTQuery
import CSQLiteYardstick

struct VectorsCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "vectors",
    abstract: "Measure an index of vectors: the ten nearest, its size and its writes.",
    discussion: """
      Processor time of the calling thread. The yardstick is a pass in C over as many codes in memory, which keeps the greatest product. \
      Answers are compared with those of the matcher.
      """)

  @Option(help: "How many documents the store has.")
  var documents = 100_000
  @Option(help: "How many numbers a vector has.")
  var length = 384
  @Option(help: "Where the stores lie meanwhile.")
  var directory = "Benchmarks/data"

  func run() throws {
    let scratch = try Scratch(directory)
    defer { try? scratch.remove() }
    print("\(try Machine(directory: scratch.path).summary)\n")
    let table = try FindingVectors(scratch, documents: documents, length: length).measure()
    print("\(table.title)\n\n\(table.text)\n")
  }
}

/// The nearest vectors by an index, beside a pass in C over the same number of codes.
private struct FindingVectors {
  let scratch: Scratch
  let documents: Int
  let length: Int

  private static let rounds = 11
  private static let writes = 400
  /// The number of documents of a group, which the filtered query selects.
  private static let group = 1_000

  init(_ scratch: Scratch, documents: Int, length: Int) {
    (self.scratch, self.documents, self.length) = (scratch, documents, length)
  }

  func measure() throws -> MarkdownTable {
    var manager = try DatastoreManager(directory: scratch.path)
    var store = try manager.datastore(named: "store")
    try fill(store)
    try store.ensureIndexed(["group"])
    let build = try time { try store.ensureIndexed(["v"], .vector(length)) }
    let bytes = try store.listIndexes().first { $0.type == .vector }?.bytes ?? 0
    var table = MarkdownTable(
      "\(Spelling.count(documents)) vectors of \(length) numbers, ms", columns: ["", "ours", "C", "ratio"])
    func add(_ name: String, _ ours: Double, _ yardstick: Double) {
      table.append([
        name, Spelling.number(ours), Spelling.number(yardstick), Spelling.number(ours / yardstick),
      ])
    }
    let pass = try pass()
    let condition: JSONObject = ["$near": ["$vector": .array(vector(-1).map { .double($0) })]]
    let near = try Query(["v": .object(condition)], limit: 10)
    let answer = try near.find(in: store.read { try $0.find(Query([:])) }).map(\.id)
    func find(_ query: Query) throws -> [String] { try store.read { try $0.find(query) }.map(\.id) }
    guard try find(near) == answer else { throw BenchError("other documents than the matcher's") }
    var first: [Double] = []
    for _ in 0..<Self.rounds {
      try manager.closeDatastore(named: "store")
      manager = try DatastoreManager(directory: scratch.path)
      store = try manager.datastore(named: "store")
      _ = try store.count(["group": 1])
      first.append(try time { _ = try find(near) })
    }
    add("the ten nearest, first request", first.median, pass)
    add(
      "the ten nearest, again", try (0..<Self.rounds).map { _ in try time { _ = try find(near) } }.median,
      pass)
    let one: JSONObject = ["group": 1]
    let filtered = try Query(["v": .object(condition), "group": 1], limit: 10)
    add(
      "the ten nearest of \(Self.group), beside reading these",
      try (0..<Self.rounds).map { _ in try time { _ = try find(filtered) } }.median,
      try (0..<Self.rounds).map { _ in try time { _ = try find(Query(one)) } }.median)
    add("megabytes, beside those of the codes", Double(bytes) / 1e6, Double(documents * length) / 1e6)
    table.append(["build", Spelling.number(build), "", ""])
    let (with, without) = try writes()
    add("a write of its own, beside an index of values", with, without)
    try manager.closeDatastore(named: "store")
    return table
  }

  /// A pass over codes in memory.
  private func pass() throws -> Double {
    let codes = (0..<documents * length).map { Int8(truncatingIfNeeded: $0 &* 2_654_435_761 >> 16) }
    return try (0..<Self.rounds).map { _ in
      try time {
        let greatest = codes.withUnsafeBufferPointer { codes in
          (0..<documents).reduce(Int32.min) { greatest, document in
            guard let base = codes.baseAddress else { return greatest }
            return max(greatest, yardstick_product(base + document * length, base, Int32(length)))
          }
        }
        guard greatest > 0 else { throw BenchError("no product") }
      }
    }.median
  }

  /// The milliseconds of a write, with an index of vectors and with one of values.
  private func writes() throws -> (Double, Double) {
    let manager = try DatastoreManager(directory: "\(scratch.path)/writes")
    let stores = try ["vectors", "values"].map { try manager.datastore(named: $0) }
    defer { for store in stores { try? manager.closeDatastore(named: store.name) } }
    for store in stores { try fill(store, 10_000) }
    try stores[0].ensureIndexed(["v"], .vector(length))
    try stores[1].ensureIndexed(["group"])
    var times: [[Double]] = [[], []]
    for number in 0..<Self.writes {
      for (position, store) in stores.enumerated() {
        var document = try store.document(withID: id(number * 7 % 10_000))
        document.body = body(number + 20_000)
        times[position].append(try time { try store.updateDocument(from: document) })
      }
    }
    return (times[0].median, times[1].median)
  }

  private func time(_ body: () throws -> Void) throws -> Double {
    let start = Clock.thread.now
    try body()
    return Double(Clock.thread.now - start) / 1e6
  }

  // MARK: Documents

  private func id(_ number: Int) -> String { "v\(10_000_000 + number)" }

  /// Numbers with the distribution of a sum of four dice, which is close to the usual one of embeddings.
  private func vector(_ number: Int) -> [Double] {
    var state = UInt64(bitPattern: Int64(number)) &* 0x9E37_79B9_7F4A_7C15 | 1
    return (0..<length).map { _ in
      var sum = 0.0
      for _ in 0..<4 {
        state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        sum += Double(state >> 40) / Double(1 << 24) - 0.5
      }
      return (sum * 1e6).rounded() / 1e6
    }
  }

  private func body(_ number: Int) -> JSONObject {
    [
      "v": .array(vector(number).map { .double($0) }),
      "group": .int(Int64(number % max(1, documents / Self.group))),
    ]
  }

  private func fill(_ store: Datastore, _ count: Int? = nil) throws {
    let count = count ?? documents
    for first in stride(from: 0, to: count, by: 1_000) {
      try store.write { transaction in
        for number in first..<min(count, first + 1_000) {
          try transaction.createDocument(from: DocumentDraft(id: id(number), body: body(number)))
        }
      }
    }
  }
}
