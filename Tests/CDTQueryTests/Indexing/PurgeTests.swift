import CDTJSON
import CDTTestSupport
import Testing

@testable import CDTDatastore
@testable import CDTQuery

/// Documents that are removed with their history.
@Suite struct PurgeTests {
  @Test func `a purged document is gone, and can come back`() throws {
    try withTemporaryDatastore { store in
      try store.ensureIndexed(["n"])
      let first = try store.createDocument(from: DocumentDraft(id: "a", body: ["n": 1]))
      let second = try store.updateDocument(withID: "a") {
        $0.body["n"] = 2
        $0.attachments["a"] = DocumentAttachment(data: .init("x".utf8), name: "a", contentType: "text/plain")
      }
      try store.write { transaction in
        let branch = DocumentRevision(
          id: "a", revisionID: RevisionID(generation: 2, suffix: "b"), body: ["n": 3])
        try transaction.forceInsert(branch, history: [branch.revisionID, first.revisionID])
      }
      let before = try store.read { try $0.lastSequence() }
      #expect(try store.write { try $0.purge("a") })
      #expect(try !store.write { try $0.purge("a") })
      #expect(try !store.write { try $0.purge("other") })
      #expect(try store.changes(since: before).documents.map { "\($0.id) \($0.isDeleted)" } == ["a true"])
      #expect(throws: DatastoreError.self) { try store.document(withID: "a") }
      #expect(try store.count(["n": ["$gt": 0]]) == 0)
      #expect(try store.checkIndexes() == [] && store.checkIntegrity() == [])
      #expect(try store.read { try $0.attachmentCount() } == 0)
      let known = [first.revisionID, second.revisionID]
      #expect(try store.read { try $0.missingRevisions(of: "a", among: known) } == known)
      #expect(throws: DatastoreError.self) { try store.updateDocument(from: second) }

      // From a replicator, with its history.
      try store.write { _ = try $0.forceInsert(second, history: [second.revisionID, first.revisionID]) }
      #expect(try store.document(withID: "a").revisionID == second.revisionID)
      #expect(try store.read { try $0.tree(ofDocument: "a")?.leaves.map(\.id) } == [second.revisionID])
      #expect(try store.find(["n": 2]).map(\.id) == ["a"])
      // Made anew.
      try store.write { _ = try $0.purge("a") }
      let anew = try store.createDocument(from: DocumentDraft(id: "a", body: ["n": 1]))
      #expect(anew.revisionID == first.revisionID)
      #expect(try store.read { try $0.tree(ofDocument: "a")?.nodes.count } == 1)
      #expect(try store.checkIndexes() == [] && store.checkIntegrity() == [])
      #expect(try store.find(["n": 1]).map(\.id) == ["a"])
    }
  }

  @Test(arguments: 0..<4) func `indexes follow documents that are purged and come back`(_ seed: Int) throws {
    var random = SeededGenerator(seed: UInt64(seed))
    try withTemporaryDatastore { store in
      try store.ensureIndexed(["n"])
      try store.ensureIndexed(["tags", "n"])
      var expected: [String: Int64] = [:]
      for _ in 0..<150 {
        let (id, n) = ("d\(Int.random(in: 0..<12, using: &random))", Int64.random(in: 0..<5, using: &random))
        let body: JSONObject = ["n": .int(n), "tags": ["a", .int(n)]]
        try store.write { transaction in
          if Int.random(in: 0..<3, using: &random) == 0 {
            try transaction.purge(id)
            expected[id] = nil
          } else if expected[id] == nil {
            let revision = RevisionID(generation: 1, suffix: "\(n)")
            try transaction.forceInsert(DocumentRevision(id: id, revisionID: revision, body: body))
            expected[id] = n
          } else {
            try transaction.updateDocument(withID: id) { $0.body = body }
            expected[id] = n
          }
        }
        for n in 0..<5 as Range<Int64> {
          let ids = expected.filter { $0.value == n }.keys.sorted()
          #expect(try store.find(["n": .int(n)], sort: ["_id"]).map(\.id) == ids)
          #expect(try store.count(["tags": .int(n)]) == ids.count)
        }
      }
      #expect(try store.checkIndexes() == [] && store.checkIntegrity() == [])
    }
  }
}
