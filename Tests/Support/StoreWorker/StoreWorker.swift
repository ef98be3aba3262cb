import CDTDatastore
import CDTQuery
import JSON

/// One of the processes that work on a store at once.
///
/// What it writes can be checked afterwards: counters that all workers raise, accounts between which money moves,
/// documents of its own, documents that all change, and a count of what it did.
struct StoreWorker {
  static let counters = 4
  static let accounts = 20
  static let sharedDocuments = 30

  private let number: Int
  private var random: SystemRandomNumberGenerator = .init()
  /// How often each counter was raised.
  private var raised = [Int64](repeating: 0, count: counters)
  /// The documents of its own that are there.
  private var own: [(id: String, group: Int64)] = []
  private var created: Int64 = 0
  private var operations: [String: Int64] = [:]
  private var busy: Int64 = 0
  private var failures: [String] = []

  init(number: Int) {
    self.number = number
  }

  /// What was done, and what should not have been seen.
  var report: JSONObject {
    [
      "raised": .array(raised.map { .int($0) }),
      "own": .array(own.map { .string($0.id) }),
      "operations": .object(
        JSONObject(operations.sorted { $0.key < $1.key }.map { ($0.key, .int($0.value)) })),
      "busy": .int(busy),
      "failures": .array(failures.map { .string($0) }),
    ]
  }

  mutating func run(in directory: String, for duration: Duration) {
    do {
      var options = DatastoreOptions()
      // Waiting for the disk leaves little time for meeting others, so only one of them does.
      options.durability = number == 0 ? .full : .normal
      let manager = try DatastoreManager(directory: directory, options: options)
      let store = try manager.datastore(named: "shared")
      try store.ensureIndexed(["group", "worker"], name: "by_group")
      try store.ensureIndexed(["balance"], name: "by_balance")
      try store.ensureIndexed(["tags"], name: "by_tag")
      let end = ContinuousClock.now + duration
      while ContinuousClock.now < end, failures.count < 10 { step(store) }
      manager.closeDatastore(named: "shared")
    } catch {
      failures.append("\(error)")
    }
  }

  /// One operation. Being busy is documented; whatever else is thrown is a failure.
  private mutating func step(_ store: Datastore) {
    let work = work.randomElement(using: &random) ?? work[0]
    do {
      try work.run(&self, store)
      operations[work.name, default: 0] += 1
    } catch let error as DatastoreError where error.code == .busy {
      busy += 1
    } catch {
      failures.append("\(work.name): \(error)")
    }
  }

  private typealias Work = (name: String, run: (inout StoreWorker, Datastore) throws -> Void)

  private let work: [Work] = [
    ("raise", { try $0.raise($1) }), ("raise read", { try $0.raiseWhatWasRead($1) }),
    ("transfer", { try $0.transfer($1) }), ("create", { try $0.create($1) }),
    ("batch", { try $0.createSeveral($1) }), ("delete", { try $0.delete($1) }),
    ("change shared", { try $0.changeShared($1) }), ("sum", { try $0.sum($1) }),
    ("query", { try $0.query($1) }), ("query own", { try $0.queryOwn($1) }),
    ("count", { try $0.count($1) }), ("index", { try $0.workOnIndexes($1) }),
  ]

  // MARK: Writing

  private mutating func raise(_ store: Datastore) throws {
    let counter = Int.random(in: 0..<Self.counters, using: &random)
    try store.updateDocument(withID: "counter-\(counter)") { document in
      document.body["n"] = .int((document.body["n"]?.intValue ?? 0) + 1)
    }
    raised[counter] += 1
  }

  /// Reads and saves apart, so that others come between, and a conflict says so.
  private mutating func raiseWhatWasRead(_ store: Datastore) throws {
    let counter = Int.random(in: 0..<Self.counters, using: &random)
    while true {
      var document = try store.document(withID: "counter-\(counter)")
      document.body["n"] = .int((document.body["n"]?.intValue ?? 0) + 1)
      do {
        try store.updateDocument(from: document)
        raised[counter] += 1
        return
      } catch let error as DatastoreError where error.code == .conflict {
        continue
      }
    }
  }

  private mutating func transfer(_ store: Datastore) throws {
    let payer = Int.random(in: 0..<Self.accounts, using: &random)
    let payee = (payer + Int.random(in: 1..<Self.accounts, using: &random)) % Self.accounts
    try store.write { transaction in
      try transaction.updateDocument(withID: "account-\(payer)") { document in
        document.body["balance"] = .int((document.body["balance"]?.intValue ?? 0) - 1)
      }
      try transaction.updateDocument(withID: "account-\(payee)") { document in
        document.body["balance"] = .int((document.body["balance"]?.intValue ?? 0) + 1)
      }
    }
  }

  private mutating func newDocument() -> (id: String, group: Int64, revision: DocumentRevision) {
    created += 1
    let (id, group) = ("own-\(number)-\(created)", Int64.random(in: 0..<10, using: &random))
    let body: JSONObject = [
      "group": .int(group), "worker": .int(Int64(number)), "tags": ["a", .string("tag-\(group)")],
    ]
    return (id, group, DocumentRevision(id: id, body: body))
  }

  private mutating func create(_ store: Datastore) throws {
    let new = newDocument()
    try store.createDocument(from: new.revision)
    own.append((new.id, new.group))
  }

  private mutating func createSeveral(_ store: Datastore) throws {
    let new = (0..<20).map { _ in newDocument() }
    try store.write { transaction in
      for each in new { try transaction.createDocument(from: each.revision) }
    }
    own += new.map { ($0.id, $0.group) }
  }

  /// Keeps its own documents to a few hundred.
  private mutating func delete(_ store: Datastore) throws {
    guard own.count > 200 else { return }
    own.shuffle(using: &random)
    let gone = own.suffix(25).map(\.id)
    try store.deleteDocument(withID: gone[0])
    own.removeAll { $0.id == gone[0] }
    try store.write { transaction in
      for id in gone.dropFirst() { try transaction.deleteDocument(withID: id) }
    }
    own.removeLast(gone.count - 1)
  }

  /// Creates, changes or deletes a document that the others do the same to. Who comes late is told so.
  private mutating func changeShared(_ store: Datastore) throws {
    let id = "shared-\(Int.random(in: 0..<Self.sharedDocuments, using: &random))"
    let body: JSONObject = ["group": .int(Int64.random(in: 0..<10, using: &random)), "worker": -1]
    do {
      switch Int.random(in: 0..<3, using: &random) {
      case 0: try store.createDocument(from: DocumentRevision(id: id, body: body))
      case 1: try store.updateDocument(withID: id) { $0.body = body }
      default: try store.deleteDocument(withID: id)
      }
    } catch let error as DatastoreError where [.conflict, .notFound].contains(error.code) {
      operations["refused", default: 0] += 1
    }
  }

  // MARK: Querying

  private mutating func sum(_ store: Datastore) throws {
    let accounts = try store.find(["balance": ["$gte": -1_000_000]], sort: ["balance"]).documents()
    let balances = accounts.compactMap { $0.body["balance"]?.intValue }
    if balances.count != Self.accounts || balances.reduce(0, +) != 0 || balances != balances.sorted() {
      failures.append("sum: the balances are \(balances)")
    }
  }

  private mutating func query(_ store: Datastore) throws {
    let group = Int64.random(in: 0..<10, using: &random)
    for document in try store.find(["group": .int(group)]).documents()
    where document.body["group"] != .int(group) || document.isDeleted {
      failures.append(
        "query: \(document.id ?? "") is of group \(document.body["group"] ?? nil), not \(group)")
    }
  }

  /// Only this process writes its own documents, so it knows what there is.
  private mutating func queryOwn(_ store: Datastore) throws {
    let group = Int64.random(in: 0..<10, using: &random)
    let selector: JSONObject = ["tags": .string("tag-\(group)"), "worker": .int(Int64(number))]
    let found = try store.find(selector).documents().compactMap(\.id).sorted()
    let expected = own.filter { $0.group == group }.map(\.id).sorted()
    if found != expected { failures.append("query own: \(found.count) documents, not \(expected.count)") }
  }

  private mutating func count(_ store: Datastore) throws {
    let count = try store.count(["worker": .int(Int64(number)), "group": ["$gte": 0]])
    if count != own.count { failures.append("count: \(count) documents, not \(own.count)") }
  }

  private mutating func workOnIndexes(_ store: Datastore) throws {
    switch Int.random(in: 0..<40, using: &random) {
    case 0: try store.rebuildIndexes(named: "by_group")
    case 1: try store.ensureIndexed(["worker"], name: "by_worker")
    case 2:
      do {
        try store.deleteIndex(named: "by_worker")
      } catch let error as QueryError where error.code == .unknownIndex {
        operations["refused", default: 0] += 1
      }
    case 3: try store.compact()
    case 4: _ = try store.listIndexes()
    case 5..<10: try store.updateAllIndexes()
    default: break
    }
  }
}
