import Testing

@testable import CDTDatastore

/// A transaction remembers the row that it has read, for the update that follows.
@Suite struct KnownRowTests {
  @Test func `a document that a transaction has read is updated once`() throws {
    try withTemporaryDatastore { store in
      try store.createDocument(from: DocumentDraft(id: "a", body: ["n": 1]))
      try store.write { transaction in
        var read = try transaction.document(withID: "a")
        read.body["n"] = 2
        let second = try transaction.updateDocument(from: read)
        let error = datastoreError { try transaction.updateDocument(from: read) }
        #expect(error?.code == .conflict)
        #expect(try transaction.document(withID: "a") == second)
      }
      let winner = try store.document(withID: "a")
      #expect(try store.read { try $0.revisionHistory(of: winner) }.map(\.body) == [["n": 2], ["n": 1]])
      #expect(try store.checkIntegrity().isEmpty)
    }
  }

  @Test func `a deletion between reading and saving is noticed`() throws {
    try withTemporaryDatastore { store in
      let first = try store.createDocument(from: DocumentDraft(id: "a", body: ["n": 1]))
      try store.write { transaction in
        let read = try transaction.document(withID: "a")
        try transaction.deleteDocument(from: first)
        #expect(datastoreError { try transaction.updateDocument(from: read) }?.code == .conflict)
      }
      #expect(try store.read { try $0.documentCount() } == 0)
    }
  }

  @Test func `a change of another document, or one that failed, leaves what was read right`() throws {
    try withTemporaryDatastore { store in
      for id in ["a", "b", "\u{E9}", "e\u{301}"] {
        try store.createDocument(from: DocumentDraft(id: id, body: ["id": .string(id)]))
      }
      try store.write { transaction in
        var read = try transaction.document(withID: "\u{E9}")
        var other = try transaction.document(withID: "e\u{301}")
        other.body["n"] = 1
        read.body["n"] = 2
        try transaction.updateDocument(from: read)
        try transaction.updateDocument(from: other)
        var a = try transaction.document(withID: "a")
        let taken = datastoreError {
          try transaction.createDocument(from: DocumentDraft(id: "b", body: [:]))
        }
        #expect(taken?.code == .conflict)
        a.body["n"] = 3
        try transaction.updateDocument(from: a)
      }
      #expect(try store.document(withID: "\u{E9}").body == ["id": "\u{E9}", "n": 2])
      #expect(try store.document(withID: "e\u{301}").body == ["id": "e\u{301}", "n": 1])
      #expect(try store.document(withID: "a").body == ["id": "a", "n": 3])
      #expect(try store.checkIntegrity().isEmpty)
    }
  }

  @Test func `a conflict that comes between reading and saving is in the tree`() throws {
    try withTemporaryDatastore { store in
      try store.insert("1-a")
      try store.insert("2-b", after: ["1-a"])
      try store.write { transaction in
        var read = try transaction.document(withID: "a")
        try transaction.forceInsert(
          try remote("3-c", body: ["by": "3-c"]), history: try revisionIDs(["3-c", "2-c", "1-a"]))
        read.body["by"] = "here"
        try transaction.updateDocument(from: read)
      }
      #expect(try store.checkIntegrity().isEmpty)
      let state = try TreeState(of: "a", in: store)
      #expect(state.leaves.count == 2)
      #expect(state.leaves["3-c"] != nil)
    }
  }
}
