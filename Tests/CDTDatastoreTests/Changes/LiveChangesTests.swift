import CDTTestSupport
import Foundation
import Testing

@testable import CDTDatastore

@Suite(.timeLimit(.usual)) struct LiveChangesTests {
  private static func create(_ id: String, in store: Datastore) throws {
    try store.createDocument(from: DocumentDraft(id: id, body: [:]))
  }

  @Test func `the stored documents come first, and then each commit`() async throws {
    try await withListenedStore { _, store in
      try await store.write { transaction in
        for id in ["a", "b"] { try transaction.createDocument(from: DocumentDraft(id: id, body: [:])) }
      }
      var changes = store.liveChanges().makeAsyncIterator()
      #expect(try await changes.next() == store.changes())
      try await store.deleteDocument(withID: "a")
      #expect(try await changes.next() == store.changes(since: 2))
      try Self.create("c", in: store)
      try Self.create("d", in: store)
      #expect(try await changes.next() == store.changes(since: 3), "two commits are one element")
    }
  }

  @Test(arguments: [Int64.min, -1, 0, 1, 2]) func `it begins after any sequence`(_ sequence: Int64)
    async throws
  {
    try await withListenedStore { _, store in
      for id in ["a", "b", "c"] { try Self.create(id, in: store) }
      var changes = store.liveChanges(since: sequence).makeAsyncIterator()
      #expect(try await changes.next() == store.changes(since: sequence))
    }
  }

  @Test func `each iterator begins again`() async throws {
    try await withListenedStore { _, store in
      try Self.create("a", in: store)
      let changes = store.liveChanges()
      var (one, other) = (changes.makeAsyncIterator(), changes.makeAsyncIterator())
      let expected = try await store.changes()
      #expect(try await one.next() == expected)
      #expect(try await other.next() == expected)
    }
  }

  @Test func `a large transaction comes in pieces`() async throws {
    try await withListenedStore { _, store in
      try await store.write { transaction in
        for _ in 0..<2_500 { try transaction.createDocument(from: DocumentDraft(body: [:])) }
      }
      var changes = store.liveChanges().makeAsyncIterator()
      var counts: [Int?] = []
      for _ in 0..<3 { counts.append(try await changes.next()?.documents.count) }
      #expect(counts == [1_000, 1_000, 500])
    }
  }

  @Test func `writes without a changed document give no element`() async throws {
    try await withListenedStore { _, store in
      let heard = Task { try await store.heard(until: "end") }
      for number in 0..<100 {
        try await store.write { try $0.setLocalDocument(["n": .int(Int64(number))], withID: "local") }
      }
      try Self.create("end", in: store)
      #expect(try await heard.value.changes.map(\.id) == ["end"])
    }
  }

  @Test func `a file that can't be read is an error, and the end`() async throws {
    try await withListenedStore { manager, store in
      try Self.create("a", in: store)
      try withDatabase(of: "store", in: manager.directory) { database in
        try database.execute("UPDATE documents SET text = '{\"_id\":\"a\",\"_rev\":\"none\"}'")
      }
      var changes = store.liveChanges().makeAsyncIterator()
      do {
        _ = try await changes.next()
        Issue.record("the damage was not noticed")
      } catch let error as DatastoreError {
        #expect(error.code == .corrupt)
      }
      #expect(try await changes.next() == nil)
      #expect(store.changeListeners.count == 0)
    }
  }

  // MARK: The end

  enum Ending: CaseIterable { case close, delete, deleteElsewhere }

  @Test(arguments: Ending.allCases) func `it ends with its datastore`(_ ending: Ending) async throws {
    try await withListenedStore { manager, _ in
      let other = try DatastoreManager(directory: manager.directory)
      for round in 0..<20 {
        let store = try await manager.datastore(named: "store")
        try Self.create("\(round)", in: store)
        let since = try await store.read { try $0.lastSequence() }
        let listeners = (0..<4).map { number in
          // Some have heard everything and wait, others are about to begin.
          Task { try await store.heard(since: number % 2 == 0 ? 0 : since, until: "never") }
        }
        if round % 2 == 0 {
          var (first, changes) = (0, store.liveChanges().makeAsyncIterator())
          while try await changes.next() != nil, first < 1 {
            first += 1; try Self.create("x\(round)", in: store)
          }
        }
        switch ending {
        case .close: try await manager.closeDatastore(named: "store")
        case .delete: try manager.deleteDatastore(named: "store")
        case .deleteElsewhere: try other.deleteDatastore(named: "store")
        }
        for listener in listeners { #expect(try await listener.value.isRising) }
        #expect(store.changeListeners.count == 0)
        var late = store.liveChanges().makeAsyncIterator()
        #expect(try await late.next() == nil)
      }
    }
  }

  @Test func `it ends when its task is cancelled, and others go on`() async throws {
    try await withListenedStore { _, store in
      let other = Task { try await store.heard(until: "end") }
      for round in 0..<200 {
        let task = Task { try await store.heard(until: "never") }
        // Sometimes it is listening by then, sometimes not.
        if round % 2 == 0 {
          try await eventually("the task listens") { store.changeListeners.count >= 2 }
        }
        task.cancel()
        #expect(try await task.value.changes.isEmpty)
      }
      try Self.create("end", in: store)
      #expect(try await other.value.contains("end"))
      #expect(store.changeListeners.count == 0)
    }
  }

  @Test func `a listener who stops is forgotten`() async throws {
    try await withListenedStore { _, store in
      try Self.create("a", in: store)
      for try await _ in store.liveChanges() {
        #expect(store.changeListeners.count == 1)
        break
      }
      #expect(store.changeListeners.count == 0)
      weak var released: Datastore?
      do {
        let manager = try DatastoreManager(directory: try temporaryDirectory())
        defer { removeDirectory(manager.directory) }
        let store = try await manager.datastore(named: "store")
        try Self.create("a", in: store)
        var changes = store.liveChanges().makeAsyncIterator()
        #expect(try await changes.next() != nil)
        released = store
      }
      #expect(released == nil)
    }
  }
}
