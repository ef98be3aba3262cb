import CDTDatastore
import CDTJSON
import CDTPlatform
import CDTRandomDocuments
import CDTTestSupport
import Testing

@testable import CDTPlan
@testable import CDTQuery
@testable import CDTSelector

/// The order of distances from bounds of them, whatever the bounds are.
@Suite struct NearestRowTests {
  private final class ListedBounds: DistanceBounds {
    private var rest: ArraySlice<(bound: Double, number: Int64)>
    private(set) var rowsRead = 0
    var candidates: NumberSet?

    init(_ bounds: [(bound: Double, number: Int64)]) { rest = bounds.sorted { $0.bound < $1.bound }[...] }

    func next() -> (bound: Double, number: Int64)? {
      guard let first = rest.popFirst() else { return nil }
      rowsRead += 1
      return first
    }
  }

  @Test(arguments: 0..<40) func `documents come in the order of their distances`(round: Int) throws {
    var random = RandomDocuments(seed: testSeed(9_000 + UInt64(round)), scope: .everything)
    try withTemporaryDirectory(inMemory: true) { directory in
      let manager = try DatastoreManager(directory: directory)
      defer { manager.close() }
      let store = try manager.datastore(named: "store")
      for number in 0..<60 {
        try store.createDocument(
          from: DocumentDraft(id: "doc-\(number)", body: ["a": random.nearbyValue()]))
      }
      var near = random.near()
      if random.chance(50) { near["$maxDistance"] = nil }
      let query = try Query(["a": ["$near": .object(near)]])
      try store.read { transaction in
        let expected = try transaction.find(query).map(\.id)
        let resolved = try ResolvedQuery(query)
        let field = try #require(resolved.selector.clause.near)
        // Bounds of the documents' distances, some equal to them, some repeated, and some of documents without one.
        var bounds: [(bound: Double, number: Int64)] = []
        let everything = try Query(["_id": ["$exists": true]])
        let cursor = try QueryEngine(transaction).cursor(everything)
        try cursor.forEachDocument { _, number, bytes in
          let distance = field.distance(of: bytes) ?? 0
          bounds.append((distance - Double(random.number(below: 3)) * abs(distance) / 2, number))
          if random.chance(20) { bounds.append((distance + 1, number)) }
        }
        cursor.end()
        let start: OrderKey? =
          try random.chance(50)
          ? nil
          : expected.first.map { id in
            var key = OrderKey()
            try DocumentBytes.with(transaction.document(withID: id).body, id: id, revision: "1-a") {
              _ = resolved.sort.write($0, to: &key)
            }
            return key
          }
        let rows = try NearestRows(
          field, ListedBounds(bounds), by: resolved.sort, after: start, completeUpTo: nil,
          on: transaction.connection())
        defer { rows.end() }
        var found: [String] = []
        while let row = try rows.nextRow() { found.append(row.id) }
        #expect(found == Array(expected.dropFirst(start == nil ? 0 : 1)))
      }
    }
  }

  @Test func `a heap gives the least first`() {
    var random = RandomDocuments(seed: testSeed(9_100))
    for count in [0, 1, 2, 3, 10, 100] {
      var heap = MinimumHeap<Int>()
      var all: [Int] = []
      for _ in 0..<count {
        let number = random.number(below: 20)
        heap.insert(number)
        all.append(number)
      }
      var taken: [Int] = []
      while let least = heap.takeMinimum() { taken.append(least) }
      #expect(taken == all.sorted())
    }
  }
}
