import CDTTestSupport
import Synchronization
import Testing

@testable import CDTDatastore

@Suite struct ChangesTests {
  @Test func `each document comes once, at its newest sequence, with its winner`() throws {
    try withTemporaryDatastore { store in
      #expect(try store.changes() == Changes(documents: [], lastSequence: 0))
      #expect(try store.read { try $0.lastSequence() } == 0)
      let a = try store.createDocument(from: DocumentDraft(id: "a", body: [:]))
      let b = try store.createDocument(from: DocumentDraft(id: "b", body: [:]))
      var changed = a
      changed.body = ["n": 1]
      let updated = try store.updateDocument(from: changed)
      let tombstone = try store.deleteDocument(from: b)
      let changes = try store.changes()
      #expect(changes.documents.map(\.id) == ["a", "b"])
      #expect(changes.documents.map(\.sequence) == [3, 4])
      #expect(changes.documents.map(\.revisionID) == [updated.revisionID, tombstone.revisionID])
      #expect(changes.documents.map(\.isDeleted) == [false, true])
      #expect(changes.lastSequence == 4)
      #expect(try store.read { try $0.lastSequence() } == 4)
    }
  }

  @Test func `reading on in pieces misses nothing and repeats nothing`() throws {
    try withTemporaryDatastore { store in
      for number in 0..<10 { try store.createDocument(from: DocumentDraft(id: "\(number)", body: [:])) }
      var (seen, last): ([String], Int64) = ([], 0)
      while true {
        let changes = try store.changes(since: last, limit: 3)
        #expect(changes.documents.count <= 3)
        if changes.documents.isEmpty {
          #expect(changes.lastSequence == last)
          break
        }
        seen += changes.documents.map(\.id)
        last = changes.lastSequence
        // A document already read comes again, as it changed since.
        if seen.count == 3 { try store.deleteDocument(withID: "1") }
      }
      #expect(seen == ["0", "1", "2", "3", "4", "5", "6", "7", "8", "9", "1"])
    }
  }

  struct Request: Sendable, CustomTestStringConvertible {
    let since: Int64
    let limit: Int?
    let sequences: [Int64]
    let last: Int64
    var testDescription: String { "since \(since), limit \(limit.map(String.init) ?? "none")" }
  }

  static let requests = [
    Request(since: 0, limit: nil, sequences: [1, 2, 3], last: 3),
    Request(since: -5, limit: nil, sequences: [1, 2, 3], last: 3),
    Request(since: .min, limit: .max, sequences: [1, 2, 3], last: 3),
    Request(since: 2, limit: nil, sequences: [3], last: 3),
    Request(since: 3, limit: nil, sequences: [], last: 3),
    Request(since: -5, limit: 0, sequences: [], last: 0),
    Request(since: 0, limit: 0, sequences: [], last: 0),
    Request(since: 1, limit: -1, sequences: [], last: 1),
    Request(since: 1, limit: .min, sequences: [], last: 1),
    Request(since: 0, limit: 2, sequences: [1, 2], last: 2),
  ]

  @Test(arguments: requests) func `any numbers are taken`(_ request: Request) throws {
    try withTemporaryDatastore { store in
      for id in ["a", "b", "c"] { try store.createDocument(from: DocumentDraft(id: id, body: [:])) }
      let changes = try store.changes(since: request.since, limit: request.limit)
      #expect(changes.documents.map(\.sequence) == request.sequences)
      #expect(changes.lastSequence == request.last)
    }
  }

  @Test(arguments: [4, Int64.max]) func `a sequence beyond the last is refused`(_ sequence: Int64)
    async throws
  {
    let directory = try temporaryDirectory()
    defer { removeDirectory(directory) }
    let manager = try DatastoreManager(directory: directory)
    let store = try await manager.datastore(named: "store")
    for (count, last) in [(0, 0), (3, 3)] {
      for _ in 0..<count { try await store.createDocument(from: DocumentDraft(body: [:])) }
      let message =
        "the last sequence of \"store\" is \(last), so it can't list changes since \(sequence); the store was probably "
        + "recreated or restored, so start again from 0"
      for limit in [nil, 0, 1] {
        let error = datastoreError { try store.changes(since: sequence, limit: limit) }
        #expect(error?.code == .unknownSequence)
        #expect(error?.status == 400)
        #expect(error?.message == message)
      }
      var live = store.liveChanges(since: sequence).makeAsyncIterator()
      let error = await #expect(throws: DatastoreError.self) { try await live.next() }
      #expect(error?.message == message)
      #expect(try await live.next() == nil)
    }
    #expect(try await store.changes(since: 3).lastSequence == 3)
  }

  @Test func `a checkpoint of a store that was recreated is refused`() throws {
    try withTemporaryDirectory { directory in
      let manager = try DatastoreManager(directory: directory)
      let store = try manager.datastore(named: "store")
      for _ in 0..<3 { try store.createDocument(from: DocumentDraft(body: [:])) }
      let checkpoint = try store.changes().lastSequence
      try manager.deleteDatastore(named: "store")
      let again = try manager.datastore(named: "store")
      try again.createDocument(from: DocumentDraft(body: [:]))
      #expect(datastoreError { try again.changes(since: checkpoint) }?.code == .unknownSequence)
      #expect(try again.changes(since: 0).documents.count == 1)
    }
  }

  @Test func `sequences rise and are never used again`() throws {
    try withTemporaryDirectory { directory in
      let manager = try DatastoreManager(directory: directory)
      var last: Int64 = 0
      for round in 0..<5 {
        let store = try manager.datastore(named: "store")
        let created = try store.createDocument(from: DocumentDraft(id: "\(round)", body: [:]))
        let tombstone = try store.deleteDocument(from: created)
        #expect(created.sequence > last)
        #expect(tombstone.sequence > created.sequence)
        last = tombstone.sequence
        try manager.closeDatastore(named: "store")
      }
    }
  }

  @Test func `a reader beside a writer sees every commit once`() throws {
    try withTemporaryDatastore { store in
      let isDone = Mutex(false)
      let seen = Mutex<[String]>([])
      onThreads(2) { number in
        if number == 0 {
          for number in 0..<200 {
            _ = try? store.createDocument(from: DocumentDraft(id: "\(number)", body: [:]))
          }
          isDone.withLock { $0 = true }
        } else {
          var last: Int64 = 0
          while true {
            let wasDone = isDone.withLock { $0 }
            guard let changes = try? store.changes(since: last) else { break }
            seen.withLock { $0 += changes.documents.map(\.id) }
            last = changes.lastSequence
            if wasDone { break }
          }
        }
      }
      #expect(seen.withLock { $0 } == (0..<200).map(String.init))
    }
  }
}
