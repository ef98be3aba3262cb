import CDTDatastore
import CDTJSON
import CDTTestSupport
import Testing

@testable import CDTQuery
@testable import CDTSelector

/// The changes that an index finds for a selector.
@Suite struct SelectedChangesTests {
  /// Documents of which few have a color, some with a conflict, some deleted.
  private func fill(_ store: Datastore, _ random: inout SeededGenerator) throws {
    let first = try #require(RevisionID("1-a"))
    try store.write { transaction in
      for number in 0..<400 {
        let id = "d\(number)"
        let color: JSONValue =
          number % 40 == 0 ? ["red", "blue"].randomElement(using: &random) ?? .null : "gray"
        let made = try transaction.createDocument(
          from: DocumentDraft(id: id, body: ["color": color, "n": .int(Int64(number))]))
        if number % 80 == 40 { try transaction.deleteDocument(from: made) }
        if number % 130 == 9 {
          let deleted = try #require(RevisionID("2-deleted"))
          let tombstone = DocumentRevision(
            id: id, revisionID: deleted, body: ["color": "red"], isDeleted: true)
          try transaction.forceInsert(tombstone, history: [deleted, made.revisionID])
        }
        guard number % 100 == 7 else { continue }
        let rival = DocumentRevision(
          id: id, revisionID: first, body: ["color": ["red", "gray"].randomElement(using: &random) ?? .null])
        try transaction.forceInsert(rival, history: [first])
      }
    }
    try store.ensureIndexed(["color"])
  }

  private static let selectors: [JSONObject] = [
    ["color": "red"], ["color": ["$in": ["red", "blue"]]], ["color": ["$lt": "c"], "n": ["$gt": 100]],
    ["$or": [["color": "red"], ["color": "blue"]]],
  ]

  @Test func `they are those that a look at each change accepts, also if documents change meanwhile`() throws
  {
    for seed in UInt64(1)...6 {
      var random = SeededGenerator(seed: seed)
      try withTemporaryDatastore { store in
        try fill(store, &random)
        for selector in Self.selectors {
          let filter = try SelectorFilter(QuerySelector(selector))
          let since: Int64 = Bool.random(using: &random) ? 0 : 50
          let selected = try #require(
            try store.read { try SelectedChanges(of: filter, since: since, in: $0) }, "\(selector)")
          try store.write { transaction in
            let red = try transaction.documentIDs(Query(["color": "red"]))
            if let id = red.last {
              _ = try transaction.update(matching: ["_id": .string(id)], .set("edited", true))
            }
          }
          var (found, last): ([Change], Int64) = ([], since)
          while last < selected.last {
            let part = try store.read { try selected.changes(after: last, limit: 3, in: $0) }
            #expect(part.last > last)
            found += part.documents
            last = part.last
          }
          found += try store.changes(since: last).documents
          let all = try store.changes(since: since).documents
          func accepted(_ changes: [Change]) throws -> [Change] {
            try changes.filter { change in
              try store.read { transaction in
                let leaves = try transaction.currentRevisions(ofDocument: change.id)
                let winner = try transaction.document(withID: change.id, revisionID: change.revisionID)
                return try (leaves + [winner]).contains { try filter.matches($0) }
              }
            }
          }
          #expect(try accepted(found) == accepted(all), "seed \(seed), \(selector), since \(since)")
          #expect(found.count < 60)
        }
      }
    }
  }

  static let others: [JSONObject] = [
    ["color": "gray"], ["n": 5], [:], ["color": ["$exists": false]], ["color": ["$ne": "gray"]],
    ["color": "red", "_deleted": true], ["color": "red", "_id": ["$gt": "d"]],
    ["$or": [["color": "red"], ["_attachments": ["$exists": true]]]],
  ]

  @Test(arguments: others) func `each change is looked at if an index finds many, or can't decide`(
    selector: JSONObject
  ) throws {
    var random = SeededGenerator(seed: 1)
    try withTemporaryDatastore { store in
      try fill(store, &random)
      let filter = try SelectorFilter(QuerySelector(selector))
      #expect(try store.read { try SelectedChanges(of: filter, since: 0, in: $0) } == nil)
    }
  }
}
