import CDTQuery
import CDTTestSupport
import Testing

/// The examples of `docs/rules.md`, each as it stands there.
@Suite struct RulesGuideTests {
  @Test func `rules that a datastore enforces`() throws {
    try withTemporaryDirectory { path in
      var printed: [String] = []
      func print(_ value: some CustomStringConvertible) { printed.append("\(value)") }
      let store = try DatastoreManager(directory: path).datastore(named: "tasks")
      try store.setRules([
        "validate_doc_update": [
          "$if": ["newDoc._deleted": ["$exists": false]],
          "$then": ["newDoc": ["title": ["$type": "string"], "owner": ["$data": "userCtx.name"]]],
        ]
      ])
      #expect(try store.read { try $0.rules() }.map(\.name) == ["rules"])
      var options = DatastoreOptions()
      options.rules = .enforced(as: UserContext(name: "anna", roles: ["family"]))
      let manager = try DatastoreManager(directory: path, options: options)
      let tasks = try manager.datastore(named: "tasks")
      do {
        try tasks.createDocument(from: DocumentDraft(id: "t3", body: ["title": "Cook", "owner": "bob"]))
      } catch let violation as RuleViolation {
        print(violation.reason)  // newDoc.owner: expected "anna"
        print(violation.failures[0].path)  // ["newDoc", "owner"]
      }
      #expect(printed == [#"newDoc.owner: expected "anna""#, #"["newDoc", "owner"]"#])
      try tasks.createDocument(from: DocumentDraft(id: "t3", body: ["title": "Cook", "owner": "anna"]))
      try tasks.deleteDocument(withID: "t3")
      manager.rules = .enforced(as: .anonymous)  // anna logs out
      manager.rules = .enforced(as: UserContext(name: "bob"))  // bob logs in
      try tasks.createDocument(from: DocumentDraft(id: "t4", body: ["title": "Cook", "owner": "bob"]))
    }
  }

  @Test func `the examples of the page are these`() throws {
    try expectExamples(of: "rules.md", in: #filePath, atLeast: 3)
  }
}
