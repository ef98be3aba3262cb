import CDTJSON
import CDTSQLite
import Foundation
import Testing

@testable import CDTDatastore

/// Trees of revisions that were made elsewhere, see `docs/conflicts.md`.
@Suite struct RevisionTreeTests {
  @Test func `a branch is grafted where its history meets the tree`() throws {
    try withTemporaryDatastore { store in
      #expect(try store.insert("2-x", after: ["1-a"]))
      #expect(try store.insert("3-c", after: ["2-b", "1-a"]))
      let tree = try TreeState(of: "a", in: store)
      #expect(tree.parents == ["1-a": "", "2-x": "1-a", "2-b": "1-a", "3-c": "2-b"])
      #expect(tree.leaves.keys.sorted() == ["2-x", "3-c"])
      #expect(try store.document(withID: "a").body == ["by": "3-c"])
      #expect(try store.read { try $0.conflictedDocumentIDs() } == ["a"])
      let history = try store.read { try $0.revisionHistory(of: try store.document(withID: "a")) }
      #expect(history.map(\.revisionID.description) == ["3-c", "2-b", "1-a"])
      #expect(history.map(\.hasBody) == [true, false, false])
      #expect(try store.checkIntegrity() == [])
    }
  }

  @Test func `inserting again changes nothing, not even the last sequence`() throws {
    try withTemporaryDatastore { store in
      try store.insert(
        "3-c", after: ["2-b", "1-a"],
        attachments: [
          DocumentAttachment(data: Data("x".utf8), name: "x", contentType: "text/plain")
        ])
      try store.insert("2-x", after: ["1-a"], isDeleted: true)
      for (inner, ancestors) in [("2-b", ["1-a"]), ("1-a", [])] {
        #expect(try store.insert(inner, after: ancestors))
      }
      let before = try StoreState(store)
      #expect(try !store.insert("3-c", after: ["2-b", "1-a"]))
      #expect(try !store.insert("3-c", after: ["2-b"]))
      #expect(try !store.insert("3-c"))
      #expect(try !store.insert("2-x", after: ["1-a"], isDeleted: true))
      #expect(try !store.insert("2-b", after: ["1-a"]))
      #expect(try !store.insert("1-a"))
      #expect(try StoreState(store) == before)
    }
  }

  @Test func `an edit that came without its parent is the same edit made here`() throws {
    // Each as it may be there before: the winner, a losing leaf, an ancestor of which only the id is known.
    for rivals in [[], ["9-f"], ["3-c"]] {
      try withTemporaryDatastore { store in
        let edit = "2-be2c05cd85b8468ce92b04e001b0e923"
        var first = try store.createDocument(from: DocumentDraft(id: "a", body: ["hello": "world"]))
        if rivals == ["3-c"] {
          try store.insert("3-c", after: [edit])
        } else {
          try store.write { try $0.forceInsert(try remote(edit, body: ["hi": "mike"])) }
          for rival in rivals { try store.insert(rival) }
        }
        first.body = ["hi": "mike"]
        #expect(try store.updateDocument(from: first).revisionID.description == edit)
        #expect(try store.checkIntegrity() == [])
        let tree = try TreeState(of: "a", in: store)
        #expect(tree.parents[edit] == "1-1f7588ca02054efe626a6e440a431861")
        #expect(tree.leaves.count == 1 + (rivals == ["9-f"] ? 1 : 0))
        #expect(datastoreError { try store.updateDocument(from: first) }?.code == .conflict)
      }
    }
  }

  @Test func `a deletion that came without its parent is the same deletion made here`() throws {
    try withTemporaryDatastore { store in
      let first = try store.createDocument(from: DocumentDraft(id: "a", body: ["hello": "world"]))
      try store.write {
        try $0.forceInsert(try remote("2-1903c663d301c3170ad524f008c9a517", body: nil, isDeleted: true))
      }
      #expect(try store.read { try $0.documentCount() } == 1)
      try store.deleteDocument(from: first)
      #expect(try store.checkIntegrity() == [])
      #expect(try TreeState(of: "a", in: store).leaves.count == 1)
      #expect(try store.read { try $0.documentCount() } == 0)
    }
  }

  @Test
  func `a revision that is known is left as it is, but an ancestor of which only the id came gets its body`()
    throws
  {
    try withTemporaryDatastore { store in
      try store.insert("2-b", after: ["1-a"])
      let first = try #require(RevisionID("1-a"))
      func body() throws -> JSONObject {
        try store.read { try $0.document(withID: "a", revisionID: first).body }
      }
      #expect(datastoreError { try body() }?.code == .notFound)
      let file = DocumentAttachment(data: Data("x".utf8), name: "x", contentType: "text/plain")
      #expect(try store.insert("1-a", attachments: [file]))
      #expect(try body() == ["by": "1-a"])
      #expect(try store.read { try $0.document(withID: "a", revisionID: first).attachments.names } == ["x"])
      #expect(try store.document(withID: "a").revisionID.description == "2-b")
      #expect(try store.checkIntegrity() == [])
      #expect(try !store.insert("1-a"))
      try store.compact()
      #expect(datastoreError { try body() }?.code == .notFound)
      #expect(try !store.write { try $0.forceInsert(try remote("2-b", body: ["other": 1])) })
      #expect(try store.document(withID: "a").body == ["by": "2-b"])
    }
  }

  @Test func `of two histories that contradict each other the first one stays`() throws {
    try withTemporaryDatastore { store in
      try store.insert("3-c", after: ["2-b", "1-a"])
      #expect(try store.insert("4-d", after: ["3-c", "2-x", "1-x"]))
      let tree = try TreeState(of: "a", in: store)
      #expect(tree.parents == ["4-d": "3-c", "3-c": "2-b", "2-b": "1-a", "1-a": ""])
      #expect(try store.checkIntegrity() == [])
    }
  }

  @Test func `missing revisions are those of which the tree has no trace`() throws {
    try withTemporaryDatastore { store in
      try store.insert("3-c", after: ["2-b", "1-a"])
      let requested = try revisionIDs(["3-c", "3-d", "2-b", "1-a", "1-A", "9223372036854775807-a"])
      #expect(
        try store.read { try $0.missingRevisions(of: "a", among: requested) }.map(\.description)
          == ["3-d", "1-A", "9223372036854775807-a"])
      #expect(try store.read { try $0.missingRevisions(of: "b", among: requested) } == requested)
      #expect(try store.read { try $0.missingRevisions(of: "a", among: []) } == [])
    }
  }

  @Test func `ids of revisions are told apart by their bytes`() throws {
    try withTemporaryDatastore { store in
      try store.insert("1-\u{e9}")
      #expect(try store.insert("1-e\u{301}"))
      #expect(try store.insert("1-a\0b"))
      #expect(try store.insert("1-a\0c"))
      #expect(try store.read { try $0.currentRevisions(ofDocument: "a") }.count == 4)
      #expect(try store.checkIntegrity() == [])
    }
  }

  // MARK: Leaves

  @Test func `losing leaves are updated and deleted on their own`() throws {
    try withTemporaryDatastore { store in
      try store.insert("2-x", after: ["1-a"])
      try store.insert("3-c", after: ["2-b", "1-a"])
      var loser = try store.read { try $0.currentRevisions(ofDocument: "a") }[1]
      loser.body["more"] = 1
      loser = try store.updateDocument(from: loser)
      #expect(loser.revisionID.generation == 3)
      #expect(try store.checkIntegrity() == [])
      try store.deleteDocument(from: loser)
      #expect(try store.checkIntegrity() == [])
      #expect(try store.document(withID: "a").body == ["by": "3-c"])
      #expect(try store.read { try $0.conflictedDocumentIDs() } == [])
    }
  }

  @Test func `a deleted document with several tombstones is continued at its winner`() throws {
    try withTemporaryDatastore { store in
      try store.insert("2-x", after: ["1-a"], isDeleted: true)
      try store.insert("3-c", after: ["2-b", "1-a"], isDeleted: true)
      #expect(try store.read { try $0.documentCount() } == 0)
      let again = try store.createDocument(from: DocumentDraft(id: "a", body: ["n": 1]))
      #expect(again.revisionID.generation == 4)
      #expect(
        try store.read { try $0.revisionHistory(of: again) }.map(\.revisionID.description).dropFirst()
          == ["3-c", "2-b", "1-a"])
      #expect(try store.read { try $0.conflictedDocumentIDs() } == [])
      #expect(try store.checkIntegrity() == [])
    }
  }

  @Test func `a tombstone can't be deleted`() throws {
    try withTemporaryDatastore { store in
      let saved = try store.createDocument(from: DocumentDraft(id: "a", body: [:]))
      let tombstone = try store.deleteDocument(from: saved)
      let before = try StoreState(store)
      let error = datastoreError { try store.deleteDocument(from: tombstone) }
      #expect(error?.code == .notFound)
      #expect(error?.message == #"document "a" is deleted; create it again to reuse the id"#)
      #expect(try StoreState(store) == before)

      try store.insert("1-b")
      let loser = datastoreError { try store.deleteDocument(from: tombstone) }
      #expect(loser?.code == .notFound)
      #expect(
        loser?.message == "revision 2-84f7f4ef8554e31a2386a36a1e922fcf of document \"a\" is already deleted; "
          + "name a revision that is not deleted")
      #expect(try store.checkIntegrity() == [])
    }
  }

  @Test func `of a hundred branches the highest wins, and all are deleted at once`() throws {
    try withTemporaryDatastore { store in
      let suffixes = (0..<100).map { String(format: "%02d", $0 * 37 % 100) }
      for suffix in suffixes { try store.insert("2-\(suffix)", after: ["1-a"]) }
      #expect(try store.document(withID: "a").revisionID.description == "2-99")
      #expect(
        try store.read { try $0.currentRevisions(ofDocument: "a") }.map(\.revisionID.suffix)
          == suffixes.sorted().reversed())
      #expect(try store.checkIntegrity() == [])
      let tombstones = try store.deleteDocument(withID: "a")
      #expect(tombstones.map(\.revisionID.generation) == Array(repeating: 3, count: 100))
      #expect(try store.checkIntegrity() == [])
    }
  }

  @Test func `a thousand generations are kept, in one history`() throws {
    try withTemporaryDatastore { store in
      try store.createDocument(from: DocumentDraft(id: "a", body: ["n": 1]))
      try store.write { transaction in
        for _ in 2...1_000 {
          try transaction.updateDocument(withID: "a") {
            $0.body["n"] = ($0.body["n"]?.intValue ?? 0) + 1
          }
        }
      }
      let last = try store.document(withID: "a")
      #expect(last.body == ["n": 1_000])
      let history = try store.read { try $0.revisionHistory(of: last) }
      #expect(history.map(\.revisionID.generation) == Array((1...1_000).reversed()))
      #expect(history.map(\.body) == (1...1_000).reversed().map { ["n": .int($0)] })
      #expect(try store.checkIntegrity() == [])
    }
  }

  @Test func `a history of 100,000 entries is taken`() throws {
    try withTemporaryDatastore { store in
      let ancestors = (1..<100_000).reversed().map { "\($0)-a" }
      try store.insert("100000-a", after: ancestors)
      #expect(try store.insert("50001-b", after: ["50000-a"]))
      #expect(try !store.insert("100000-a", after: ancestors))
      #expect(try store.read { try $0.revisionHistory(of: try store.document(withID: "a")) }.count == 100_000)
      #expect(
        try store.read { try $0.currentRevisions(ofDocument: "a") }.map(\.revisionID.generation) == [
          100_000, 50_001,
        ])
      #expect(try store.checkIntegrity() == [])
    }
  }

  // MARK: Refusals

  struct Refusal: Sendable, CustomTestStringConvertible {
    let testDescription, revision: String
    let history: [String]
    let error: String
  }

  static let refusals = [
    Refusal(
      testDescription: "a gap", revision: "3-c", history: ["3-c", "1-a"],
      error: #"in the history of document "a" 1-a follows 3-c; list every generation, newest first"#),
    Refusal(
      testDescription: "oldest first", revision: "1-a", history: ["1-a", "2-b"],
      error: #"in the history of document "a" 2-b follows 1-a; list every generation, newest first"#),
    Refusal(
      testDescription: "a revision twice", revision: "2-b", history: ["2-b", "2-b", "1-a"],
      error: #"in the history of document "a" 2-b follows 2-b; list every generation, newest first"#),
    Refusal(
      testDescription: "of another revision", revision: "3-c", history: ["2-b", "1-a"],
      error: #"the history of revision 3-c of document "a" begins with 2-b; list the revision itself first"#),
    Refusal(
      testDescription: "far apart", revision: "9223372036854775806-a",
      history: ["9223372036854775806-a", "1-a"],
      error: #"in the history of document "a" 1-a follows 9223372036854775806-a; list every generation, "#
        + "newest first"),
    Refusal(
      testDescription: "the highest generation", revision: "9223372036854775807-a", history: [],
      error:
        "revision 9223372036854775807-a has the highest possible generation; copy the document to a new id"),
  ]

  @Test(arguments: refusals) func `a history that can't be is refused`(_ refusal: Refusal) throws {
    try withTemporaryDatastore { store in
      for isThere in [false, true] {
        if isThere { try store.insert("2-b", after: ["1-a"]) }
        let before = try StoreState(store)
        let revision = try remote(
          refusal.revision,
          attachments: [DocumentAttachment(data: Data("x".utf8), name: "x", contentType: "")])
        let error = datastoreError {
          try store.write { try $0.forceInsert(revision, history: try revisionIDs(refusal.history)) }
        }
        #expect(error?.code == .invalidRevision)
        #expect(error?.message == refusal.error)
        #expect(try StoreState(store) == before)
        #expect(store.attachmentFileNames == [])
      }
    }
  }

  @Test func `a document that can't be saved can't be inserted`() throws {
    try withTemporaryDatastore { store in
      let before = try StoreState(store)
      let one = try #require(RevisionID("1-a"))
      let attempts: [(DocumentRevision, DatastoreError.Code)] = [
        (DocumentRevision(id: "", revisionID: one, body: [:]), .invalidID),
        (DocumentRevision(id: "_a", revisionID: one, body: [:]), .invalidID),
        (DocumentRevision(id: "a", revisionID: one, body: nil), .missingBody),
        (DocumentRevision(id: "a", revisionID: one, body: ["_x": 1]), .reservedKey),
        (DocumentRevision(id: "a", revisionID: one, body: ["x": .double(.nan)]), .invalidBody),
        (
          DocumentRevision(
            id: "a", revisionID: one, body: [:],
            attachments: ["x": DocumentAttachment(data: Data(), name: "y", contentType: "")]),
          .invalidAttachment
        ),
      ]
      for (revision, code) in attempts {
        #expect(datastoreError { try store.write { try $0.forceInsert(revision) } }?.code == code)
      }
      #expect(try StoreState(store) == before)
    }
  }

  @Test func `at the highest generation a document can be read and nothing else`() throws {
    try withTemporaryDatastore { store in
      try store.insert("9223372036854775806-a")
      let last = try store.updateDocument(from: try store.document(withID: "a"))
      #expect(last.revisionID.generation == Int.max)
      #expect(try store.insert("2-b", after: ["1-a"]))
      let before = try StoreState(store)
      #expect(datastoreError { try store.updateDocument(from: last) }?.code == .invalidRevision)
      #expect(datastoreError { try store.deleteDocument(withID: "a") }?.code == .invalidRevision)
      // Nothing is done by halves, also where the error is passed over.
      try store.write { transaction in
        #expect(datastoreError { try transaction.deleteDocument(withID: "a") }?.code == .invalidRevision)
        let error = datastoreError {
          try transaction.resolveConflicts(for: "a") { _, leaves in
            var changed = leaves[1]
            changed.body["n"] = 1
            return changed
          }
        }
        #expect(error?.code == .invalidRevision)
      }
      #expect(try StoreState(store) == before)
      #expect(try store.read { try $0.currentRevisions(ofDocument: "a") }.count == 2)
      #expect(try store.checkIntegrity() == [])
    }
  }

  /// The work of SQLite is counted, as time says little on a machine that is busy.
  @Test func `inserting, extending and deleting a leaf costs no more with more leaves`() throws {
    func steps(_ count: Int) throws -> [Int] {
      try withTemporaryDatastore { store in
        try store.write { transaction in
          for number in 0..<count {
            try transaction.forceInsert(
              try remote("2-\(number)"), history: try revisionIDs(["2-\(number)", "1-a"]))
          }
        }
        var counts: [Int] = []
        for (revision, parent) in [("2-a", "1-a"), ("3-a", "2-99"), ("3-b", "2-5"), ("4-t", "3-b")] {
          try store.write { transaction in
            let connection = try transaction.use { $0 }
            var count = 0
            connection.setProgressCheck {
              count += 1
              return true
            }
            defer { connection.setProgressCheck(nil) }
            try transaction.forceInsert(
              try remote(revision, body: [:], isDeleted: revision == "4-t"),
              history: try revisionIDs([revision, parent]))
            counts.append(count)
          }
        }
        #expect(try store.document(withID: "a").revisionID.description == "3-a")
        #expect(try store.checkIntegrity() == [])
        try store.deleteDocument(withID: "a")
        #expect(try store.checkIntegrity() == [])
        return counts
      }
    }
    let (few, many) = (try steps(100), try steps(3_000))
    for (few, many) in zip(few, many) { #expect(many <= few + 1, "\(few) and \(many)") }
  }
}
