import CDTDatastore
import CDTJSON
import CDTPlatform
import CDTSQLite
import CDTTestSupport
import Testing

@testable import CDTIndex
@testable import CDTQuery
@testable import CDTSelector

/// What is measured of indexes, and what the planner makes of it.
@Suite struct IndexStatisticsTests {
  /// 1,000 documents: half of them of one kind, the others of 50 kinds; every name once.
  private func fill(_ store: Datastore, _ range: Range<Int> = 0..<1_000) throws {
    try store.write { transaction in
      for number in range {
        let kind = number % 2 == 0 ? "common" : "kind \(number % 100)"
        try transaction.createDocument(
          from: DocumentDraft(
            id: "d\(number)",
            body: ["kind": .string(kind), "name": .string("n\(number)"), "age": .int(Int64(number % 10))]))
      }
    }
  }

  private func statistics(_ store: Datastore, _ name: String) throws -> IndexStatistics? {
    let indexes = try store.read { try QueryEngine($0).indexes }
    return indexes.catalog.entry(named: name)?.statistics
  }

  @Test func `rows and different values are counted, and values sampled`() throws {
    try withTemporaryDatastore { store in
      try fill(store)
      try store.ensureIndexed(["kind", "name"], name: "i")
      let found = try #require(try statistics(store, "i"))
      #expect(found.documents == 1_000 && found.rows == 1_000)
      #expect(found.distinct.count == 2 && (25...100).contains(found.distinct[0]))
      #expect(found.distinct[1] > 900)
      #expect(found.fields.map(\.keys.count) == [128, 128])
      let common = FieldAccess.points([OrderKey("common")])
      #expect((400...600).contains(found.rows(at: [common])))
      #expect(found.rows(at: [.points([OrderKey("kind 7")])]) < 40)
      let low = FieldAccess.range(lower: OrderKey("n0"), upper: OrderKey("n5"))
      #expect((0.4...0.6).contains(found.part(low, field: 1)))
    }
  }

  @Test func `an index is measured again when a fifth has changed`() throws {
    try withTemporaryDatastore { store in
      try fill(store)
      try store.ensureIndexed(["name"], name: "i")
      #expect(try statistics(store, "i")?.rows == 1_000)
      try fill(store, 1_000..<1_150)
      try store.updateIndexes()
      #expect(try statistics(store, "i")?.rows == 1_000)
      try fill(store, 1_150..<1_250)
      try store.updateIndexes()
      #expect(try statistics(store, "i")?.rows == 1_250)
      try store.rebuildIndexes(named: "i")
      #expect(try statistics(store, "i")?.rows == 1_250)
    }
  }

  @Test func `a common value is looked for in the documents, a rare value in the index`() throws {
    try withTemporaryDatastore { store in
      try fill(store)
      try store.ensureIndexed(["kind"], name: "i")
      func uses(_ selector: JSONObject) throws -> JSONValue? {
        try store.read { try $0.explain(Query(selector)) }.json["indexes"]?[0]?["used"]
      }
      #expect(try uses(["kind": ["$gte": "common"]]) == false)
      #expect(try uses(["kind": "kind 7"]) == true)
      #expect(try uses(["kind": ["$ne": "common"]]) == false)
      #expect(try uses(["kind": ["$gt": "kind 95"]]) == true)
    }
  }

  @Test func `another process sees what was measured`() throws {
    try withTemporaryDirectory { directory in
      let managers = try (0..<2).map { _ in try DatastoreManager(directory: directory) }
      defer { for manager in managers { try? manager.closeDatastore(named: "store") } }
      let store = try managers[0].datastore(named: "store")
      try fill(store)
      let other = try managers[1].datastore(named: "store")
      #expect(try other.count(["kind": "kind 7"]) == 10)
      try store.ensureIndexed(["kind"], name: "i")
      let mine = try #require(try statistics(store, "i"))
      let theirs = try #require(try statistics(other, "i"))
      #expect(mine == theirs)
      try store.deleteIndex(named: "i")
      try store.ensureIndexed(["name"], name: "i")
      #expect(try statistics(other, "i")?.distinct == [1_000])
    }
  }

  @Test func `figures that someone has damaged cost time at most`() throws {
    try withTemporaryDatastore { store in
      try fill(store)
      try store.ensureIndexed(["kind", "age"], name: "i")
      for damage in [
        "sample = 'x'", "sample = '[[3,1,2]]', distinct_values = '[0]'",
        "sample = '[]', distinct_values = '[]'",
        "rows = -5, documents = -1", "rows = 9223372036854775807, distinct_values = '[\"a\",null]'",
        "sample = '{}'", "sample = x'00', documents = 'many'",
      ] {
        let connection = try Connection(path: store.indexManager().path, mode: .readWrite)
        try connection.execute("UPDATE statistics SET \(damage); UPDATE state SET revision = revision + 1")
        connection.close()
        #expect(try store.count(["kind": "kind 7"]) == 10, "\(damage)")
        #expect(try store.find(["kind": "common", "age": 4], limit: 3, sort: ["age"]).count == 3)
      }
    }
  }

  @Test func `a set of numbers knows what it has`() {
    var set = NumberSet()
    let numbers: [Int64] = [1, 2, 40_000, 3, 40_001, 1_000_000_000_000, 2_000]
    let first = numbers.map { set.insert($0) }
    let second = numbers.map { set.insert($0) }
    let other = set.insert(4)
    #expect(first.allSatisfy { $0 } && !second.contains(true) && other)
    #expect(numbers.allSatisfy(set.contains) && set.count == 8)
    #expect(![0, 5, 39_999, 999_999_999_999, -1].contains(where: set.contains))
  }
}
