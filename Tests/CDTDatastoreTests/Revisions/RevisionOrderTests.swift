import CDTDatastore
import CDTJSON
import CDTTestSupport
import Foundation
import Testing

/// A tree does not depend on the order in which its revisions came.
@Suite struct RevisionOrderTests {
  /// A revision as a replicator would bring it.
  private struct Arrival {
    let revision: String
    /// Its ancestors, newest first, all or some.
    let ancestors: [String]
    let isDeleted: Bool
    let attachment: Int?

    var attachments: Attachments {
      guard let attachment else { return [] }
      return [DocumentAttachment(data: Data(repeating: 7, count: attachment), name: "x", contentType: "")]
    }
  }

  private struct Node {
    let revision: String
    let parent: Int?
    let generation: Int
  }

  /// Some revisions of a random tree with one or two roots: every leaf, and a few of the others.
  private func arrivals(_ random: inout SeededGenerator) -> [Arrival] {
    var nodes: [Node] = []
    for number in 0..<Int.random(in: 1...14, using: &random) {
      let isRoot = number == 0 || Int.random(in: 0..<10, using: &random) == 0
      let parent = isRoot ? nil : Int.random(in: 0..<number, using: &random)
      let generation = (parent.map { nodes[$0].generation } ?? 0) + 1
      let suffix = String(Int.random(in: 0..<256, using: &random), radix: 16) + "x\(number)"
      nodes.append(Node(revision: "\(generation)-\(suffix)", parent: parent, generation: generation))
    }
    let inner = Set(nodes.compactMap(\.parent))
    var arrivals: [Arrival] = []
    for (number, node) in nodes.enumerated()
    where !inner.contains(number) || Bool.random(using: &random) {
      var ancestors: [String] = []
      var next = node.parent
      while let parent = next {
        ancestors.append(nodes[parent].revision)
        next = nodes[parent].parent
      }
      if Bool.random(using: &random) {
        ancestors = Array(ancestors.prefix(Int.random(in: 0...ancestors.count, using: &random)))
      }
      let isDeleted = Int.random(in: 0..<3, using: &random) == 0
      let length = Int.random(in: 0..<4, using: &random)
      arrivals.append(
        Arrival(
          revision: node.revision, ancestors: ancestors, isDeleted: isDeleted,
          attachment: isDeleted || length == 0 ? nil : length))
    }
    return arrivals
  }

  /// The tree that some arrivals make, by its definition.
  private func tree(of arrivals: [Arrival]) throws -> TreeState {
    var tree = TreeState()
    for arrival in arrivals {
      let branch = [arrival.revision] + arrival.ancestors
      for (number, revision) in branch.enumerated() {
        if number + 1 < branch.count {
          tree.parents[revision] = branch[number + 1]
        } else if tree.parents[revision] == nil {
          tree.parents[revision] = ""
        }
      }
    }
    let parents = Set(tree.parents.values)
    var best: (isAlive: Int, id: RevisionID)?
    for arrival in arrivals where !parents.contains(arrival.revision) {
      let body: JSONObject = arrival.isDeleted ? [:] : ["by": .string(arrival.revision)]
      let revision = try remote(
        arrival.revision, body: body, isDeleted: arrival.isDeleted, attachments: arrival.attachments)
      tree.leaves[arrival.revision] = TreeState.content(of: revision)
      let candidate = (isAlive: arrival.isDeleted ? 0 : 1, id: try #require(RevisionID(arrival.revision)))
      if let known = best, known > candidate { continue }
      best = candidate
    }
    tree.winner = best?.id.description ?? ""
    return tree
  }

  @Test func `any order of the same revisions gives the same tree, winner and leaves`() throws {
    let seed = testSeed(5)
    var random = SeededGenerator(seed: seed)
    try withTemporaryDatastore { store in
      for round in 0..<40 {
        let arrivals = arrivals(&random)
        let expected = try tree(of: arrivals)
        for order in 0..<3 {
          let id = "\(round).\(order)"
          for arrival in arrivals.shuffled(using: &random) {
            try store.insert(
              arrival.revision, after: arrival.ancestors, of: id, isDeleted: arrival.isDeleted,
              attachments: arrival.attachments)
            let findings = try store.checkIntegrity()
            #expect(findings == [], "seed \(seed), round \(round)")
          }
          let found = try TreeState(of: id, in: store)
          #expect(found == expected, "seed \(seed), round \(round)")
          let winner = try store.documents(withIDs: [id])
          #expect(winner.map(\.revisionID.description) == [expected.winner], "seed \(seed), round \(round)")
        }
        let before = try StoreState(store)
        for arrival in arrivals.shuffled(using: &random) {
          let isNew = try store.insert(
            arrival.revision, after: arrival.ancestors, of: "\(round).0", isDeleted: arrival.isDeleted,
            attachments: arrival.attachments)
          #expect(!isNew, "seed \(seed), round \(round)")
        }
        #expect(try StoreState(store) == before, "seed \(seed), round \(round)")
      }
    }
  }

  @Test func `local edits, deletions and resolutions between insertions keep every tree sound`() throws {
    let seed = testSeed(6)
    var random = SeededGenerator(seed: seed)
    try withTemporaryDatastore { store in
      for round in 0..<25 {
        let id = "\(round)"
        for arrival in arrivals(&random).shuffled(using: &random) {
          try store.insert(
            arrival.revision, after: arrival.ancestors, of: id, isDeleted: arrival.isDeleted,
            attachments: arrival.attachments)
          let leaves = try store.read { try $0.currentRevisions(ofDocument: id) }
          switch Int.random(in: 0..<6, using: &random) {
          case 0:
            guard var leaf = leaves.randomElement(using: &random) else { break }
            leaf.body["n"] = 1
            if Bool.random(using: &random) { leaf.attachments = [] }
            try store.updateDocument(from: leaf)
          case 1:
            guard let leaf = leaves.randomElement(using: &random) else { break }
            try store.deleteDocument(from: leaf)
          case 2:
            try store.write {
              try $0.resolveConflicts(for: id) { _, leaves in leaves.randomElement(using: &random) }
            }
          case 3: try store.compact()
          case 4 where leaves.isEmpty:
            try store.createDocument(from: DocumentDraft(id: id, body: ["n": 2]))
          default: break
          }
          let findings = try store.checkIntegrity()
          #expect(findings == [], "seed \(seed), round \(round)")
        }
      }
    }
  }
}
