import CDTJSON
import Glibc

/// Requests of one kind after the other, sent to a server by many connections.
struct ServerLoad {
  /// The kind of request, by the names that the script knows.
  enum Kind: String, CaseIterable, Codable {
    case get, find, put, bulk

    var title: String {
      switch self {
      case .get: "GET document"
      case .find: "_find of \(ServerLoad.found)"
      case .put: "PUT document"
      case .bulk: "_bulk_docs of 1,000"
      }
    }

    /// The number of documents that a request adds.
    var added: Int {
      switch self {
      case .get, .find: 0
      case .put: 1
      case .bulk: 1_000
      }
    }
  }

  /// The results of a query.
  static let found = 25
  /// Queries ask for one of so many values of an indexed member.
  private static let ages = 100
  private static let database = "cdt_bench"
  /// The database to which documents are added.
  private static let empty = "cdt_bench_new"

  let address: ServerAddress
  let wrk: Wrk
  let documents: Int
  let seconds: Int
  /// The processor time of the server; `nil` for one whose process is not known.
  let processorTime: (() throws -> Int)?

  // MARK: Documents

  /// Creates a database with documents and an index, and checks that it answers as expected.
  func prepare() throws {
    try create(Self.database)
    let vocabulary = Vocabulary()
    var random = LCG(seed: 1_000_003 * UInt64(documents) + 7)
    for start in stride(from: 1, through: documents, by: 1_000) {
      let texts = (start..<min(start + 1_000, documents + 1)).map {
        BenchDocument(number: $0, vocabulary, from: &random).json
      }
      try HTTPConnection.exchange(
        address, "POST", "/\(Self.database)/_bulk_docs",
        Array(#"{"docs":[\#(texts.joined(separator: ","))]}"#.utf8))
    }
    try HTTPConnection.exchange(
      address, "POST", "/\(Self.database)/_index", Array(#"{"index":{"fields":["age"]},"name":"age"}"#.utf8))
    for age in 0..<Self.ages { try check(age) }
    guard try count(in: Self.database) >= documents else { throw BenchError("documents are missing") }
  }

  /// A query answers with documents of the age, as many as are wanted.
  private func check(_ age: Int) throws {
    let body = Array(#"{"selector":{"age":\#(age)},"limit":\#(Self.found)}"#.utf8)
    let reply = try JSONObject(
      parsing: HTTPConnection.exchange(address, "POST", "/\(Self.database)/_find", body))
    let documents = reply["docs"]?.arrayValue ?? []
    guard documents.count == Self.found, documents.allSatisfy({ $0["age"]?.intValue == age }) else {
      throw BenchError("\(address.url): _find has \(documents.count) documents of the age \(age)")
    }
  }

  /// Creates an empty database that everyone may use, so that neither server checks passwords.
  private func create(_ name: String) throws {
    try remove(name)
    try HTTPConnection.exchange(address, "PUT", "/\(name)")
    let everyone = #"{"names":[],"roles":[]}"#
    try HTTPConnection.exchange(
      address, "PUT", "/\(name)/_security", Array(#"{"admins":\#(everyone),"members":\#(everyone)}"#.utf8))
  }

  private func remove(_ name: String) throws {
    let names = try JSONValue(parsing: HTTPConnection.exchange(address, "GET", "/_all_dbs")).arrayValue ?? []
    if names.contains(.string(name)) { try HTTPConnection.exchange(address, "DELETE", "/\(name)") }
  }

  func removeAll() throws {
    for name in [Self.database, Self.empty] { try remove(name) }
  }

  private func count(in database: String) throws -> Int {
    try JSONObject(parsing: HTTPConnection.exchange(address, "GET", "/\(database)"))["doc_count"]?.intValue
      ?? 0
  }

  // MARK: Requests

  /// Sends requests of a kind.
  ///
  /// - Returns: `nil` if not every request that was answered is a success, or none was answered.
  func run(_ kind: Kind, connections: Int) throws -> ServerReport.Load? {
    let database = kind.added > 0 ? Self.empty : Self.database
    if kind.added > 0 { try create(database) }
    let before = try processorTime?()
    let outcome = try wrk.run(
      address.url, connections: connections, seconds: kind == .bulk ? 4 * seconds : seconds,
      [database, kind.rawValue, "\(documents)"])
    guard outcome.failures == 0, outcome.requests > 0 else { return nil }
    let processor = try processorTime.map { try ($0() - (before ?? 0)) / outcome.requests }
    // Requests that wrk has left are still answered, and must not disturb the next line.
    var known = -1
    while case let count = try count(in: database), count != known {
      known = count
      Clock.monotonic.sleep(until: Clock.monotonic.now + 1_000_000_000)
    }
    guard known >= kind.added * outcome.requests else {
      throw BenchError("\(outcome.requests) requests have added \(known) documents")
    }
    return ServerReport.Load(outcome, processor: processor)
  }

  /// Measures how long listeners of `_changes` wait for a document that another client saves.
  func notify(_ listeners: Int, writes: Int) throws -> Percentiles {
    try create(Self.empty)
    return try Listeners(address, database: Self.empty, count: listeners).times(of: writes)
  }
}
