import CDTDatastore
import CDTJSON
import CDTQuery
import CDTReplication
import CDTTestSupport
import Foundation

/// Changes of two stores and replications between them, drawn from a seed. A history that fails can be run again with
/// fewer steps.
struct ReplicationHistory: Sendable {
  enum Network: String, Sendable, CaseIterable {
    /// Both stores are in this process.
    case none
    /// One store is behind a server, or behind a proxy that disturbs connections.
    case server, faulty
  }

  enum Filter: Sendable, Hashable {
    case none, ids, selector
  }

  /// The number in an edit is its seed.
  enum Step: Sendable, Hashable {
    case editLeft(UInt64), editRight(UInt64)
    /// Replicates in both directions, while both stores are edited.
    case replicate(batchSize: Int, edits: [UInt64])
  }

  let seed: UInt64
  let network: Network
  var filter: Filter
  var steps: [Step]
  private let ids: [String]

  static let selector: JSONObject = ["number": ["$mod": [2, 0]]]

  init(seed: UInt64, network: Network) {
    var random = SeededGenerator(seed: seed)
    func number(_ below: Int) -> Int { Int.random(in: 0..<below, using: &random) }
    (self.seed, self.network) = (seed, network)
    filter = [.none, .none, .none, .none, .ids, .selector][number(6)]
    ids = RandomHistory.ids(seed: seed, count: 8)
    steps = []
    for batchSize in [[1, 3, 1_000], [2, 7, 1_000], [3, 1_000]][number(3)] {
      for _ in 0..<20 {
        steps.append(.editLeft(random.next()))
        steps.append(.editRight(random.next()))
      }
      let edits = (0..<(number(2) * 6)).map { _ in random.next() }
      steps.append(.replicate(batchSize: batchSize, edits: edits))
    }
  }

  // MARK: Running

  /// Runs the history with new stores.
  ///
  /// - Returns: What is wrong, in words.
  func run() async throws -> [String] {
    switch network {
    case .none:
      return try await withStores { left, right in
        try await run(left, right) { Replication($0, with: right) }
      }
    case .server:
      return try await withServedStore { served in
        try await run(served.local, served.remote) { Replication($0, with: try served.database()) }
      }
    case .faulty:
      return try await withServedStore { served in
        let proxy = try await FaultyProxy(to: served.server.port, seed: seed, .some(30))
        var database = try RemoteDatabase("http://127.0.0.1:\(proxy.port)/db")
        // A request that is sent again counts as a fault; on a busy machine an answer takes its time.
        database.timeout = .seconds(300)
        let problems = try await run(served.local, served.remote) { [database] in
          Replication($0, with: database)
        }
        await proxy.close()
        return problems + proxy.transfers.unexcused()
      }
    }
  }

  private func run(
    _ left: Datastore, _ right: Datastore,
    _ replication: @Sendable (Replication.Direction) throws -> Replication
  ) async throws -> [String] {
    for step in steps {
      switch step {
      case .editLeft(let seed): try edit(left, seed)
      case .editRight(let seed): try edit(right, seed)
      case .replicate(let batchSize, let edits):
        var replication = try replication(.both)
        replication.filter = replicationFilter
        replication.batchSize = batchSize
        replication.retries.firstPause = .milliseconds(1)
        replication.retries.longestPause = .milliseconds(10)
        replication.retries.maximumAttempts = 100
        let before = (try StoreContent(of: left), try StoreContent(of: right))
        let problems = try await replicate(replication, left, right, edits, before)
        if !problems.isEmpty { return problems }
      }
    }
    return []
  }

  private func replicate(
    _ replication: Replication, _ left: Datastore, _ right: Datastore, _ edits: [UInt64],
    _ before: (left: StoreContent, right: StoreContent)
  ) async throws -> [String] {
    if !edits.isEmpty {
      async let run = Replicator(replication, of: left).replicate()
      for (number, seed) in edits.enumerated() { try edit(number % 2 == 0 ? left : right, seed) }
      _ = try await run
    }
    let result = try await Replicator(replication, of: left).replicate()
    let (one, other) = (try StoreContent(of: left), try StoreContent(of: right))
    var problems = result.rejected.map { "\($0) was rejected" }
    switch filter {
    case .none: problems += one.differences(from: other)
    case .ids:
      let wanted = Set(filteredIDs.map { Array($0.utf8) })
      problems += one.differences(from: other).filter { text in
        wanted.contains { text.utf8.starts(with: $0 + Array(":\n".utf8)) }
      }
      if edits.isEmpty {
        problems += one.only { !wanted.contains($0) }.differences(
          from: before.left.only { !wanted.contains($0) })
        problems += other.only { !wanted.contains($0) }.differences(
          from: before.right.only { !wanted.contains($0) })
      }
    case .selector:
      let selector = try QuerySelector(Self.selector)
      problems += try one.lacking(in: right, selector) + other.lacking(in: left, selector)
    }
    for store in [left, right] { problems += try await store.checkIntegrity().map(\.message) }
    return problems
  }

  private func edit(_ store: Datastore, _ seed: UInt64) throws {
    var history = RandomHistory(seed: seed, ids: ids)
    try history.change(store, times: 1)
  }

  private var filteredIDs: [String] { Array(ids.prefix(4)) }

  private var replicationFilter: ReplicationFilter? {
    switch filter {
    case .none: nil
    case .ids: .documentIDs(filteredIDs)
    case .selector: .selector(Self.selector)
    }
  }

  // MARK: Shrinking

  /// The shortest history found that still fails, and what is wrong with it.
  func shrunk(_ problems: [String]) async -> (history: ReplicationHistory, problems: [String]) {
    var (best, found) = (self, problems)
    if filter != .none {
      var candidate = best
      candidate.filter = .none
      if let problems = await candidate.failure() { (best, found) = (candidate, problems) }
    }
    var length = max(1, best.steps.count / 2)
    while true {
      var start = 0
      while start < best.steps.count {
        var candidate = best
        candidate.steps.removeSubrange(start..<min(start + length, best.steps.count))
        if let problems = await candidate.failure() {
          (best, found) = (candidate, problems)
        } else {
          start += length
        }
      }
      if length == 1 { return (best, found) }
      length /= 2
    }
  }

  /// What is wrong; `nil` if nothing is. On a bad network a history may fail only now and then.
  private func failure() async -> [String]? {
    for _ in 0..<(network == .faulty ? 3 : 1) {
      do {
        let problems = try await run()
        if !problems.isEmpty { return problems }
      } catch {
        return ["\(error)"]
      }
    }
    return nil
  }
}

extension ReplicationHistory: CustomStringConvertible {
  var description: String {
    "seed \(seed), network \(network), filter \(filter):\n" + steps.map { "  \($0)" }.joined(separator: "\n")
  }
}

extension StoreContent {
  /// The content of some documents.
  fileprivate func only(_ isIncluded: ([UInt8]) -> Bool) -> StoreContent {
    StoreContent(documents: documents.filter { isIncluded($0.key) })
  }

  /// The leaves that match, and that another store does not know.
  fileprivate func lacking(in other: Datastore, _ selector: QuerySelector) throws -> [String] {
    try documents.flatMap { key, document -> [String] in
      let id = String(decoding: key, as: UTF8.self)
      let known = try other.read { try $0.tree(ofDocument: id) }
      return try document.leaves.compactMap { revision, leaf -> String? in
        let body = try JSONObject(parsing: leaf.body)
        guard try selector.matches(body, id: id, revision: "\(revision)") else { return nil }
        return known?.nodes[revision] != nil ? nil : "\(id) \(revision) matches, and is missing"
      }
    }
  }
}
