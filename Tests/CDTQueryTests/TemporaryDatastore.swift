import CDTJSON
import CDTPlatform
import CDTSQLite
import CDTTestSupport
import Testing

@testable import CDTDatastore
@testable import CDTIndex
@testable import CDTPlan
@testable import CDTQuery
@testable import CDTSelector

/// Runs `body` with an empty datastore in memory.
func withTemporaryDatastore<R>(_ body: (Datastore) throws -> R) throws -> R {
  let manager = try DatastoreManager.inMemory()
  defer { manager.close() }
  return try body(try manager.datastore(named: "store"))
}

/// The same for a test that is asynchronous.
@discardableResult
func withTemporaryDatastore<R>(_ body: (Datastore) async throws -> R) async throws -> R {
  let manager = try DatastoreManager.inMemory()
  defer { manager.close() }
  return try await body(manager.datastore(named: "store"))
}

extension Datastore {
  /// Creates an index, and leaves it to be filled.
  func declareIndex(_ fields: [SortField], name: String? = nil) throws {
    let definition = try IndexDefinition(fields: fields, name: name)
    _ = try indexManager().declare(definition, isNamed: name != nil)
  }
}

/// Runs `body` with a datastore whose indexes can't follow what is written in it: another connection has their lock.
///
/// The datastore does not wait for that connection.
func withIndexesHeld<R>(_ store: Datastore, _ body: () throws -> R) throws -> R {
  let other = try Connection(path: store.indexManager().path, mode: .readWrite)
  defer { other.close() }
  try other.begin(.immediate)
  return try body()
}

/// Runs `body` while nobody fills indexes, in the background or at a caller's wish: only writes bring them up to date.
func withBuildsHeld<R>(inDirectoryOf store: String, _ body: () throws -> R) throws -> R {
  let directory = "\(store)/extensions/\(QueryExtension.extensionName)"
  let lock = try FileLock.take("\(directory)/build.lock", isDirectory: false) { true }
  defer { _ = lock }
  return try body()
}

/// Writes as a process does that knows nothing of indexes.
@discardableResult
func writeMissingIndexes<R>(of store: Datastore, _ body: (WriteTransaction) throws -> R) throws -> R {
  let connection = try Connection(
    path: store.databasePath, mode: .readWrite, cipher: store.keys?.documents)
  defer { connection.close() }
  return try SessionWriter(connection).transaction { connection in
    let transaction = try WriteTransaction(
      connection, of: store, sortMemory: 1 << 20, stop: nil)
    defer { transaction.end() }
    let result = try body(transaction)
    try transaction.checkIntact()
    return result
  }
}

/// What a datastore answers otherwise than the matcher does of the documents that it holds.
func differencesFromMatcher(_ store: Datastore, _ requests: [JSONObject]) throws -> [String] {
  let documents = try store.read { try $0.allDocuments() }
  let textIndex = try store.listIndexes().map(\.definition).first { $0.type == .text }
  var differences: [String] = []
  for request in requests {
    let query = try Query(request: request)
    var whole = query
    (whole.skip, whole.limit) = (0, nil)
    var (given, expected) = (
      try store.read { try $0.find(query) }.map(\.json.text),
      try query.find(in: documents, textIndex: textIndex).map(\.json.text)
    )
    if query.sort.isEmpty { (given, expected) = (given.sorted(), expected.sorted()) }
    let count = try store.read { try $0.count(query) }
    let matches = try whole.find(in: documents, textIndex: textIndex).count
    if !given.elementsEqual(expected, by: { $0.hasSameBytes(as: $1) }) || count != matches {
      differences.append("\(request.text): \(given), count \(count), where the matcher says \(expected)")
    }
  }
  return differences
}

/// Whether every index has every document, and nothing else.
func indexesAreComplete(_ store: Datastore) throws -> Bool {
  let last = try store.read { try $0.lastSequence() }
  return try store.listIndexes().allSatisfy { $0.indexedSequence == last } && store.checkIndexes() == []
    && store.read { try $0.explain(Query([:])) }.json["waiting"] == 0
}

/// As ``withTemporaryDatastore(_:)``, but nothing in the datastore waits for others.
func withImpatientDatastore<R>(_ body: (Datastore) throws -> R) throws -> R {
  try withTemporaryDirectory { directory in
    var options = DatastoreOptions()
    options.busyTimeout = .milliseconds(10)
    let manager = try DatastoreManager(directory: directory, options: options)
    defer { manager.close() }
    return try body(try manager.datastore(named: "store"))
  }
}

extension DatastoreManager {
  /// Closes a datastore at the end of a test, also of one that is asynchronous.
  func close(_ name: String = "store") {
    try? closeDatastore(named: name)
  }
}

extension QueryEngine {
  /// The same engine with another choice of plans.
  func choosing(_ choose: @escaping (Planner) throws -> QueryPlan) -> QueryEngine {
    var engine = self
    engine.choose = choose
    return engine
  }
}
