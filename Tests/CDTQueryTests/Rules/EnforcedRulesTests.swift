import CDTDatastore
import CDTJSON
import CDTQuery
import CDTRules
import CDTTestSupport
import Foundation
import Testing

/// Rules that a datastore enforces.
@Suite struct EnforcedRulesTests {
  private static let anna = UserContext(name: "anna", roles: ["sales"])
  private static let admin = UserContext(name: "anna", roles: ["_admin"])

  /// Runs `body` with a datastore that enforces its rules, and the same one opened without them.
  private func withStores(
    _ rules: JSONValue..., as user: UserContext = anna,
    body: (_ store: Datastore, _ free: Datastore) throws -> Void
  ) throws {
    try withTemporaryDirectory(inMemory: true) { directory in
      let free = try DatastoreManager(directory: directory)
      defer { free.close() }
      let manager = try DatastoreManager(
        directory: directory, options: DatastoreOptions(rules: .enforced(as: user)))
      defer { manager.close() }
      let open = try free.datastore(named: "store")
      for (number, rule) in rules.enumerated() { try open.rule("r\(number)", rule) }
      try body(try manager.datastore(named: "store"), open)
    }
  }

  /// The reason for which something is refused.
  private func refusal(_ body: () throws -> Void) throws -> String? {
    do {
      try body()
      return nil
    } catch let violation as RuleViolation {
      return violation.reason
    }
  }

  private func expectRefusal(_ reason: String, _ body: () throws -> Void) throws {
    let found = try refusal(body)
    #expect(found == reason)
  }

  private let other = "1-" + String(repeating: "0", count: 32)
  private let second = "2-" + String(repeating: "0", count: 32)

  @Test func everyWriteIsChecked() throws {
    let rule: JSONValue = [
      "$or": [
        ["newDoc._deleted": true, "oldDoc.owner": ["$data": "userCtx.name"]],
        ["newDoc": ["owner": ["$data": "userCtx.name"]], "oldDoc.owner": ["$in": ["anna", "all"]]],
        ["newDoc.owner": "anna", "oldDoc": ["$exists": false]],
      ]
    ]
    try withStores(rule) { store, free in
      let refused = "newDoc._deleted: expected true; it is missing"
      #expect(
        try refusal { _ = try store.createDocument(from: DocumentDraft(id: "a", body: ["owner": "bob"])) }?
          .hasPrefix(refused) == true)
      #expect(throws: DatastoreError.self) { try store.document(withID: "a") }
      try store.createDocument(from: DocumentDraft(id: "a", body: ["owner": "anna"]))
      try store.write { try $0.patchDocument(withID: "a", ["n": 1]) }
      #expect(
        try refusal { _ = try store.write { try $0.patchDocument(withID: "a", ["owner": "bob"]) } } != nil)
      try store.updateDocument(withID: "a") { $0.body["n"] = 2 }
      #expect(try refusal { try store.updateDocument(withID: "a") { $0.body["owner"] = 7 } } != nil)
      #expect(try store.document(withID: "a").body == ["owner": "anna", "n": 2])

      try free.createDocument(from: DocumentDraft(id: "b", body: ["owner": "bob"]))
      #expect(try refusal { _ = try store.deleteDocument(withID: "b") } != nil)
      #expect(try refusal { try store.updateDocument(withID: "b") { $0.body["owner"] = "anna" } } != nil)
      try store.deleteDocument(withID: "a")
      // A document that was deleted is new again.
      try store.createDocument(from: DocumentDraft(id: "a", body: ["owner": "anna"]))
      // A transaction is refused as a whole unless the error is caught.
      #expect(
        try refusal {
          try store.write {
            _ = try $0.createDocument(from: DocumentDraft(id: "c", body: ["owner": "anna"]))
            _ = try $0.createDocument(from: DocumentDraft(id: "d", body: [:]))
          }
        } != nil)
      #expect(throws: DatastoreError.self) { try store.document(withID: "c") }
      try store.write { transaction in
        _ = try? transaction.createDocument(from: DocumentDraft(id: "d", body: [:]))
        _ = try transaction.createDocument(from: DocumentDraft(id: "c", body: ["owner": "anna"]))
      }
      #expect(try store.read { try $0.allDocumentIDs() } == ["_design/r0", "a", "b", "c"])
    }
  }

  @Test func replicatedRevisionsAreChecked() throws {
    let rule: JSONValue = ["oldDoc.n": ["$data": "newDoc.previous"]]
    try withStores(rule) { store, free in
      let first = try free.createDocument(from: DocumentDraft(id: "a", body: ["n": 1]))
      let next = try #require(RevisionID("3-" + String(repeating: "0", count: 32)))
      let unknown = try #require(RevisionID(second))
      func insert(
        _ body: JSONObject, _ revision: RevisionID, _ history: [RevisionID], isDeleted: Bool = false
      )
        throws -> String?
      {
        try refusal {
          _ = try store.write {
            try $0.forceInsert(
              DocumentRevision(id: "a", revisionID: revision, body: body, isDeleted: isDeleted),
              history: history)
          }
        }
      }
      // The nearest ancestor that is stored.
      #expect(try insert(["previous": 2], next, [next, unknown, first.revisionID]) != nil)
      #expect(try insert(["previous": 1, "n": 5], next, [next, unknown, first.revisionID]) == nil)
      // A branch without a known ancestor follows the winner.
      let branch = try #require(RevisionID(other))
      #expect(try insert(["previous": 1], branch, [branch]) == "oldDoc.n: expected 1")
      #expect(try insert(["previous": 5], branch, [branch]) == nil)
      // What is known is not checked again.
      #expect(try insert(["previous": 7], branch, [branch]) == nil)
      // The resolution of a conflict is a write.
      #expect(
        try refusal {
          try store.write {
            _ = try $0.resolveConflicts(for: "a") { _, leaves in
              var decision = leaves[0]
              decision.body = ["previous": 99]
              return decision
            }
          }
        } != nil)
    }
  }

  @Test func `the reason of a refused deletion says that it is one, unless the rule has a text`() throws {
    for (rule, reason) in [
      (
        ["newDoc.owner": ["$type": "string"]],
        "the deletion was refused: newDoc.owner: expected a string; it is missing"
      ),
      (["newDoc.owner": ["$type": "string"], "$reason": "owners stay"], "owners stay"),
    ] as [(JSONValue, String)] {
      try withStores(rule) { store, _ in
        try store.createDocument(from: DocumentDraft(id: "a", body: ["owner": "anna"]))
        try expectRefusal(reason) { _ = try store.deleteDocument(withID: "a") }
      }
    }
  }

  @Test func aReplicatedRevisionThatFollowsADeletionIsNew() throws {
    try withStores(["oldDoc": ["$exists": false]]) { store, free in
      let first = try free.createDocument(from: DocumentDraft(id: "a", body: ["n": 1]))
      let tombstone = try free.deleteDocument(from: first)
      let branch = try #require(RevisionID(other))
      // The winner is another branch.
      try free.write {
        _ = try $0.forceInsert(DocumentRevision(id: "a", revisionID: branch, body: [:]), history: [branch])
      }
      func insert(_ revision: String, after parent: RevisionID) throws -> String? {
        let id = try #require(RevisionID(revision))
        return try refusal {
          _ = try store.write {
            try $0.forceInsert(
              DocumentRevision(id: "a", revisionID: id, body: ["n": 2]), history: [id, parent])
          }
        }
      }
      #expect(
        try insert("3-" + String(repeating: "1", count: 32), after: tombstone.revisionID) == nil)
      #expect(
        try insert("2-" + String(repeating: "2", count: 32), after: branch)
          == "oldDoc: must not be present")
    }
  }

  @Test func manyDocumentsAreNotSavedAtOnceUnderRules() throws {
    try withStores(["newDoc.a": 1]) { store, free in
      let free = try free.write { try $0.createDocuments(NewDocuments()) }
      let enforced = try store.write { try $0.createDocuments(NewDocuments()) }
      #expect(free && !enforced)
    }
  }

  @Test func deletionsOfWhatHasExpiredAreNotAUsers() throws {
    let ownership: JSONValue = ["newDoc.owner": ["$data": "userCtx.name"]]
    try withStores(ownership) { store, free in
      try free.createDocument(from: DocumentDraft(id: "a", body: ["owner": "bob", "at": 0]))
      try store.ensureIndexed(["at"], .expiring(after: .seconds(1)))
      try store.updateIndexes()
      #expect(try free.read { try $0.allDocumentIDs() } == ["_design/r0"])
      #expect(try free.changes().documents.first { $0.id == "a" }?.isDeleted == true)
    }
  }

  @Test func attachmentsAreSeenAsStubs() throws {
    let rule: JSONValue = [
      "newDoc._attachments": ["a\\.txt": ["content_type": "text/plain", "stub": true, "length": 2]],
      "$if": ["oldDoc": ["$exists": true]],
      "$then": ["newDoc._attachments": ["$data": "oldDoc._attachments"]],
    ]
    try withStores(rule) { store, _ in
      let text = DocumentAttachment(data: Data("ab".utf8), name: "a.txt", contentType: "text/plain")
      #expect(try refusal { _ = try store.createDocument(from: DocumentDraft(id: "a", body: [:])) } != nil)
      let long = DocumentAttachment(data: Data("abc".utf8), name: "a.txt", contentType: "text/plain")
      #expect(
        try refusal {
          _ = try store.createDocument(from: DocumentDraft(id: "a", body: [:], attachments: [long]))
        } != nil)
      try store.createDocument(from: DocumentDraft(id: "a", body: [:], attachments: [text]))
      #expect(
        try refusal { try store.updateDocument(withID: "a") { $0.attachments["a.txt"] = nil } } != nil)
      #expect(try refusal { try store.updateDocument(withID: "a") { $0.body["n"] = 1 } } == nil)
    }
  }

  @Test func allRulesMustHoldAndAllFailuresAreSaid() throws {
    try withStores(["newDoc.a": 1], ["newDoc.b": 1], ["newDoc.c": 1]) { store, _ in
      try expectRefusal("newDoc.a: expected 1; it is missing; newDoc.c: expected 1; it is missing") {
        _ = try store.createDocument(from: DocumentDraft(id: "a", body: ["b": 1]))
      }
    }
  }

  @Test func changedRulesHoldAtOnce() throws {
    struct Abandoned: Error {}
    try withStores(as: Self.admin) { store, free in
      func create(_ body: JSONObject) throws -> String? {
        try refusal { _ = try store.createDocument(from: DocumentDraft(body: body)) }
      }
      #expect(try create(["a": 1]) == nil)
      // Within the same transaction.
      let reason = try refusal {
        try store.write {
          _ = try $0.createDocument(
            from: DocumentDraft(
              id: "_design/x", body: ["language": "query", "validate_doc_update": ["newDoc.a": 2]]))
          _ = try $0.createDocument(from: DocumentDraft(body: ["a": 1]))
        }
      }
      #expect(reason == "newDoc.a: expected 2")
      #expect(try create(["a": 1]) == nil)
      // After a rollback.
      #expect(throws: Abandoned.self) {
        try store.write {
          _ = try $0.createDocument(
            from: DocumentDraft(
              id: "_design/x", body: ["language": "query", "validate_doc_update": ["newDoc.a": 3]]))
          _ = try $0.createDocument(from: DocumentDraft(body: ["a": 3]))
          throw Abandoned()
        }
      }
      #expect(try create(["a": 1]) == nil)
      // By another datastore.
      try free.rule("x", ["newDoc.a": 4])
      #expect(try create(["a": 1]) == "newDoc.a: expected 4")
      try free.rule("x", ["newDoc.a": 5])
      try free.createDocument(from: DocumentDraft(body: [:]))
      #expect(try create(["a": 5]) == nil)
      try free.deleteDocument(withID: "_design/x")
      #expect(try create([:]) == nil)
    }
  }

  @Test func `a user without the role _admin can't change design documents`() throws {
    try withStores(["newDoc.n": ["$type": "number"]]) { store, free in
      let reason =
        "design documents, which contain the rules, are changed by admins alone: users with the role _admin"
      for write in [
        { try store.setRules(["validate_doc_update": ["newDoc.n": 1]], named: "r0") },
        { try store.createDocument(from: DocumentDraft(id: "_design/more", body: [:])) },
        { try store.updateDocument(withID: "_design/r0") { $0.body = [:] } },
        { try store.deleteDocument(withID: "_design/r0") },
      ] as [() throws -> Any?] {
        try expectRefusal(reason) { _ = try write() }
      }
      try free.createDocument(from: DocumentDraft(id: "a", body: ["n": 1]))
      #expect(try store.write { try $0.update(matching: [:], .increment("n")) } == 1)
      try free.updateDocument(withID: "_design/r0") { $0.body["validate_doc_update"] = nil }
      #expect(try store.write { try $0.delete(matching: [:]) } == 1)
      #expect(try free.read { try $0.allDocumentIDs() } == ["_design/r0"])
      // A replication brings what the server has accepted.
      let brought = DocumentRevision(
        id: "_design/r1", revisionID: try #require(RevisionID(other)), body: ["a": 1])
      try store.write { try $0.forceInsert(brought) }
      #expect(try store.document(withID: "_design/r1").body == ["a": 1])
    }
  }

  @Test func rulesThatCannotBeReadRefuseEveryWrite() throws {
    try withStores(as: Self.admin) { store, free in
      let wrong: JSONObject = ["language": "query", "validate_doc_update": ["type": 1]]
      #expect(throws: QueryError.self) {
        try store.createDocument(from: DocumentDraft(id: "_design/x", body: wrong))
      }
      let revision = try #require(RevisionID(other))
      try store.write {
        try $0.forceInsert(DocumentRevision(id: "_design/x", revisionID: revision, body: wrong))
      }
      let refused = try refusal { _ = try store.createDocument(from: DocumentDraft(body: [:])) }
      #expect(
        refused?.hasPrefix(
          "the rules of _design/x can't be read: validate_doc_update.type: a rule has newDoc")
          == true)
      try store.write { try $0.setLocalDocument(["a": 1], withID: "l") }
      try store.updateDocument(withID: "_design/x") { $0.body["validate_doc_update"] = nil }
      #expect(try refusal { _ = try store.createDocument(from: DocumentDraft(body: [:])) } == nil)
      // JavaScript is not run, and not a rule.
      try free.createDocument(
        from: DocumentDraft(id: "_design/js", body: ["validate_doc_update": "function () {}"]))
      #expect(try refusal { _ = try store.createDocument(from: DocumentDraft(body: [:])) } == nil)
    }
  }

  @Test
  func
    `a pattern outside of the portable subset is refused when a rule is saved, and works where one is stored`()
    throws
  {
    let pattern: JSONValue = ["newDoc.a": ["$regex": #"x\Ky"#]]
    let message =
      #"devices and servers might decide the pattern differently: it has "\K" at offset 1; put what precedes it in a look-behind (?<=…)"#
    try withStores(as: Self.admin) { store, free in
      let rule: JSONObject = ["language": "query", "validate_doc_update": pattern]
      let readers: JSONValue = [
        ["roles": ["*"], "selector": ["$or": [["a": ["$not": ["$regex": #"x\Ky"#]]]]]]
      ]
      for (body, place) in [
        (rule, "validate_doc_update.newDoc.a.$regex"),
        (["language": "query", "read": readers], "read[0].selector.$or[0].a.$not.$regex"),
      ] {
        let draft = DocumentDraft(id: "_design/x", body: body)
        let refused = #expect(throws: QueryError.self) { try store.createDocument(from: draft) }
        #expect(refused?.description == "\(place): \(message)")
        #expect(refused?.code == .invalidRegex)
      }
      let set = #expect(throws: QueryError.self) { try free.setRules(["validate_doc_update": pattern]) }
      #expect(set?.message == message)

      let revision = try #require(RevisionID(other))
      try store.write {
        try $0.forceInsert(DocumentRevision(id: "_design/x", revisionID: revision, body: rule))
      }
      try store.createDocument(from: DocumentDraft(body: ["a": "xy"]))
      #expect(try refusal { _ = try store.createDocument(from: DocumentDraft(body: ["a": "y"])) } != nil)
    }
  }

  @Test func aPatternThatExceedsItsLimitRefusesTheWrite() throws {
    try withStores(["newDoc.a": ["$regex": "^(a+)+$"]]) { store, _ in
      let reason = try refusal {
        _ = try store.createDocument(
          from: DocumentDraft(body: ["a": .string(String(repeating: "a", count: 200) + "b")]))
      }
      #expect(reason?.contains("takes too long") == true)
    }
  }

  @Test func aThousandDesignDocumentsHold() throws {
    try withStores { store, free in
      try free.write { transaction in
        for number in 0..<1_000 {
          _ = try transaction.createDocument(
            from: DocumentDraft(
              id: "_design/\(number)",
              body: ["language": "query", "validate_doc_update": ["newDoc.n": ["$ne": .int(Int64(number))]]]))
        }
      }
      try expectRefusal("newDoc.n: must not be 567") {
        _ = try store.createDocument(from: DocumentDraft(body: ["n": 567]))
      }
      let reason = try refusal { _ = try store.createDocument(from: DocumentDraft(body: ["n": 1_000])) }
      #expect(reason == nil)
    }
  }

  @Test func rulesOfMegabytesAreReadOnceForManyChangesOfOthers() throws {
    let list = JSONValue.array((0..<100_000).map { .string("\($0) \(String(repeating: "x", count: 100))") })
    let rule: JSONValue = ["newDoc.n": ["$nin": list], "newDoc.a": ["$ne": ["$data": "userCtx.name"]]]
    try withStores(rule, as: Self.admin) { store, _ in
      try store.write { transaction in
        for number in 0..<1_000 {
          let rule: JSONValue = ["newDoc.n": ["$ne": .int(Int64(number))]]
          _ = try transaction.createDocument(
            from: DocumentDraft(
              id: "_design/\(number)", body: ["language": "query", "validate_doc_update": rule]))
          if number % 10 == 0 {
            _ = try transaction.createDocument(from: DocumentDraft(body: ["n": 1_000]))
          }
        }
      }
      try expectRefusal("newDoc.n: must not be 567") {
        _ = try store.createDocument(from: DocumentDraft(body: ["n": 567]))
      }
    }
  }
}

extension Datastore {
  /// Saves a design document with a rule of writing.
  fileprivate func rule(_ name: String, _ rule: JSONValue) throws {
    let body: JSONObject = ["language": "query", "validate_doc_update": rule]
    let id = "_design/\(name)"
    if (try? document(withID: id)) != nil {
      try updateDocument(withID: id) { $0.body = body }
    } else {
      try createDocument(from: DocumentDraft(id: id, body: body))
    }
  }
}
