import CDTDatastore
import CDTJSON
import CDTQuery
import CDTTestSupport
import Synchronization
import Testing

/// Documents and indexes lie in two files, which a reader beside a writer catches apart one time in ten. What a query
/// answers must be one moment's all the same.
@Suite struct SnapshotStressTests {
  private static let accounts = 40
  private static let total = accounts * 100

  @Test func `no answer is torn or stale beside a writer`() throws {
    try withTemporaryDatastore { store in
      try store.write { transaction in
        for number in 0..<Self.accounts {
          try transaction.createDocument(
            from: DocumentDraft(id: "account-\(number)", body: ["balance": 100, "side": "left"]))
        }
      }
      try store.ensureIndexed(["balance"])
      try store.ensureIndexed(["side"])
      let isDone = Atomic<Bool>(false)
      let failures = Mutex<[String]>([])
      let answers = Atomic<Int>(0)
      onThreads(4) { worker in
        do {
          if worker == 0 {
            // At least so many transfers, and then until the readers have answered often enough.
            var times = 0
            while times < 1_500 || (answers.load(ordering: .relaxed) < 300 && times < 100_000) {
              try Self.transfer(times, in: store)
              times += 1
            }
            isDone.store(true, ordering: .releasing)
          } else {
            while !isDone.load(ordering: .acquiring) {
              try Self.check(store, failures)
              answers.add(1, ordering: .relaxed)
            }
          }
        } catch {
          failures.withLock { $0.append("\(error)") }
          isDone.store(true, ordering: .releasing)
        }
      }
      #expect(failures.withLock { $0 } == [])
      #expect(answers.load(ordering: .relaxed) >= 300)
    }
  }

  /// Moves money between accounts, so that the sum stays, and accounts from side to side.
  private static func transfer(_ time: Int, in store: Datastore) throws {
    try store.write { transaction in
      var from = try transaction.document(withID: "account-\(time % accounts)")
      var to = try transaction.document(withID: "account-\((time * 7 + 1) % accounts)")
      guard from.id != to.id, let left = from.body["balance"]?.intValue,
        let right = to.body["balance"]?.intValue
      else { return }
      from.body["balance"] = left - 1
      to.body["balance"] = right + 1
      from.body["side"] = time % 3 == 0 ? "right" : "left"
      try transaction.updateDocument(from: from)
      try transaction.updateDocument(from: to)
    }
  }

  private static func check(_ store: Datastore, _ failures: borrowing Mutex<[String]>) throws {
    let documents = try store.find(["balance": ["$gte": -10_000]], sort: ["balance"])
    let balances = documents.compactMap { $0.body["balance"]?.intValue }
    if balances.reduce(0, +) != total || balances.count != accounts {
      failures.withLock { $0.append("\(balances.count) accounts hold \(balances.reduce(0, +))") }
    }
    if balances != balances.sorted() { failures.withLock { $0.append("not sorted: \(balances)") } }
    let results = try store.results(for: Query(["side": "right"]))
    let ids = try results.documentIDs()
    let read = try results.documents()
    if read.contains(where: { $0.body["side"] != "right" }) {
      failures.withLock { $0.append("a stale document") }
    }
    if Set(ids) != Set(read.map(\.id)) || ids.count != read.count {
      failures.withLock {
        $0.append("ids \(ids) and documents \(read.map(\.id)) of one result set differ")
      }
    }
  }
}
