import CDTQuery
import CDTTestSupport
import Testing

/// The examples of `docs/rules.md`, each as it stands there.
@Suite struct RulesGuideTests {
  @Test func `rules that a datastore enforces`() throws {
    try withTemporaryDirectory { path in
      try withExtendedLifetime(DatastoreManager(directory: path)) { manager in
        let store = try manager.datastore(named: "tasks")
        try store.setRules([
          "validate_doc_update": [
            "$if": ["newDoc._deleted": ["$exists": false]],
            "$then": ["newDoc": ["title": ["$type": "string"], "owner": ["$data": "userCtx.name"]]],
          ]
        ])
        #expect(try store.read { try $0.rules() }.map(\.name) == ["rules"])
      }
      let options = DatastoreOptions(rules: .enforced(as: UserContext(name: "anna", roles: ["family"])))
      let manager = try DatastoreManager(directory: path, options: options)
      let tasks = try manager.datastore(named: "tasks")
      let violation = #expect(throws: RuleViolation.self) {
        try tasks.createDocument(from: DocumentDraft(id: "t3", body: ["title": "Cook", "owner": "bob"]))
      }
      #expect(violation?.reason == #"newDoc.owner: expected "anna""#)
      #expect(violation?.failures[0].path == ["newDoc", "owner"])
      try tasks.createDocument(from: DocumentDraft(id: "t3", body: ["title": "Cook", "owner": "anna"]))
      try tasks.deleteDocument(withID: "t3")
    }
  }
}
