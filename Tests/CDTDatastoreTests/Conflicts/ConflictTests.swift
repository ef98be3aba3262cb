import CDTDatastore
import CDTJSON
import Foundation
import Testing

/// Listing and resolving conflicts, see `docs/conflicts.md`.
@Suite struct ConflictTests {
  /// Runs `body` with a document of three leaves that live, 3-c, 2-x and 2-b, and a tombstone, 5-t.
  private func withConflict(_ body: (Datastore) throws -> Void) throws {
    try withTemporaryDatastore { store in
      for revision in ["2-b", "2-x"] {
        try store.insert(
          revision, after: ["1-a"],
          attachments: [
            DocumentAttachment(data: Data(revision.utf8), name: "\(revision).txt", contentType: "text/plain")
          ])
      }
      try store.insert("3-c", after: ["2-a", "1-a"])
      try store.insert("5-t", isDeleted: true)
      try body(store)
    }
  }

  private func leaves(_ store: Datastore) throws -> [String] {
    try store.read { try $0.currentRevisions(ofDocument: "a") }.compactMap { $0.revisionID.description }
  }

  @Test func `conflicted are the documents with more than one leaf that lives, by id`() throws {
    try withTemporaryDatastore { store in
      for id in ["d", "b", "a"] { try store.insert("1-x", of: id) }
      #expect(try store.read { try $0.conflictedDocumentIDs() } == [])
      for id in ["d", "b"] { try store.insert("1-y", of: id) }
      try store.insert("1-y", of: "a", isDeleted: true)
      try store.insert("1-x", of: "c", isDeleted: true)
      try store.insert("1-y", of: "c", isDeleted: true)
      #expect(try store.read { try $0.conflictedDocumentIDs() } == ["b", "d"])
      try store.deleteDocument(withID: "d")
      #expect(try store.read { try $0.conflictedDocumentIDs() } == ["b"])
    }
  }

  @Test func `current revisions come newest first, without tombstones`() throws {
    try withConflict { store in
      #expect(try leaves(store) == ["3-c", "2-x", "2-b"])
      #expect(try store.read { try $0.currentRevisions(ofDocument: "a") }[0] == store.document(withID: "a"))
      let error = datastoreError { try store.read { try $0.currentRevisions(ofDocument: "b") } }
      #expect(error?.code == .notFound)
      try store.deleteDocument(withID: "a")
      #expect(try leaves(store) == [])
    }
  }

  @Test func `a resolver is called once, with the leaves newest first`() throws {
    try withConflict { store in
      var calls: [String] = []
      let stayed = try store.write { transaction in
        try transaction.resolveConflicts(for: "a") { id, leaves in
          calls.append("\(id): \(leaves.map { $0.revisionID.description })")
          #expect(leaves.map(\.body) == [["by": "3-c"], ["by": "2-x"], ["by": "2-b"]])
          return leaves[0]
        }
      }
      #expect(calls == [#"a: ["3-c", "2-x", "2-b"]"#])
      #expect(stayed?.revisionID.description == "3-c")
      #expect(try store.read { try $0.conflictedDocumentIDs() } == [])
      #expect(try store.checkIntegrity() == [])
    }
  }

  @Test(arguments: [
    ["2-b", "10-a", "9-z", "10-b"], ["10-b", "9-z", "10-a", "2-b"], ["9-z", "10-b", "2-b", "10-a"],
  ])
  func `leaves come in descending order of their ids, the winner among them, however they arrived`(
    _ arrival: [String]
  ) throws {
    try withTemporaryDatastore { store in
      for revision in arrival { try store.insert(revision) }
      try store.insert("11-t", isDeleted: true)
      let expected = ["10-b", "10-a", "9-z", "2-b"]
      let winner = try store.document(withID: "a")
      #expect(winner.revisionID.description == "10-b")
      #expect(try leaves(store) == expected)
      struct Recording: ConflictResolver {
        let expected: [String]
        let winner: DocumentRevision

        func resolve(documentID: String, conflicts: [DocumentRevision]) -> DocumentRevision? {
          #expect(conflicts.compactMap { $0.revisionID.description } == expected)
          #expect(conflicts.contains(winner))
          return nil
        }
      }
      try store.write {
        try $0.resolveConflicts(for: "a", with: Recording(expected: expected, winner: winner))
      }
      try store.write { transaction in
        _ = try transaction.resolveConflicts(for: "a") { _, leaves in
          #expect(leaves.compactMap { $0.revisionID.description } == expected)
          return nil
        }
      }
    }
  }

  @Test func `without a conflict no resolver is called`() throws {
    try withTemporaryDatastore { store in
      try store.insert("1-a")
      try store.insert("2-t", isDeleted: true)
      try store.insert("1-t", of: "deleted", isDeleted: true)
      let before = try StoreState(store)
      for id in ["a", "deleted"] {
        let stayed = try store.write {
          try $0.resolveConflicts(for: id) { _, leaves in
            Issue.record("called")
            return leaves.first
          }
        }
        #expect(stayed == nil)
      }
      #expect(try StoreState(store) == before)
      let error = datastoreError { try store.write { try $0.resolveConflicts(for: "b") { _, _ in nil } } }
      #expect(error?.code == .notFound)
    }
  }

  @Test func `nil changes nothing`() throws {
    try withConflict { store in
      let before = try StoreState(store)
      #expect(try store.write { try $0.resolveConflicts(for: "a") { _, _ in nil } } == nil)
      #expect(try StoreState(store) == before)
      #expect(try leaves(store) == ["3-c", "2-x", "2-b"])
    }
  }

  @Test func `an unchanged leaf stays as it is, also one of a lower generation`() throws {
    for kept in ["3-c", "2-x", "2-b"] {
      try withConflict { store in
        let stayed = try store.write { transaction in
          try transaction.resolveConflicts(for: "a") { _, leaves in
            leaves.first { $0.revisionID.description == kept }
          }
        }
        #expect(stayed?.revisionID.description == kept)
        #expect(try store.document(withID: "a") == stayed)
        #expect(try leaves(store) == [kept])
        #expect(try store.read { try $0.documentCount() } == 1)
        let tree = try TreeState(of: "a", in: store)
        let tombstones = tree.leaves.keys.filter { $0 != kept && $0 != "5-t" }.compactMap { tree.parents[$0] }
        #expect(tombstones.sorted() == ["3-c", "2-x", "2-b"].filter { $0 != kept }.sorted())
        #expect(try store.checkIntegrity() == [])
      }
    }
  }

  @Test func `a changed leaf becomes a child of the one whose revision it carries`() throws {
    try withConflict { store in
      let stayed = try #require(
        try store.write { transaction in
          try transaction.resolveConflicts(for: "a") { _, leaves in
            var merged = leaves[2]
            merged.body["all"] = .array(leaves.compactMap { $0.body["by"] })
            return merged
          }
        })
      #expect(stayed.revisionID.generation == 3)
      #expect(try store.read { try $0.revisionHistory(of: stayed) }[1].revisionID.description == "2-b")
      #expect(try store.document(withID: "a").body == ["by": "2-b", "all": ["3-c", "2-x", "2-b"]])
      #expect(try leaves(store).count == 1)
      #expect(try store.checkIntegrity() == [])
    }
  }

  @Test func `a change of a leaf's attachments alone is a change`() throws {
    try withConflict { store in
      let stayed = try #require(
        try store.write {
          try $0.resolveConflicts(for: "a") { _, leaves in
            var changed = leaves[2]
            changed.attachments = []
            return changed
          }
        })
      #expect(stayed.revisionID.generation == 3)
      #expect(try store.document(withID: "a").attachments.isEmpty)
    }
  }

  @Test func `attachments carried from any leaf are kept, and new ones saved`() throws {
    try withConflict { store in
      try store.write {
        try $0.resolveConflicts(for: "a") { _, leaves in
          var merged = leaves[0]
          for leaf in leaves {
            for attachment in leaf.attachments { merged.attachments[attachment.name] = attachment }
          }
          merged.attachments["new"] = DocumentAttachment(data: Data("new".utf8), name: "new", contentType: "")
          return merged
        }
      }
      try store.compact()
      let attachments = try store.document(withID: "a").attachments
      #expect(attachments.names == ["2-b.txt", "2-x.txt", "new"])
      #expect(try attachments.map { try $0.data() } == ["2-b", "2-x", "new"].map { Data($0.utf8) })
      #expect(attachments.map(\.generation) == [4, 4, 4])
      #expect(try store.checkIntegrity() == [])
    }
  }

  struct Stranger: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let decision: @Sendable (_ leaves: [DocumentRevision]) -> DocumentRevision
  }

  static let strangers = [
    Stranger(testDescription: "of another document") { leaves in
      DocumentRevision(id: "b", revisionID: leaves[0].revisionID, body: leaves[0].body)
    },
    Stranger(testDescription: "an inner revision") { leaves in
      DocumentRevision(id: "a", revisionID: RevisionID(generation: 1, suffix: "a"), body: [:])
    },
    Stranger(testDescription: "a tombstone") { leaves in
      DocumentRevision(
        id: "a", revisionID: RevisionID(generation: 5, suffix: "t"), body: [:], isDeleted: true)
    },
    Stranger(testDescription: "a leaf said to be deleted") { leaves in
      DocumentRevision(
        id: "a", revisionID: RevisionID(generation: 2, suffix: "x"), body: leaves[1].body, isDeleted: true)
    },
  ]

  @Test(arguments: strangers) func `a revision other than a leaf is refused`(_ stranger: Stranger)
    throws
  {
    try withConflict { store in
      let before = try StoreState(store)
      let error = datastoreError {
        try store.write { try $0.resolveConflicts(for: "a") { _, leaves in stranger.decision(leaves) } }
      }
      #expect(error?.code == .invalidResolution)
      #expect(error?.documentID == "a")
      #expect(try StoreState(store) == before)
      #expect(try leaves(store) == ["3-c", "2-x", "2-b"])
    }
  }

  @Test func `a decision that can't be saved changes nothing`() throws {
    try withConflict { store in
      let before = try StoreState(store)
      let files = store.attachmentFileNames
      let changes: [(inout DocumentRevision) -> Void] = [
        { $0.body["_x"] = 1 }, { $0.body["x"] = .double(.infinity) },
        { $0.attachments["x"] = DocumentAttachment(data: Data(), name: "y", contentType: "") },
        { $0.attachments["x"] = DocumentAttachment(file: "/nowhere", name: "x", contentType: "") },
      ]
      for change in changes {
        datastoreError {
          try store.write {
            try $0.resolveConflicts(for: "a") { _, leaves in
              var changed = leaves[1]
              change(&changed)
              return changed
            }
          }
        }
        #expect(try StoreState(store) == before)
        #expect(store.attachmentFileNames == files)
        #expect(try leaves(store) == ["3-c", "2-x", "2-b"])
      }
    }
  }

  struct Undecided: Error, Equatable {}

  @Test func `a resolver's own error passes through, and nothing has changed`() throws {
    try withConflict { store in
      let before = try StoreState(store)
      #expect(throws: Undecided()) {
        try store.write { try $0.resolveConflicts(for: "a") { _, _ in throw Undecided() } }
      }
      #expect(try StoreState(store) == before)
    }
  }

  @Test func `a resolver reads what it likes but can't write`() throws {
    try withConflict { store in
      let before = try StoreState(store)
      let error = datastoreError {
        try store.write {
          try $0.resolveConflicts(for: "a") { id, leaves in
            #expect(try store.document(withID: id) == leaves[0])
            try store.createDocument(from: DocumentDraft(body: [:]))
            return leaves[0]
          }
        }
      }
      #expect(error?.code == .nestedWrite)
      #expect(try StoreState(store) == before)
    }
  }

  struct Longest: ConflictResolver {
    func resolve(documentID: String, conflicts: [DocumentRevision]) throws -> DocumentRevision? {
      conflicts.max { $0.attachments.count < $1.attachments.count }
    }
  }

  @Test func `a resolver can be a type, also in a transaction with other writes`() throws {
    try withConflict { store in
      #expect(try store.write { try $0.resolveConflicts(for: "a", with: Longest()) }?.attachments.count == 1)
      try store.insert("9-z")
      try store.write { transaction in
        try transaction.createDocument(from: DocumentDraft(id: "log", body: [:]))
        try transaction.resolveConflicts(for: "a") { _, leaves in leaves.last }
        try transaction.createDocument(from: DocumentDraft(id: "more", body: [:]))
      }
      #expect(try store.read { try $0.conflictedDocumentIDs() } == [])
      #expect(try store.read { try $0.documentCount() } == 3)
      #expect(try store.checkIntegrity() == [])
    }
  }

  /// The common ancestor, the winner, another leaf, and what becomes of them.
  static let merges: [(base: String, winner: String, other: String, merged: String)] = [
    (#"{"n":1,"m":1}"#, #"{"n":2,"m":1}"#, #"{"n":1,"m":2}"#, #"{"n":2,"m":2}"#),
    (#"{"n":1}"#, #"{"n":2}"#, #"{"n":3}"#, #"{"n":2}"#),
    (
      #"{"a":{"x":1,"y":1}}"#, #"{"a":{"x":2,"y":1}}"#, #"{"a":{"x":1,"y":2,"z":3}}"#,
      #"{"a":{"x":2,"y":2,"z":3}}"#
    ),
    (#"{"a":1,"b":1,"c":1}"#, #"{"b":1,"c":1}"#, #"{"a":1,"c":2}"#, #"{"c":2}"#),
    (#"{"a":1}"#, #"{"a":2}"#, "{}", #"{"a":2}"#),
    (#"{}"#, #"{"a":{"x":1}}"#, #"{"a":{"y":1}}"#, #"{"a":{"x":1,"y":1}}"#),
    (#"{"t":["a"]}"#, #"{"t":["a"]}"#, #"{"t":["a","b"]}"#, #"{"t":["a","b"]}"#),
  ]

  @Test(arguments: merges)
  func `leaves merged since their common ancestor keep what only one has changed`(
    base: String, winner: String, other: String, merged: String
  ) throws {
    try withTemporaryDatastore { store in
      try store.write { transaction in
        for (revision, text) in [("1-a", base), ("2-b", other), ("2-c", winner)] {
          try transaction.forceInsert(
            try remote(revision, body: JSONObject(parsing: text)),
            history: revision == "1-a" ? [] : try revisionIDs([revision, "1-a"]))
        }
        try transaction.resolveConflicts(for: "a") { _, leaves, base in leaves.merged(since: base) }
      }
      #expect(try store.document(withID: "a").body == JSONObject(parsing: merged))
      #expect(try store.read { try $0.conflictedDocumentIDs() } == [])
    }
  }

  @Test func `leaves merged since their common ancestor keep the attachments that only one has changed`()
    throws
  {
    func file(_ name: String, _ content: String) -> DocumentAttachment {
      DocumentAttachment(data: Data(content.utf8), name: name, contentType: "text/plain")
    }
    try withTemporaryDatastore { store in
      let base = try store.createDocument(
        from: DocumentDraft(
          id: "a", body: [:], attachments: [file("kept", "1"), file("gone", "1"), file("both", "1")]))
      let history = [base.revisionID]
      for (revision, attachments) in [
        ("2-b", [file("kept", "1"), file("both", "2"), file("added", "1")]),
        ("2-ffffffffffffffffffffffffffffffff", [file("kept", "1"), file("gone", "1"), file("both", "3")]),
      ] as [(String, Attachments)] {
        let leaf = try remote(revision, attachments: attachments)
        try store.write { try $0.forceInsert(leaf, history: [leaf.revisionID] + history) }
      }
      try store.write { try $0.resolveConflicts(for: "a") { _, leaves, base in leaves.merged(since: base) } }
      let merged = try store.document(withID: "a").attachments
      #expect(merged.names == ["added", "both", "kept"])
      #expect(try merged["both"]?.data() == Data("3".utf8))
    }
  }

  @Test func `the winner stays as it is if the content of the common ancestor is gone`()
    throws
  {
    try withTemporaryDatastore { store in
      for revision in ["2-b", "2-c"] { try store.insert(revision, after: ["1-a"]) }
      try store.write {
        try $0.resolveConflicts(for: "a") { _, leaves, base in
          #expect(base == nil)
          return leaves.merged(since: base)
        }
      }
      #expect(try store.document(withID: "a").revisionID.description == "2-c")
    }
  }
}
