import CDTDatastore
import CDTJSON
import CDTQuery

extension StoreWorker {
  mutating func sum(_ store: Datastore) throws {
    let accounts = try store.find(["balance": ["$gte": -1_000_000]], sort: ["balance"])
    let balances = accounts.compactMap { $0.body["balance"]?.intValue }
    if balances.count != Self.accounts || balances.reduce(0, +) != 0 || balances != balances.sorted() {
      failures.append("sum: the balances are \(balances)")
    }
  }

  mutating func query(_ store: Datastore) throws {
    let group = Int64.random(in: 0..<10, using: &random)
    for document in try store.find(["group": .int(group)])
    where document.body["group"] != .int(group) || document.isDeleted {
      failures.append(
        "query: \(document.id) is of group \(document.body["group"] ?? nil), not \(group)")
    }
  }

  /// Only this process writes its own documents, so it knows what there is.
  mutating func queryOwn(_ store: Datastore) throws {
    let group = Int64.random(in: 0..<10, using: &random)
    let selector: JSONObject = ["tags": .string("tag-\(group)"), "worker": .int(Int64(number))]
    let found = try store.find(selector).map(\.id).sorted()
    let expected = own.filter { $0.group == group }.map(\.id).sorted()
    if found != expected { failures.append("query own: \(found.count) documents, not \(expected.count)") }
  }

  mutating func count(_ store: Datastore) throws {
    let count = try store.count(["worker": .int(Int64(number)), "group": ["$gte": 0]])
    if count != own.count { failures.append("count: \(count) documents, not \(own.count)") }
  }

  /// Reads the changes since the last call: each document once, in the order of the sequences.
  mutating func readChanges(_ store: Datastore) throws {
    let changes = try store.changes(since: lastSequence, limit: 500)
    let sequences = changes.documents.map(\.sequence)
    if zip([lastSequence] + sequences, sequences).contains(where: { $0 >= $1 })
      || Set(changes.documents.map(\.id)).count != changes.documents.count
      || changes.lastSequence < (sequences.last ?? lastSequence)
    {
      failures.append("changes: after \(lastSequence): \(sequences), \(changes.lastSequence)")
    }
    lastSequence = changes.lastSequence
  }

  // MARK: Indexes

  mutating func createIndex(_ store: Datastore) throws {
    try allowingUnknownIndex { try store.ensureIndexed(["worker"], name: "by_worker") }
  }

  mutating func updateIndexes(_ store: Datastore) throws {
    try store.updateIndexes()
  }

  mutating func deleteIndex(_ store: Datastore) throws {
    try allowingUnknownIndex { try store.deleteIndex(named: "by_worker") }
  }

  /// Works on an index that another worker may delete before or during it.
  private mutating func allowingUnknownIndex(_ body: () throws -> Void) throws {
    do {
      try body()
    } catch let error as QueryError where error.code == .unknownIndex {
      operations["refused", default: 0] += 1
    }
  }

  mutating func check(_ store: Datastore) throws {
    failures += try store.checkIntegrity().map { "check: \($0)" }
    failures += try store.checkIndexes().map { "check: \($0)" }
  }
}
