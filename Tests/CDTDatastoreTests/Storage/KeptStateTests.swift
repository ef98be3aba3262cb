import CDTJSON
import CDTPlatform
import CDTSQLite
import CDTTestSupport
import Synchronization
import Testing

@testable import CDTDatastore

/// The transaction of a reader goes on after its user, while nothing is committed.
@Suite struct KeptStateTests {
  /// Calls `body` with a datastore, and with another object for the same files, as another process would have.
  private func withTwoStores(_ body: (Datastore, Datastore) throws -> Void) throws {
    try withTemporaryDirectory { directory in
      let managers = try [DatastoreManager(directory: directory), DatastoreManager(directory: directory)]
      defer { for manager in managers { manager.close() } }
      try body(managers[0].datastore(named: "store"), managers[1].datastore(named: "store"))
    }
  }

  private func keepsState(_ store: Datastore) throws -> Bool {
    try store.lendReader().reader.keepsState
  }

  @Test func `the state is kept for the next read, until something is committed`() throws {
    try withTwoStores { store, other in
      try store.createDocument(from: DocumentDraft(id: "a", body: [:]))
      // Soon after a commit nothing is kept.
      try blockUntil("the state is kept") {
        _ = try? store.document(withID: "a")
        return (try? keepsState(store)) == true
      }
      #expect(try store.document(withID: "a").id == "a")
      try other.createDocument(from: DocumentDraft(id: "b", body: [:]))
      #expect(try store.document(withID: "b").id == "b")
      #expect(try !keepsState(store))
    }
  }

  @Test func `every read sees the last commit, of this object and of another datastore object`() throws {
    try withTwoStores { store, other in
      var revision = try store.createDocument(from: DocumentDraft(id: "a", body: ["n": 0]))
      for number in 1...300 {
        revision.body = ["n": .int(Int64(number))]
        revision = try (number % 3 == 0 ? store : other).updateDocument(from: revision)
        // Sometimes the state before was kept, sometimes its time was over.
        if number % 30 == 0 { Sleep.microseconds(UInt32(number % 7) * 10_000) }
        for _ in 0..<3 {
          #expect(try store.document(withID: "a").body["n"] == .int(Int64(number)))
          #expect(try other.read { try $0.document(withID: "a") }.body["n"] == .int(Int64(number)))
        }
      }
    }
  }

  @Test func `a state that nobody reads lets another connection restart the log`() throws {
    try withTwoStores { store, other in
      try store.createDocument(from: DocumentDraft(id: "a", body: [:]))
      try blockUntil("the state is kept") {
        _ = try? store.document(withID: "a")
        return (try? keepsState(store)) == true
      }
      _ = try store.document(withID: "a")
      try other.createDocument(from: DocumentDraft(id: "b", body: [:]))
      try blockUntil("the log is empty") {
        try? other.withWriter { try $0.connection.cutLog() }
        return (try? Files.length(of: LogFile.path(of: store.databasePath))) == 0
      }
    }
  }

  @Test func `a reader every few milliseconds does not make the log of a writer grow`() throws {
    try withTwoStores { store, other in
      try store.createDocument(from: DocumentDraft(id: "a", body: [:]))
      let isDone = Atomic(false)
      let longest = Atomic<Int64>(0)
      let text = JSONValue.string(String(repeating: "x", count: 40_000))
      onThreads(2) { number in
        if number == 0 {
          for _ in 0..<1_000 {
            _ = try? other.createDocument(from: DocumentDraft(body: ["text": text]))
            let length = (try? Files.length(of: LogFile.path(of: store.databasePath))) ?? 0
            longest.max(length, ordering: .relaxed)
          }
          return isDone.store(true, ordering: .relaxed)
        }
        while !isDone.load(ordering: .relaxed) {
          _ = try? store.document(withID: "a")
          Sleep.microseconds(3_000)
        }
      }
      #expect(try other.read { try $0.documentCount() } == 1_001)
      // It would have 44 MB.
      #expect(longest.load(ordering: .relaxed) < 30 << 20)
    }
  }

  @Test func `an error ends the state`() throws {
    try withTwoStores { store, _ in
      try store.createDocument(from: DocumentDraft(id: "a", body: [:]))
      try blockUntil("the state is kept") {
        _ = try? store.document(withID: "a")
        return (try? keepsState(store)) == true
      }
      #expect(throws: DatastoreError.self) { try store.document(withID: "b") }
      #expect(try !keepsState(store))
    }
  }
}
