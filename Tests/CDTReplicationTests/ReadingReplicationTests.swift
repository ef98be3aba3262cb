import CDTDatastore
import CDTJSON
import CDTQuery
import CDTReplication
import CDTServer
import CDTServerTestSupport
import CDTTestSupport
import Foundation
import Testing

/// A replicator of a user who sees only some documents ends with exactly these, and never stores a body of another one.
@Suite(.timeLimit(.usual)) struct ReadingReplicationTests {
  /// The documents that anna sees, under the rule of a round.
  private static func isSeen(_ body: JSONObject, _ round: Int) -> Bool {
    round % 3 == 2 ? body["type"] == "open" && body["secret"] == nil : body["owner"] == "anna"
  }

  private static func rule(_ round: Int) -> JSONObject {
    let selector: JSONValue =
      round % 3 == 2
      ? ["type": "open", "secret": ["$exists": false]] : ["owner": ["$data": "userCtx.name"]]
    return ["read": [["roles": ["*"], "selector": selector]]]
  }

  private static func change(_ store: Datastore, _ random: inout SeededGenerator) throws {
    let id = "d\(Int.random(in: 0..<30, using: &random))"
    var body: JSONObject = ["n": .int(Int64.random(in: 0..<1_000_000, using: &random))]
    if Bool.random(using: &random) { body["type"] = "open" }
    // A document of another user has a secret, whatever the rule.
    if Bool.random(using: &random) { body["owner"] = "anna" } else { body["secret"] = "hush" }
    try store.write { transaction in
      guard let entry = try transaction.currentRevision(of: id), !entry.isDeleted else {
        _ = try transaction.createDocument(from: DocumentDraft(id: id, body: body))
        return
      }
      switch Int.random(in: 0..<6, using: &random) {
      case 0: try transaction.deleteDocument(withID: id)
      case 1:
        let generation = Int.random(in: 1...3, using: &random)
        guard let revision = RevisionID("\(generation)-\(UInt64.random(in: .min ... .max, using: &random))")
        else { return }
        try transaction.forceInsert(DocumentRevision(id: id, revisionID: revision, body: body))
      default: _ = try transaction.updateDocument(withID: id) { $0.body = body }
      }
    }
  }

  @Test(arguments: 0..<6) func `a user replicates the documents that the user sees`(seed: Int) async throws {
    var random = SeededGenerator(seed: testSeed(UInt64(seed)))
    let directory = try temporaryDirectory()
    defer { removeDirectory(directory) }
    let file = "\(directory)/users.json"
    _ = try UserFile(file).setPassword("secret", of: "root", roles: ["_admin"])
    _ = try UserFile(file).setPassword("secret", of: "anna", roles: [])
    try await withServedStore({ $0.usersFile = file }) { served in
      var admin = served.server
      admin.headers = [("Authorization", "Basic \(Data("root:secret".utf8).base64EncodedString())")]
      _ = try await admin.put("/db/_security", ["members": ["names": ["anna"]]])
      let database = try served.database(.basic("anna", "secret"))
      for round in 0..<8 {
        try served.remote.setRules(Self.rule(round))
        for _ in 0..<25 { try Self.change(served.remote, &random) }
        var replication = Replication(.pull, with: database)
        replication.retries.firstPause = .milliseconds(1)
        let result = try await Replicator(replication, of: served.local).replicate()
        #expect(result.rejected == [], "seed \(seed), round \(round)")
        let all = try await served.remote.read { try $0.allDocuments() }
        let visible = all.filter { Self.isSeen($0.body, round) }
        let local = try await served.local.read { try $0.allDocuments() }
        #expect(local.map(\.revisionID) == visible.map(\.revisionID), "seed \(seed), round \(round)")
        #expect(local.map(\.body) == visible.map(\.body), "seed \(seed), round \(round)")
        let bodies = try await served.local.read { transaction in
          try transaction.changes().documents.flatMap { change in
            try transaction.tree(ofDocument: change.id)?.leaves.compactMap {
              try transaction.document(withID: change.id, revisionID: $0.id).body
            } ?? []
          }
        }
        #expect(!bodies.contains { $0["secret"] != nil })
        #expect(try await served.local.checkIntegrity().map(\.message) == [])
      }
    }
  }
}
