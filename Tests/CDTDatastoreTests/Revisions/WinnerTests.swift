import CDTDatastore
import CDTSQLite
import CDTTestSupport
import Testing

/// Which leaf of a conflicted document is its winner.
@Suite struct WinnerTests {
  /// Runs `body` with a document of the revisions 1, 2 and a rival of 2 that loses, put there as a replicator would.
  private func withConflict(
    rival: String = "2-0", isRivalDeleted: Bool = false,
    _ body: (_ store: Datastore, _ winner: DocumentRevision, _ rival: DocumentRevision) throws -> Void
  ) throws {
    try withTemporaryDirectory { directory in
      let manager = try DatastoreManager(directory: directory)
      let store = try manager.datastore(named: "store")
      let first = try store.createDocument(from: DocumentDraft(id: "a", body: ["n": 1]))
      var changed = first
      changed.body = ["n": 2]
      let winner = try store.updateDocument(from: changed)
      try withDatabase(of: "store", in: directory) { connection in
        try connection.execute("UPDATE documents SET leaves = 2")
        let statement = try connection.statement(
          "INSERT INTO revisions VALUES (1, ?1, ?2, ?3, 1, 1, ?4, 0, '{\"n\":\"rival\"}')")
        let id = try #require(RevisionID(rival))
        try statement.bind(Int64(id.generation), at: 1)
        try statement.bind(rival, at: 2)
        try statement.bind(first.revisionID.description, at: 3)
        try statement.bind(Int64(isRivalDeleted ? 1 : 0), at: 4)
        try statement.run()
      }
      let id = try #require(RevisionID(rival))
      try body(store, winner, try store.read { try $0.document(withID: "a", revisionID: id) })
    }
  }

  @Test func `deleting the winner makes the other leaf the winner, under a new sequence`() throws {
    try withConflict { store, winner, rival in
      let tombstone = try store.deleteDocument(from: winner)
      #expect(try store.document(withID: "a") == rival)
      #expect(try store.read { try $0.documentCount() } == 1)
      let changes = try store.changes()
      #expect(changes.documents.map(\.revisionID) == [rival.revisionID])
      #expect(changes.documents.map(\.sequence) == [tombstone.sequence])
      #expect(!changes.documents[0].isDeleted)
      let kept = tombstone.revisionID
      #expect(try store.read { try $0.document(withID: "a", revisionID: kept) }.isDeleted)
      #expect(
        try store.read { try $0.revisionHistory(of: tombstone) }.map(\.revisionID.generation) == [3, 2, 1])
    }
  }

  @Test func `deleting the other leaf leaves the winner, under a new sequence`() throws {
    try withConflict { store, winner, rival in
      let tombstone = try store.deleteDocument(from: rival)
      #expect(try store.document(withID: "a").revisionID == winner.revisionID)
      #expect(try store.document(withID: "a").body == winner.body)
      #expect(try store.document(withID: "a").sequence == winner.sequence)
      #expect(try store.changes().documents.map(\.sequence) == [tombstone.sequence])
      #expect(datastoreError { try store.updateDocument(from: rival) }?.code == .conflict)
    }
  }

  @Test func `a longer branch wins`() throws {
    try withConflict { store, winner, rival in
      let longer = try store.updateDocument(from: rival)
      #expect(try store.document(withID: "a") == longer)
      #expect(
        try store.read { try $0.revisionHistory(of: longer) }.map(\.revisionID.generation) == [3, 2, 1])
      let id = winner.revisionID
      #expect(try store.read { try $0.document(withID: "a", revisionID: id) }.body == winner.body)
      // It is still a leaf, and so can be changed.
      #expect(try store.updateDocument(from: winner).revisionID.generation == 3)
    }
  }

  @Test func `a generation is compared as a number`() throws {
    try withConflict { store, winner, _ in
      var tip = winner
      for _ in 3...9 { tip = try store.updateDocument(from: tip) }
      let tenth = try store.updateDocument(from: tip)
      #expect(tenth.revisionID.generation == 10)
      #expect(try store.document(withID: "a") == tenth)
    }
  }

  @Test func `a leaf that lives wins over a tombstone of a higher generation`() throws {
    try withConflict(rival: "9-f", isRivalDeleted: true) { store, winner, _ in
      let updated = try store.updateDocument(from: winner)
      #expect(try store.document(withID: "a") == updated)
      let tombstone = try store.deleteDocument(from: updated)
      #expect(datastoreError { try store.document(withID: "a") }?.code == .notFound)
      // Among tombstones the highest id wins.
      #expect(try store.changes().documents.map(\.revisionID.description) == ["9-f"])
      #expect(tombstone.revisionID.generation == 4)
    }
  }

  @Test func `deleting the document gives every live leaf a tombstone, newest first`() throws {
    try withConflict { store, winner, rival in
      let tombstones = try store.deleteDocument(withID: "a")
      #expect(tombstones.map(\.isDeleted) == [true, true])
      let parents = try tombstones.map { end in
        try store.read { try $0.revisionHistory(of: end) }[1].revisionID
      }
      #expect(parents == [winner.revisionID, rival.revisionID])
      #expect(try store.read { try $0.documentCount() } == 0)
      #expect(try store.read { try $0.allDocuments() } == [])
      #expect(datastoreError { try store.deleteDocument(withID: "a") }?.code == .notFound)
      #expect(try store.changes().documents.map(\.isDeleted) == [true])
    }
  }

  @Test func `a conflicted document is one document`() throws {
    try withConflict { store, winner, _ in
      let count = try store.read { try $0.documentCount() }
      #expect(count == 1)
      #expect(try store.read { try $0.allDocuments() } == [winner])
      #expect(try store.changes().documents.count == 1)
      #expect(
        datastoreError { try store.createDocument(from: DocumentDraft(id: "a", body: [:])) }?.code
          == .conflict)
    }
  }

  static let digest = String(repeating: "f", count: 32)
  static let lowDigest = String(repeating: "2", count: 32)

  /// Leaves in descending order.
  static let orders = [
    ["1-\(digest)", "1-zz"], ["1-zz", "1-\(lowDigest)", "1-"], ["1-3", "1-1", "1-\(lowDigest)"],
    ["1-3ffffffffffffffffffffffffffffff0", "1-39", "1-38"],
    ["1-\(digest)", "1-zz", "1-za", "1-0", "1-\(lowDigest)"],
  ]

  @Test(arguments: orders)
  func `the winner is CouchDB's among digests and other ids, whatever the order of arrival and of deletion`(
    _ order: [String]
  ) throws {
    for arrival in [order, order.reversed()] {
      try withTemporaryDatastore { store in
        for revision in arrival { try store.insert(revision) }
        for expected in order {
          let winner = try store.document(withID: "a")
          #expect(winner.revisionID.description == expected)
          try store.deleteDocument(from: winner)
        }
        #expect(try store.checkIntegrity().isEmpty)
      }
    }
  }

  @Test func `a store of an earlier version gets its winners again when it is opened, under a new sequence`()
    throws
  {
    try withTemporaryDirectory { directory in
      do {
        let manager = try DatastoreManager(directory: directory)
        let earlier = try manager.datastore(named: "store")
        for revision in ["1-\(Self.digest)", "1-zz"] { try earlier.insert(revision) }
        try manager.closeDatastore(named: "store")
      }
      // As the earlier version left it.
      try withDatabase(of: "store", in: directory) { connection in
        try connection.execute(
          """
          DELETE FROM meta WHERE key = 'winners';
          UPDATE documents SET text = '{"_id":"a","_rev":"1-zz","by":"1-zz"}', head = 24;
          UPDATE revisions SET revision = '1-\(Self.digest)', body = '{"by":"1-\(Self.digest)"}';
          """)
      }
      let manager = try DatastoreManager(directory: directory)
      let store = try manager.datastore(named: "store")
      #expect(try store.document(withID: "a").body["by"] == .string("1-\(Self.digest)"))
      #expect(try store.changes().documents.map(\.sequence) == [3])
      #expect(try store.checkIntegrity().isEmpty)
    }
  }
}
