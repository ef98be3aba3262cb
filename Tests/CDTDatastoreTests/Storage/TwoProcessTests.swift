import CDTDatastore
import CDTQuery
import Foundation
import JSON
import TestSupport
import Testing

/// Several processes write to one store and query it at once, with indexes.
///
/// `make test` gives them a few seconds, `STRESS_SECONDS=60 make test` a minute.
@Suite(.timeLimit(.minutes(30))) struct TwoProcessTests {
  private static let counters = 4
  private static let accounts = 20

  /// What a worker says it did.
  private struct Report: Codable {
    var raised: [Int64] = []
    var own: [String] = []
    var operations: [String: Int] = [:]
    var busy = 0
    var failures: [String] = []
  }

  private static var seconds: Int {
    ProcessInfo.processInfo.environment["STRESS_SECONDS"].flatMap(Int.init) ?? 3
  }

  private static func fill(_ store: Datastore) throws {
    try store.write { transaction in
      for number in 0..<counters {
        try transaction.createDocument(from: DocumentRevision(id: "counter-\(number)", body: ["n": 0]))
      }
      for number in 0..<accounts {
        try transaction.createDocument(from: DocumentRevision(id: "account-\(number)", body: ["balance": 0]))
      }
    }
  }

  @Test func `processes that write and query at once lose nothing and see nothing torn`() async throws {
    let directory = try temporaryDirectory()
    defer { removeDirectory(directory) }
    let manager = try DatastoreManager(directory: directory)
    defer { manager.closeDatastore(named: "shared") }
    let store = try manager.datastore(named: "shared")
    func fill() throws { try Self.fill(store) }
    try fill()

    let listener = Task { try await store.heard(until: "end") }
    let workers = try (0..<3).map {
      try BuiltProgram("store-worker", ["share", directory, "\($0)", "\(Self.seconds)"])
    }
    var reports: [Report] = []
    for worker in workers {
      let (status, output) = try await worker.ended()
      #expect(status == 0)
      reports.append(try JSONDecoder().decode(Report.self, from: Data(output.utf8)))
    }
    try store.createDocument(from: DocumentRevision(id: "end", body: [:]))
    print(Self.summary(reports))

    #expect(reports.flatMap(\.failures) == [])
    for report in reports { #expect(report.operations.values.reduce(0, +) > 0) }
    for counter in 0..<Self.counters {
      let raised = reports.reduce(0) { $0 + $1.raised[counter] }
      #expect(try store.document(withID: "counter-\(counter)").body["n"] == .int(raised))
    }
    let all = try store.allDocuments()
    #expect(all.compactMap { $0.body["balance"]?.intValue }.reduce(0, +) == 0)
    let own = all.compactMap(\.id).filter { $0.hasPrefix("own-") }
    #expect(own.sorted() == reports.flatMap(\.own).sorted())
    #expect(try store.checkIntegrity() == [])
    try Self.checkQueries(in: store, all)

    // Who listened meanwhile has heard everything, once.
    let heard = try await listener.value
    #expect(heard.isRising)
    #expect(heard.newest == (try store.changes()).documents)
  }

  /// Every index answers as the matcher does, before it is brought up to date and afterwards.
  private static func checkQueries(in store: Datastore, _ all: [DocumentRevision]) throws {
    #expect(Set(try store.listIndexes().map(\.name)).isSuperset(of: ["by_group", "by_balance", "by_tag"]))
    var queries = [
      try Query(["balance": ["$gte": -1_000_000]], sort: ["balance"]), try Query(["balance": ["$lt": 0]]),
      try Query(["group": ["$gte": 3, "$lt": 7], "worker": 1]),
      try Query(["worker": -1, "group": ["$ne": 5]]),
      try Query(["tags": "a"]),
    ]
    for group in 0..<10 {
      queries.append(try Query(["group": .int(Int64(group))]))
      queries.append(try Query(["tags": .string("tag-\(group)")]))
    }
    for isUpToDate in [false, true] {
      if isUpToDate { try store.updateAllIndexes() }
      for query in queries {
        let found = try store.find(query).documents()
        let expected = try query.find(in: all)
        if query.sort.isEmpty {
          #expect(found.compactMap(\.id).sorted() == expected.compactMap(\.id).sorted())
        } else {
          #expect(found.map(\.id) == expected.map(\.id))
        }
        #expect(Set(found.map(\.revision)) == Set(expected.map(\.revision)))
      }
    }
  }

  private static func summary(_ reports: [Report]) -> String {
    let operations = reports.map(\.operations).reduce(into: [String: Int]()) {
      $0.merge($1, uniquingKeysWith: +)
    }
    let counts = operations.sorted { $0.key < $1.key }.map { "\($0.value) \($0.key)" }.joined(separator: ", ")
    return "\(reports.count) processes, \(seconds) s: \(counts), \(reports.reduce(0) { $0 + $1.busy }) busy"
  }
}
