import CDTJSON
import CDTTestSupport
import Testing

@testable import CDTDatastore
@testable import CDTIndex
@testable import CDTQuery
@testable import CDTSelector

/// Documents are put in order in memory, and on disk where there is too little of it.
@Suite struct ResultOrderTests {
  /// Keys in the order of the numbers 0, 1, 2…, which are added in another one.
  private static func sorted(_ count: Int, wanted: Int?, memory: Int) throws -> [Int64] {
    var random = SeededGenerator(seed: 5)
    var order = ResultOrder(wanted: wanted, memory: memory)
    for number in (0..<count).shuffled(using: &random) {
      var key = OrderKey()
      Array(String(1_000_000 + number).utf8).withUnsafeBytes { key.append(string: $0) }
      try order.add(key, number: Int64(number))
    }
    var numbers: [Int64] = []
    while let number = try order.takeNext() { numbers.append(number) }
    // What is over stays over.
    let (again, oncemore) = (try order.takeNext(), try order.takeNext())
    #expect(again == nil && oncemore == nil)
    return numbers
  }

  /// So many documents and so many wanted, in so much memory.
  static let cases: [(count: Int, wanted: Int?, memory: Int)] = [
    (0, nil, 1 << 20), (1, nil, 1 << 20), (1_000, nil, 1 << 20), (1_000, 10, 1 << 20),
    (1_000, 1_000, 1 << 20),
    (1_000, 2_000, 1 << 20), (0, 10, 1 << 20), (1_000, 0, 1 << 20),
    // On disk; a page that is larger than the memory goes there, too.
    (1_000, nil, 4_096), (1_000, nil, 0), (1_000, 500, 4_096), (5_000, .max, 65_536),
  ]

  @Test(arguments: cases.indices) func `keys come in order, once`(_ number: Int) throws {
    let (count, wanted, memory) = Self.cases[number]
    let given = try Self.sorted(count, wanted: wanted, memory: memory)
    // More than are wanted may be kept, but none is left out.
    let least = min(count, wanted ?? count)
    #expect(given.count >= least && given == Array(0..<Int64(given.count)))
  }

  /// While an index is filled, documents that it lacks come in between, and are themselves sorted on disk.
  @Test func `an index that lacks many documents gives each of them once, in order`() throws {
    try withTemporaryDirectory { directory in
      var options = DatastoreOptions()
      options.memoryBudget = 0
      let manager = try DatastoreManager(directory: directory, options: options)
      defer { manager.close() }
      let store = try manager.datastore(named: "store")
      try store.write { transaction in
        for number in 0..<3_000 {
          try transaction.createDocument(
            from: DocumentDraft(id: "d\(number)", body: ["a": .int(Int64(number * 7 % 3_000))]))
        }
      }
      try store.declareIndex(["a"], name: "by_a")
      try store.queryExtension().maintenance.build(only: nil) { $0.done < 1_000 }
      let query = try Query(["a": ["$gte": 0]], sort: ["a"], useIndex: "by_a")
      let found = try store.read { try $0.find(query) }.compactMap { $0.body["a"]?.intValue }
      #expect(found == Array(0..<3_000))
      #expect(try store.read { try $0.count(query) } == 3_000)
    }
  }
}
