import CDTJSON
import CDTPlatform
import CDTTestSupport
import Synchronization
import Testing

@testable import CDTDatastore
@testable import CDTSQLite

/// The length of the write-ahead log while it is read.
@Suite struct LogLengthTests {
  @Test func `overlapping readers do not make the log grow without bound`() throws {
    // On a busy machine a reader may last longer than a checkpoint waits, so there are several attempts. Without the
    // wait none succeeds.
    var longest = Int64.max
    for _ in 0..<5 where longest >= 170 << 20 {
      try withStore { longest = try longestLogBesideOverlappingReaders($0) }
    }
    #expect(longest < 170 << 20)
  }

  /// Writes 180 MB, which take more than 200 MB in the log. At every moment there is a reader that began before the last
  /// one ended.
  private func longestLogBesideOverlappingReaders(_ store: Datastore) throws -> Int64 {
    let isDone = Atomic(false)
    let longest = Atomic<Int64>(0)
    onThreads(4) { number in
      if number == 0 {
        try? write(1_800, to: store) { longest.max(logLength(of: store), ordering: .relaxed) }
        return isDone.store(true, ordering: .relaxed)
      }
      while !isDone.load(ordering: .relaxed) {
        try? store.read { transaction in
          _ = try transaction.documentCount()
          Sleep.microseconds(10_000 * UInt32(number))
        }
      }
    }
    let count = try store.read { try $0.documentCount() }
    #expect(count == 1_800)
    return longest.load(ordering: .relaxed)
  }

  @Test func `the checkpoint of a very long log waits for a reader once, not after each commit`() throws {
    try withTemporaryDirectory { directory in
      let path = "\(directory)/a.sqlite"
      let writer = try Connection(path: path, mode: .readWriteCreate)
      defer { writer.close() }
      try writer.execute("PRAGMA journal_mode = wal; CREATE TABLE t(b BLOB)")
      let log = try writer.countLog()
      let reader = try Connection(path: path, mode: .readOnly)
      defer { reader.close() }
      try reader.begin(.deferred)
      _ = try reader.scalar("SELECT count(*) FROM t")
      while log.pages < LogLength.waitingLimit {
        try writer.execute("INSERT INTO t VALUES (zeroblob(4000000))")
      }
      #expect(log.isCheckpointDue)
      try writer.shortenLog()
      #expect(!log.isCheckpointDue)
      try writer.execute("INSERT INTO t VALUES (1)")
      #expect(!log.isCheckpointDue)
      let attempted = log.pages
      while !log.isCheckpointDue { try writer.execute("INSERT INTO t VALUES (zeroblob(400000))") }
      #expect(log.pages > attempted * 14 / 10)
      reader.rollBack()
      try writer.shortenLog()
      try writer.execute("INSERT INTO t VALUES (1)")
      #expect(log.pages < 10)
    }
  }

  @Test func `a log that was very long is shortened when its reader has gone`() throws {
    try withStore { store in
      var held: HeldReadTransaction? = try store.holdState(stop: nil)
      _ = try held?.transaction.documentCount()
      try write(600, to: store)
      #expect(logLength(of: store) > 55 << 20)
      _ = held.take()
      try write(600, to: store)
      #expect(logLength(of: store) < 50 << 20)
      #expect(try store.read { try $0.documentCount() } == 1_200)
    }
  }

  private func withStore(_ body: (Datastore) throws -> Void) throws {
    try withTemporaryDirectory { directory in
      var options = DatastoreOptions()
      options.durability = .normal
      let manager = try DatastoreManager(directory: directory, options: options)
      defer { manager.close() }
      try body(manager.datastore(named: "store"))
    }
  }

  /// Writes documents of 100 KB, each in a transaction.
  private func write(_ count: Int, to store: Datastore, _ afterEach: () -> Void = {}) throws {
    let text = JSONValue.string(String(repeating: "x", count: 100_000))
    for _ in 0..<count {
      try store.createDocument(from: DocumentDraft(body: ["text": text]))
      afterEach()
    }
  }

  private func logLength(of store: Datastore) -> Int64 {
    (try? Files.length(of: "\(store.databasePath)-wal")) ?? 0
  }
}
