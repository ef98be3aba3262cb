import CDTDatastore
import CDTJSON
import CDTTestSupport
import Glibc

/// A thread that creates, reads, updates and deletes a few documents that others work on, too, and keeps a log of it.
///
/// An operation that fails as the datastore is busy or closed is not logged: it must not have happened.
struct DocumentClient {
  /// Few, so that clients meet.
  private static let documents = 4

  private let number: Int
  private let store: SharedStore
  private var random = SystemRandomNumberGenerator()
  private var log: [DocumentOperation] = []
  /// A revision of each document that was the newest when this client last saw it.
  private var known: [String: DocumentRevision] = [:]
  private var failures: [String] = []

  /// Runs clients on so many threads.
  static func run(
    _ threads: Int, process: Int, in directory: String, for duration: Duration
  ) throws -> JSONObject {
    let store = try SharedStore("shared", in: directory, process: process)
    let clients = Gathered<DocumentClient>()
    onThreads(threads) { thread in
      var client = DocumentClient(number: process * threads + thread, store: store)
      let end = ContinuousClock.now + duration
      while ContinuousClock.now < end, client.failures.count < 5 { client.step() }
      clients.append(client)
    }
    try store.close()
    return [
      "failures": .array(clients.all.flatMap(\.failures).map { .string($0) }),
      "operations": try JSONValue(encoding: clients.all.flatMap(\.log)),
    ]
  }

  private init(number: Int, store: SharedStore) {
    self.number = number
    self.store = store
  }

  private mutating func step() {
    do {
      switch Int.random(in: 0..<400, using: &random) {
      case 0: try store.close()
      case 1: try store.open().compact()
      default: try operate(on: "d\(Int.random(in: 0..<Self.documents, using: &random))", in: store.open())
      }
    } catch let error as DatastoreError where error.isOfSharing {
      return
    } catch {
      failures.append("client \(number): \(error)")
    }
  }

  private mutating func operate(on id: String, in store: Datastore) throws {
    let value = "\(number)-\(log.count)"
    let body: JSONObject = ["value": .string(value)]
    let kind = Int.random(in: 0..<10, using: &random)
    guard var revision = known[id], kind >= 6 else {
      switch kind {
      case 0:
        try logged(id, .create(value: value)) { client in
          try client.wrote(store.createDocument(from: DocumentDraft(id: id, body: body)))
        }
      case 1, 2: try modify(id, value, in: store)
      default:
        try logged(id, .read) { client in
          let read = try store.document(withID: id)
          client.known[id] = read
          return .found(.init(read))
        }
      }
      return
    }
    let parent = revision.revisionID.description
    if kind == 6 {
      try logged(id, .delete(from: parent)) { try $0.wrote(store.deleteDocument(from: revision)) }
    } else {
      revision.body = body
      try logged(id, .update(from: parent, value: value)) { [revision] in
        try $0.wrote(store.updateDocument(from: revision))
      }
    }
  }

  private mutating func modify(_ id: String, _ value: String, in store: Datastore) throws {
    try logged(id, .modify(value: value)) { client in
      var before: DocumentRevision?
      let saved = try store.updateDocument(withID: id) { document in
        before = document
        document.body["value"] = .string(value)
      }
      client.known[id] = saved
      return before.map { .modified(.init($0), saved.revisionID.description) } ?? .notFound
    }
  }

  private mutating func wrote(_ revision: DocumentRevision) -> DocumentOperation.Outcome {
    known[revision.id] = revision
    return .wrote(revision.revisionID.description)
  }

  private mutating func logged(
    _ id: String, _ call: DocumentOperation.Call,
    _ body: (inout DocumentClient) throws -> DocumentOperation.Outcome
  ) throws {
    let invocation = Self.now()
    let outcome: DocumentOperation.Outcome
    do {
      outcome = try body(&self)
    } catch let error as DatastoreError where error.code == .conflict {
      outcome = .conflict
    } catch let error as DatastoreError where error.code == .notFound {
      outcome = .notFound
    }
    log.append(
      DocumentOperation(
        document: id, client: number, call: call, outcome: outcome, invocation: invocation,
        response: Self.now()))
  }

  /// The time of a clock that all processes share and that is never set.
  private static func now() -> UInt64 {
    var time = timespec()
    clock_gettime(CLOCK_MONOTONIC, &time)
    return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
  }
}

extension DocumentOperation.Content {
  fileprivate init(_ revision: DocumentRevision) {
    self.init(
      revision: revision.revisionID.description, value: revision.body["value"]?.stringValue ?? "no value")
  }
}
