import CDTDatastore
import CDTJSON
import CDTPlatform
import CDTTestSupport
import Testing

@testable import CDTQuery
@testable import CDTSelector

/// The write-ahead logs begin anew while documents are written one at a time.
@Suite struct WriteAheadLogTests {
  /// What the logs may have: 12 MB, and what a write adds.
  private static let limit: Int64 = 13 << 20

  /// These writes make 85 MB. What measures an index in the background reads a snapshot, and the log grows meanwhile.
  @Test func theLogsStayShortWhileIndexesAreKeptUpToDate() throws {
    try withStore { store, directory in
      try store.ensureIndexed(["n"])
      try write(7_200, to: store)
      #expect(try length("\(directory)/store/db.sync-wal") < 3 * Self.limit)
      let indexes = "\(directory)/store/extensions/com.cloudant.sync.query/indexes.sqlite-wal"
      #expect(try length(indexes) < 3 * Self.limit)
    }
  }

  @Test func theLogBeginsAnewOnceAReaderHasGone() throws {
    try withStore { store, directory in
      let snapshot = try store.results(for: Query([:]))
      _ = try snapshot.next()
      try write(1_800, to: store)
      let log = "\(directory)/store/db.sync-wal"
      let before = try length(log)
      #expect(before > Self.limit)
      snapshot.close()
      try write(1_800, to: store)
      #expect(try length(log) < before + Self.limit)
    }
  }

  private func withStore(_ body: (Datastore, String) throws -> Void) throws {
    try withTemporaryDirectory { directory in
      var options = DatastoreOptions()
      options.durability = .normal
      let manager = try DatastoreManager(directory: directory, options: options)
      defer { manager.close() }
      let store = try manager.datastore(named: "store")
      try store.write { transaction in
        for id in 0..<4_000 {
          try transaction.createDocument(
            from: DocumentDraft(
              id: "d\(id)", body: ["n": .int(Int64(id)), "text": .string(String(repeating: "x", count: 400))])
          )
        }
      }
      try body(store, directory)
    }
  }

  /// Writes far apart, so that each changes other pages.
  private func write(_ count: Int, to store: Datastore) throws {
    for number in 0..<count {
      try store.updateDocument(withID: "d\(number * 997 % 4_000)") { $0.body["n"] = .int(Int64(-number)) }
    }
  }

  private func length(_ path: String) throws -> Int64 {
    try FileStatus(path).size
  }
}
