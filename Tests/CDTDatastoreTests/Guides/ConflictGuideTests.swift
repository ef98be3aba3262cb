import CDTDatastore
import CDTJSON
import CDTTestSupport
import Foundation
import Testing

/// The examples of `docs/conflicts.md`, each as it stands there.
@Suite struct ConflictGuideTests {
  struct KeepLatest: ConflictResolver {
    func resolve(documentID: String, conflicts: [DocumentRevision]) -> DocumentRevision? {
      conflicts.max { ($0.body["time"]?.doubleValue ?? 0) < ($1.body["time"]?.doubleValue ?? 0) }
    }
  }

  @Test func resolving() throws {
    try withTemporaryDatastore { store in
      try store.insert("1-a", of: "task")
      for (revision, tag) in [("2-b", "shop"), ("2-x", "home")] {
        let attachment = DocumentAttachment(data: Data(tag.utf8), name: tag, contentType: "text/plain")
        let theirs = try remote(
          revision, of: "task", body: ["tags": ["all", .string(tag)], "by": "1-a"], attachments: [attachment])
        try store.write { try $0.forceInsert(theirs, history: try revisionIDs([revision, "1-a"])) }
      }
      for (revision, time) in [("1-b", 9), ("3-x", 2)] {
        try store.write {
          try $0.forceInsert(try remote(revision, of: "note", body: ["time": .int(Int64(time))]))
        }
      }

      for id in try store.read({ try $0.conflictedDocumentIDs() }) {
        let leaves = try store.read { try $0.currentRevisions(ofDocument: id) }
        print(id, leaves.map(\.body))  // the winner first
      }
      #expect(try store.read { try $0.conflictedDocumentIDs() } == ["note", "task"])

      try store.write {
        try $0.resolveConflicts(for: "task") { id, leaves, base in
          var merged = leaves.merged(since: base)
          var tags: [JSONValue] = []
          for leaf in leaves {
            for tag in leaf.body["tags"]?.arrayValue ?? [] where !tags.contains(tag) { tags.append(tag) }
          }
          merged?.body["tags"] = .array(tags)
          return merged
        }
      }
      let merged = try store.document(withID: "task")
      #expect(merged.body == ["tags": ["all", "home", "shop"], "by": "1-a"])
      #expect(merged.attachments.names == ["home", "shop"])

      let kept = try store.write { try $0.resolveConflicts(for: "note", with: KeepLatest()) }
      #expect(kept?.body["time"] == 9)
      #expect(try store.read { try $0.conflictedDocumentIDs() }.isEmpty)
    }
  }

  @Test func merging() throws {
    try withTemporaryDatastore { store in
      let versions: [(String, JSONObject)] = [
        ("1-a", ["to": "Bern", "tags": ["a"], "stops": [["id": 1, "days": 1]]]),
        ("2-b", ["to": "Bern", "tags": ["a", "b"], "stops": [["id": 1, "days": 2]]]),
        ("2-c", ["to": "Basel", "tags": ["c", "a"], "stops": [["id": 1, "days": 1], ["id": 2]]]),
      ]
      for (revision, body) in versions {
        try store.write {
          try $0.forceInsert(
            remote(revision, of: "trip", body: body),
            history: revision == "1-a" ? [] : revisionIDs([revision, "1-a"]))
        }
      }

      let result = try store.write {
        try $0.resolveConflicts(for: "trip", by: .fields(arrays: ["tags": .set, "stops": .keyed(by: "id")]))
      }
      for field in result?.conflicts ?? [] {
        print(field.path, field.base ?? .null, field.versions)
      }
      #expect(
        result?.revision?.body
          == ["to": "Basel", "tags": ["c", "a", "b"], "stops": [["id": 1, "days": 2], ["id": 2]]])
    }
  }

  @Test func inserting() throws {
    try withTemporaryDatastore { store in
      func ids(_ texts: String...) -> [RevisionID] { texts.compactMap { RevisionID($0) } }

      let history = ids("3-c", "2-b", "1-a")
      let theirs = DocumentRevision(id: "doc", revisionID: history[0], body: ["by": "them"])
      try store.write { try $0.forceInsert(theirs, history: history) }

      let rival = ids("2-x", "1-a")
      let mine = DocumentRevision(id: "doc", revisionID: rival[0], body: ["by": "me"])
      try store.write { try $0.forceInsert(mine, history: rival) }
      #expect(try store.document(withID: "doc").body == ["by": "them"])
      #expect(try store.read { try $0.currentRevisions(ofDocument: "doc") }.count == 2)

      let missing = try store.read { try $0.missingRevisions(of: "doc", among: ids("3-c", "2-b", "4-d")) }
      #expect(missing == ids("4-d"))
    }
  }

  @Test func `every example of the page is code of this file`() throws {
    try expectExamples(of: "conflicts.md", in: #filePath, atLeast: 6)
  }
}
