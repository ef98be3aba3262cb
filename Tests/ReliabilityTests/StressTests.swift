import CDTDatastore
import CDTJSON
import CDTQuery
import CDTTestSupport
import CDTWorkloads
import Foundation
import Testing

/// How long `StressTests` and `LinearizabilityTests` take: three seconds in `make test-more`, as long as one likes in `make stress`.
enum Stress {
  static let seconds = ProcessInfo.processInfo.environment["STRESS_SECONDS"].flatMap { Int($0) } ?? 3
}

/// Several processes of eight threads do everything to a store at once, and to another one that comes and goes.
@Suite(.timeLimit(.minutes(120))) struct StressTests {
  private static let processes = 3
  private static let threads = 8
  private static let counters = 4
  private static let accounts = 20

  /// What a worker says it did.
  private struct Report: Decodable {
    var raised: [Int64]
    var own: [String]
    var rivals: [[String]]
    var operations: [String: Int]
    var failures: [String]
  }

  private static func fill(_ store: Datastore) throws {
    try store.write { transaction in
      for number in 0..<counters {
        try transaction.createDocument(from: DocumentDraft(id: "counter-\(number)", body: ["n": 0]))
      }
      for number in 0..<accounts {
        try transaction.createDocument(from: DocumentDraft(id: "account-\(number)", body: ["balance": 0]))
      }
    }
  }

  @Test func `processes that do everything at once lose nothing and see nothing torn`() async throws {
    let directory = try temporaryDirectory(inMemory: true)
    defer { try? FileManager.default.removeItem(atPath: directory) }
    let manager = try DatastoreManager(directory: directory)
    let store = try await manager.datastore(named: "shared")
    func fill() throws { try Self.fill(store) }
    try fill()

    let listener = Task { try await Self.listen(to: store) }
    let workers = try (0..<Self.processes).map {
      try BuiltProgram(
        "cdt-store-worker", ["share", directory, "\($0)", "\(Self.threads)", "\(Stress.seconds)"])
    }
    var reports: [Report] = []
    for worker in workers {
      let (status, output) = try await worker.ended()
      #expect(status == 0)
      reports.append(try JSONDecoder().decode(Report.self, from: Data(output.utf8)))
    }
    try await store.createDocument(from: DocumentDraft(id: "end", body: [:]))
    print(Self.summary(reports))

    #expect(reports.flatMap(\.failures) == [])
    try Self.check(store, reports)
    // The datastore that came and went may be there or not, and has no rules but those of every datastore.
    func problemsOfPassing() throws -> [String] {
      let passing = try manager.datastore(named: "passing")
      defer { try? manager.closeDatastore(named: "passing") }
      return try StoreCheck.problems(of: passing)
    }
    #expect(try problemsOfPassing() == [])
    // Who listened meanwhile has heard everything, once.
    let heard = try await listener.value
    #expect(heard.map(\.sequence) == heard.map(\.sequence).sorted())
    #expect(Set(heard.map(\.sequence)).count == heard.count)
    let newest = Dictionary(heard.map { ($0.id, $0) }) { $1 }
    #expect(newest.values.sorted { $0.sequence < $1.sequence } == (try await store.changes()).documents)
    func close() throws { try manager.closeDatastore(named: "shared") }
    try close()
    let left = try FileManager.default.contentsOfDirectory(atPath: directory)
    #expect(left.filter { $0.hasPrefix(".") } == [])
  }

  /// Everything that is heard until the end.
  private static func listen(to store: Datastore) async throws -> [CDTDatastore.Change] {
    var heard: [CDTDatastore.Change] = []
    for try await changes in store.liveChanges() {
      heard += changes.documents
      if changes.documents.contains(where: { $0.id == "end" }) { break }
    }
    return heard
  }

  /// What the workers have done is there, and the checks find nothing.
  private static func check(_ store: Datastore, _ reports: [Report]) throws {
    for counter in 0..<counters {
      let raised = reports.reduce(0) { $0 + $1.raised[counter] }
      #expect(try store.document(withID: "counter-\(counter)").body["n"] == .int(raised))
    }
    let all = try store.read { try $0.allDocuments() }
    #expect(all.compactMap { $0.body["balance"]?.intValue }.reduce(0, +) == 0)
    let own = all.map(\.id).filter { $0.hasPrefix("own-") }
    #expect(own.sorted() == reports.flatMap(\.own).sorted())
    for (id, rivals) in Dictionary(grouping: reports.flatMap(\.rivals), by: \.[0]) {
      let revisions = rivals.compactMap { RevisionID($0[1]) }
      #expect(try store.read { try $0.missingRevisions(of: id, among: revisions) } == [])
    }
    for document in all where document.id.hasPrefix("attached-") {
      let content = try document.attachments["content"].map { String(decoding: try $0.data(), as: UTF8.self) }
      #expect(content == document.body["content"]?.stringValue)
    }
    #expect(try StoreCheck.problems(of: store) == [])
    try checkQueries(in: store, all)
  }

  /// Every index answers as the matcher does, before it is brought up to date and afterwards.
  private static func checkQueries(in store: Datastore, _ all: [DocumentRevision]) throws {
    let indexes = try store.listIndexes()
    #expect(Set(indexes.map(\.name)).isSuperset(of: ["by_group", "by_balance", "by_tag", "words"]))
    let words = indexes.map(\.definition).first { $0.name == "words" }
    var queries = [
      try Query(["balance": ["$gte": -1_000_000]], sort: ["balance"]), try Query(["balance": ["$lt": 0]]),
      try Query(["group": ["$gte": 3, "$lt": 7], "worker": 1]),
      try Query(["worker": -1, "group": ["$ne": 5]]),
      try Query(["tags": "a"]), try Query(["$text": ["$search": "note"]]),
    ]
    for group in 0..<10 {
      queries.append(try Query(["group": .int(Int64(group))]))
      queries.append(try Query(["tags": .string("tag-\(group)")]))
      queries.append(try Query(["$text": ["$search": .string("group\(group)")]]))
    }
    for isUpToDate in [false, true] {
      if isUpToDate { try store.updateIndexes() }
      for query in queries {
        let found = try store.read { try $0.find(query) }
        let expected = try query.find(in: all, textIndex: words)
        if query.sort.isEmpty {
          #expect(found.map(\.id).sorted() == expected.map(\.id).sorted())
        } else {
          #expect(found.map(\.id) == expected.map(\.id))
        }
        #expect(Set(found.map(\.revisionID)) == Set(expected.map(\.revisionID)))
      }
    }
  }

  private static func summary(_ reports: [Report]) -> String {
    let operations = reports.map(\.operations).reduce(into: [String: Int]()) {
      $0.merge($1, uniquingKeysWith: +)
    }
    let counts = operations.sorted { $0.key < $1.key }.map { "\($0.value) \($0.key)" }.joined(separator: ", ")
    return "stress: \(processes) processes of \(threads) threads, \(Stress.seconds) s: \(counts)"
  }
}
