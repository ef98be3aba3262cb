import CDTDatastore
import CDTJSON
import Testing

/// Trees as readers see them.
@Suite struct DocumentTreeTests {
  @Test func `a reader has the tree of each document that it asks for, and a writer the current one`() throws
  {
    try withTemporaryDatastore { store in
      try store.insert("2-b", after: ["1-a"])
      _ = try store.createDocument(from: DocumentDraft(id: "other", body: [:]))
      try store.read { snapshot throws in
        for _ in 0..<2 {
          #expect(try snapshot.tree(ofDocument: "a")?.nodes.count == 2)
          #expect(try snapshot.tree(ofDocument: "a")?.nodes.count == 2)
          #expect(try snapshot.tree(ofDocument: "other")?.nodes.count == 1)
          #expect(try snapshot.tree(ofDocument: "absent") == nil)
        }
      }
      try store.write { transaction throws in
        #expect(try transaction.tree(ofDocument: "other")?.nodes.count == 1)
        var other = try transaction.document(withID: "other")
        other.body["n"] = 1
        try transaction.updateDocument(from: other)
        #expect(try transaction.tree(ofDocument: "other")?.nodes.count == 2)
      }
    }
  }

  @Test func `the leaves below revisions, each in the order of all leaves`() throws {
    try withTemporaryDatastore { store in
      try store.insert("3-c", after: ["2-b", "1-a"])
      try store.insert("3-d", after: ["2-b", "1-a"])
      try store.insert("2-x", after: ["1-a"])
      let tree = try store.read { try $0.tree(ofDocument: "a") }
      let wanted = try Set(["1-a", "2-b", "2-x", "9-z"].map { try #require(RevisionID($0)) })
      let below = tree?.leaves(below: wanted) ?? [:]
      let texts = below.map { ($0.key.description, $0.value.map(\.id.description)) }
      #expect(
        Dictionary(uniqueKeysWithValues: texts) == [
          "1-a": ["3-d", "3-c", "2-x"], "2-b": ["3-d", "3-c"], "2-x": ["2-x"],
        ])
    }
  }
}
