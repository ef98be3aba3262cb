import CDTDatastore
import CDTJSON
import CDTTestSupport
import Foundation
import Testing

/// Old revisions are forgotten from each branch.
@Suite struct StemmingTests {
  @Test func `a branch keeps its newest revisions`() throws {
    try withTemporaryDatastore { store in
      try store.insert("4-d", after: ["3-c", "2-b", "1-a"])
      try store.write { try $0.stem("a", to: 4) }
      #expect(
        try TreeState(of: "a", in: store).parents == ["4-d": "3-c", "3-c": "2-b", "2-b": "1-a", "1-a": ""])
      try store.write { try $0.stem("a", to: 2) }
      #expect(try TreeState(of: "a", in: store).parents == ["4-d": "3-c", "3-c": ""])
      try store.write { try $0.stem("a", to: 1) }
      #expect(try TreeState(of: "a", in: store).parents == ["4-d": ""])
      // The document is changed as before.
      let changed = try store.updateDocument(withID: "a") { $0.body = ["n": 1] }
      #expect(changed.revisionID.generation == 5)
      #expect(try store.read { try $0.revisionHistory(of: changed) }.map(\.revisionID.generation) == [5, 4])
      #expect(try store.checkIntegrity().isEmpty)
    }
  }

  @Test func `the content of forgotten revisions goes`() throws {
    try withTemporaryDatastore { store in
      for number in 0..<3 {
        let attachment = DocumentAttachment(
          data: Data(repeating: UInt8(number), count: 10), name: "x", contentType: "")
        if number == 0 {
          try store.createDocument(from: DocumentDraft(id: "a", body: [:], attachments: [attachment]))
        } else {
          try store.updateDocument(withID: "a") { $0.attachments["x"] = attachment }
        }
      }
      try store.write { try $0.stem("a", to: 2) }
      try store.compact()
      #expect(store.attachmentFileNames.count == 1)
      #expect(try store.checkIntegrity().isEmpty)
      #expect(try store.document(withID: "a").attachments["x"]?.data() == Data(repeating: 2, count: 10))
    }
  }

  @Test func `a document that does not exist is left alone`() throws {
    try withTemporaryDatastore { store in try store.write { try $0.stem("none", to: 1) } }
  }

  @Test func `only branches that were written are looked at, if that is known`() throws {
    try withTemporaryDatastore { store in
      try store.insert("4-d", after: ["3-c", "2-b", "1-a"])
      try store.insert("2-x", after: ["1-a"])
      let whole = try TreeState(of: "a", in: store)
      try store.write { try $0.stem("a", to: 2, after: try revisionIDs(["2-x"])) }
      #expect(try TreeState(of: "a", in: store) == whole)
      try store.write { try $0.stem("a", to: 2, after: try revisionIDs(["2-x", "4-d"])) }
      #expect(
        try TreeState(of: "a", in: store).parents == ["4-d": "3-c", "3-c": "", "2-x": "1-a", "1-a": ""])
    }
  }

  @Test(arguments: 0..<60) func `random trees keep what is near a leaf`(seed: Int) throws {
    try withTemporaryDatastore { store in
      var random = SeededGenerator(seed: UInt64(seed))
      // Branches, newest revision first.
      var branches: [[String]] = [["1-0"]]
      try store.insert("1-0")
      for number in 1...Int.random(in: 1...12, using: &random) {
        var branch = branches.randomElement(using: &random) ?? []
        branch.removeFirst(Int.random(in: 0...branch.count, using: &random))
        for step in 0..<Int.random(in: 1...4, using: &random) {
          branch.insert("\(branch.count + 1)-\(number)x\(step)", at: 0)
        }
        branches.append(branch)
        try store.insert(
          branch[0], after: Array(branch.dropFirst()), isDeleted: Int.random(in: 0..<3, using: &random) == 0)
      }
      let before = try TreeState(of: "a", in: store)
      let depth = Int.random(in: 1...6, using: &random)
      try store.write { try $0.stem("a", to: depth) }
      var kept: Set<String> = []
      for leaf in before.leaves.keys {
        let branch = sequence(first: leaf) { before.parents[$0] }.prefix { !$0.isEmpty }
        kept.formUnion(branch.prefix(depth))
      }
      var expected = before
      expected.parents = before.parents.filter { kept.contains($0.key) }
        .mapValues { kept.contains($0) ? $0 : "" }
      #expect(try TreeState(of: "a", in: store) == expected)
      #expect(try store.checkIntegrity().isEmpty)
    }
  }
}
