import CDTDatastore
import JSON
import Testing

@testable import CDTQuery

/// Queries that meet documents which are not in the indexes yet pay for that, and some day the indexes catch up.
@Suite struct TailCostTests {
  /// A store with an index that 300 of its documents are not in yet, five of them with `"a": 7`.
  private func withTail(_ body: (Datastore) throws -> Void) throws {
    try withTemporaryDatastore { store in
      func write(_ numbers: Range<Int>) throws {
        try store.write { transaction in
          for number in numbers {
            let body: JSONObject = ["a": .int(Int64(number % 60)), "b": .int(Int64(number))]
            try transaction.createDocument(from: DocumentRevision(id: "d\(number)", body: body))
          }
        }
      }
      try write(0..<600)
      try store.ensureIndexed(["a"])
      try write(600..<900)
      #expect(try Self.tail(of: store) == 300)
      try body(store)
    }
  }

  private static func tail(of store: Datastore) throws -> Int64 {
    try store.indexManager().readers.withReader { reader in
      let snapshot = try reader.begin(indexFile: store.indexManager().path)
      defer { reader.end() }
      return snapshot.tailLength
    }
  }

  /// How many times a query has to be asked until the index has caught up, up to 1,000.
  private static func times(_ store: Datastore, _ ask: () throws -> Void) throws -> Int? {
    for number in 1...1_000 {
      try ask()
      if try tail(of: store) == 0 { return number }
    }
    return nil
  }

  @Test func `a query that meets all of a tail soon has the index catch up`() throws {
    for selector in [["a": ["$gt": 58]], ["b": 3]] as [JSONObject] {
      try withTail { store in
        let times = try Self.times(store) { _ = try store.find(selector).documents() }
        #expect(times.map { $0 > 50 && $0 < 80 } == true, "\(selector)")
      }
    }
  }

  @Test func `a query that finds what it asks for in the tail can leave it for long`() throws {
    try withTail { store in
      var count = 0
      let times = try Self.times(store) { count = try store.find(["a": 7]).documents().count }
      #expect(times == nil && count == 15)
    }
  }

  @Test func `a limit that is reached before costs nothing`() throws {
    try withTail { store in
      let times = try Self.times(store) { _ = try store.find(["a": ["$gt": 50]], limit: 5).documents() }
      #expect(times == nil)
    }
  }

  @Test func `ids from the index alone pass over the whole tail`() throws {
    try withTail { store in
      let times = try Self.times(store) { _ = try store.find(["a": 7]).documentIDs }
      #expect(times.map { $0 > 50 && $0 < 80 } == true)
    }
  }

  @Test func `when every document has been written again, values are still looked for by the index`() throws {
    try withTail { store in
      for document in try store.allDocuments() {
        var changed = document
        changed.body["b"] = 0
        try store.updateDocument(from: changed)
      }
      let plans = try [["a": 7], ["a": ["$gt": 50]]].map { try store.explain($0).description }
      #expect(plans[0].hasPrefix("index") && !plans[1].hasPrefix("index"), "\(plans)")
      for _ in 0..<5 { #expect(try store.find(["a": 7]).documents().count == 15) }
    }
  }
}
