import CDTDatastore
import CDTJSON
import CDTQuery
import CDTRules
import CDTTestSupport
import Testing

@testable import CDTPlan
@testable import CDTQuery
@testable import CDTSelector

/// Rules of reading: a user gets what a datastore with only the visible documents would answer.
@Suite struct ReadingRuleTests {
  /// Rules, each with the same condition written by hand.
  private struct Rule {
    let read: JSONValue
    let shows: @Sendable (JSONObject, String, UserContext) -> Bool
  }

  private static func has(_ value: JSONValue?, _ name: String?) -> Bool {
    // An anonymous user has the name null, which equals null.
    let name = name.map { JSONValue.string($0) } ?? .null
    return value == name || value?.arrayValue?.contains(name) == true
  }

  private static let rules = [
    Rule(read: [["roles": ["*"], "selector": ["owner": ["$data": "userCtx.name"]]]]) { body, _, user in
      has(body["owner"], user.name)
    },
    Rule(read: [
      ["roles": ["sales"], "selector": ["type": "order"]],
      ["roles": ["*"], "selector": ["team": ["$elemMatch": ["$eq": ["$data": "userCtx.name"]]]]],
    ]) { body, _, user in
      user.roles.contains("sales") && body["type"] == "order"
        || body["team"]?.arrayValue.map { $0.contains { has($0, user.name) } } == true
    },
    Rule(read: [["roles": ["*"], "selector": ["team": ["$in": ["$data": "userCtx.roles"]]]]]) {
      body, _, user in
      user.roles.contains { has(body["team"], $0) }
    },
    Rule(read: [
      ["roles": ["*"], "selector": ["_id": ["$cat": ["doc", ["$data": "userCtx.name"]]]]],
      ["roles": ["sales"], "selector": ["userCtx.name": "anna", "n": ["$gt": 3]]],
    ]) { body, id, user in
      id == "doc\(user.name ?? "")" && user.name != nil
        || user.roles.contains("sales") && user.name == "anna" && (body["n"]?.intValue ?? 0) > 3
    },
    Rule(read: [["roles": ["*"], "selector": ["$not": ["owner": ["$data": "userCtx.name"]]]]]) {
      body, _, user in
      !has(body["owner"], user.name)
    },
    Rule(read: []) { _, _, _ in false },
    Rule(read: [
      [
        "roles": ["*"],
        "selector": [
          "$if": ["type": "order"], "$then": ["owner": ["$data": "userCtx.name"]],
          "$else": [
            "$if": ["$if": ["n": ["$gt": 2]], "$then": ["type": "note"]],
            "$then": ["team": ["$data": "userCtx.name"]], "$else": ["n": 3],
          ],
        ],
      ]
    ]) { body, _, user in
      if body["type"] == "order" { return has(body["owner"], user.name) }
      let (isGreater, isNote) = ((body["n"]?.intValue ?? 0) > 2, body["type"] == "note")
      return !isGreater || isNote ? has(body["team"], user.name) : body["n"] == 3
    },
    Rule(read: [["roles": ["*"], "selector": ["type": ["$regex": "^[no]"], "n": ["$lt": 5]]]]) { body, _, _ in
      (body["type"] == "note" || body["type"] == "order") && (body["n"]?.intValue ?? 9) < 5
    },
    Rule(read: [["roles": ["*"], "selector": ["owner": ["$data": "type"]]]]) { body, _, _ in
      body["owner"] != nil && body["owner"] == body["type"]
    },
  ]

  private static let users = [
    UserContext(name: "anna", roles: ["sales"]), UserContext(name: "bob", roles: ["x", "y"]),
    UserContext(name: nil), UserContext(name: "order", roles: ["sales", "anna"]),
  ]

  private static func body(_ random: inout SeededGenerator) -> JSONObject {
    let names: [JSONValue] = ["anna", "bob", "order", "x", .null, 7]
    var body = JSONObject()
    body["owner"] = names.randomElement(using: &random)
    body["type"] = (["order", "note", "bob"] as [JSONValue]).randomElement(using: &random)
    if Bool.random(using: &random) {
      body["team"] = .array(
        (0..<Int.random(in: 0...3, using: &random)).compactMap { _ in names.randomElement(using: &random) })
    }
    body["n"] = .int(Int64.random(in: 0...6, using: &random))
    if Int.random(in: 0..<6, using: &random) == 0 { body["owner"] = nil }
    return body
  }

  /// Writes documents with histories, deletions and conflicts.
  private static func write(_ store: Datastore, _ random: inout SeededGenerator) throws {
    let ids = ["docanna", "docbob"] + (0..<12).map { "d\($0)" }
    for _ in 0..<60 {
      let id = ids.randomElement(using: &random) ?? "d0"
      try store.write { transaction in
        guard let entry = try transaction.currentRevision(of: id), !entry.isDeleted else {
          _ = try transaction.createDocument(from: DocumentDraft(id: id, body: body(&random)))
          return
        }
        switch Int.random(in: 0..<6, using: &random) {
        case 0: try transaction.deleteDocument(withID: id)
        case 1:
          let suffix = String(UInt64.random(in: 0..<1 << 60, using: &random), radix: 16)
          let generation = Int.random(in: 1...3, using: &random)
          let revision = RevisionID(generation: generation, suffix: suffix)
          try transaction.forceInsert(DocumentRevision(id: id, revisionID: revision, body: body(&random)))
        default: _ = try transaction.updateDocument(withID: id) { $0.body = body(&random) }
        }
      }
    }
  }

  private static let selectors: [JSONObject] = [
    [:], ["type": "order"], ["n": ["$gte": 2]], ["owner": ["$exists": false]], ["team": "anna"],
    ["$or": [["type": "note"], ["n": 1]]], ["_id": ["$gt": "d3"]],
  ]

  @Test(arguments: 0..<18) func `a user reads what a store of the visible documents has`(seed: Int) throws {
    var random = SeededGenerator(seed: UInt64(seed))
    let rule = Self.rules[seed % Self.rules.count]
    try withTemporaryDirectory(inMemory: true) { directory in
      let free = try DatastoreManager(directory: directory)
      defer { free.close() }
      let all = try free.datastore(named: "store")
      try Self.write(all, &random)
      try all.setRules(["read": rule.read])
      if seed / Self.rules.count % 2 == 0 {
        try all.ensureIndexed(["owner"])
        try all.ensureIndexed(["type", "n"])
        try all.ensureIndexed(["team"])
      }
      let documents = try all.read { try $0.allDocuments() }
      var copies = 0
      for user in Self.users {
        let manager = try DatastoreManager(
          directory: directory, options: DatastoreOptions(rules: .enforced(as: user)))
        defer { manager.close() }
        let store = try manager.datastore(named: "store")
        let visible = documents.filter { rule.shows($0.body, $0.id, user) }
        try Self.compare(store, all, documents, visible, rule, user)
        let copy = try free.datastore(named: "copy\(copies)")
        copies += 1
        try Self.copy(visible, of: all, to: copy) { rule.shows($0.body, $0.id, user) }
        for read in Self.reads {
          let (found, expected) = (try read.answer(store), try read.answer(copy))
          #expect(found == expected, "\(read.name) \(rule.read.text) \(user)")
        }
      }
      let admin = UserContext(name: "x", roles: ["_admin"])
      let manager = try DatastoreManager(
        directory: directory, options: DatastoreOptions(rules: .enforced(as: admin)))
      defer { manager.close() }
      #expect(try manager.datastore(named: "store").read { try $0.allDocuments() } == documents)
    }
  }

  /// Copies the leaves of documents that a user sees.
  private static func copy(
    _ visible: [DocumentRevision], of all: Datastore, to copy: Datastore, _ shows: (DocumentRevision) -> Bool
  ) throws {
    for document in visible {
      let tree = try all.read { try $0.tree(ofDocument: document.id) }
      for leaf in try all.read({ try $0.currentRevisions(ofDocument: document.id) }) where shows(leaf) {
        let history = tree?.history(of: leaf.revisionID).map(\.id) ?? []
        try copy.write { _ = try $0.forceInsert(leaf, history: history) }
      }
    }
  }

  /// A read of a datastore, and its answer without what differs between two datastores with the same documents.
  private struct Read: Sendable {
    let name: String
    let answer: @Sendable (Datastore) throws -> [String]
  }

  private static let reads: [Read] =
    selectors.prefix(4).flatMap { selector in
      [
        Read(name: "find \(selector)") { try $0.find(selector).map(\.json.text).sorted() },
        Read(name: "sort \(selector)") {
          try $0.find(selector, skip: 1, limit: 5, fields: ["n", "owner"], sort: ["n"]).map(\.json.text)
        },
        Read(name: "count \(selector)") { ["\(try $0.count(selector))"] },
        Read(name: "results \(selector)") { try $0.results(for: Query(selector)).documentIDs().sorted() },
        Read(name: "distinct \(selector)") { try $0.distinct("owner", where: selector).map(\.text) },
        Read(name: "group \(selector)") {
          try $0.group(
            by: ["type"], .count(as: "count"), .sum("n", as: "sum"), .maximum("n", as: "max"), where: selector
          ).map(\.text)
        },
        Read(name: "pages \(selector)") { store in
          var (query, ids) = (try Query(selector, limit: 3, sort: ["type", "n"]), [String]())
          repeat {
            let page = try store.page(query)
            ids += page.documents.map(\.id)
            query.bookmark = page.bookmark
          } while query.bookmark != nil && ids.count < 100
          return ids
        },
      ]
    } + [
      Read(name: "all ids") { try $0.read { try $0.allDocumentIDs() } },
      Read(name: "all documents") {
        try $0.read { try $0.allDocuments(offset: 1, limit: 4, descending: true) }.map(\.json.text)
      },
      Read(name: "number") { ["\(try $0.read { try $0.documentCount() })"] },
      Read(name: "conflicts") { try $0.read { try $0.conflictedDocumentIDs() } },
      Read(name: "fields") { store in
        let summary = try store.summarizeFields()
        return ["\(summary.documents)"] + summary.fields.map { "\($0.path) \($0.documents) \($0.distinct)" }
      },
      Read(name: "groups of all") { try $0.group(by: [], .count(as: "count")).map(\.text) },
      Read(name: "leaves") { store in
        try store.read { snapshot in
          try snapshot.allDocumentIDs().flatMap { try snapshot.currentRevisions(ofDocument: $0) }
        }.map(\.json.text)
      },
      Read(name: "texts") { store in
        try store.read { snapshot in
          try snapshot.allDocumentIDs().map {
            String(decoding: try snapshot.documentText(withID: $0), as: UTF8.self)
          }
        }
      },
      Read(name: "attachments") { ["\(try $0.read { try $0.attachmentCount() })"] },
    ]

  private static func compare(
    _ store: Datastore, _ all: Datastore, _ documents: [DocumentRevision], _ visible: [DocumentRevision],
    _ rule: Rule, _ user: UserContext
  ) throws {
    let ids = visible.map(\.id)
    let place: Comment = "\(rule.read.text) \(user)"
    #expect(try store.read { try $0.allDocumentIDs() } == ids, place)
    #expect(try store.read { try $0.allDocuments() } == visible, place)
    #expect(try store.read { try $0.documentCount() } == ids.count, place)
    #expect(
      try store.read { try $0.documents(withIDs: documents.map(\.id)) }.filter { !$0.isDeleted } == visible,
      place)
    let changes = try store.read { try $0.changes().documents.filter { !$0.isDeleted }.map(\.id) }
    #expect(changes.sorted() == ids.sorted(), place)
    for document in documents {
      let isVisible = ids.contains(document.id)
      let text = try? store.read { try $0.documentText(withID: document.id) }
      #expect((text != nil) == isVisible, place)
      let leaves = try all.read { try $0.currentRevisions(ofDocument: document.id) }
      let expected = isVisible ? leaves.filter { rule.shows($0.body, $0.id, user) } : []
      let found = try? store.read { try $0.currentRevisions(ofDocument: document.id) }
      #expect(found ?? [] == expected, place)
      let tree = try store.read { try $0.tree(ofDocument: document.id) }
      #expect(tree?.leaves.filter { !$0.isDeleted }.map(\.id) ?? [] == expected.map(\.revisionID), place)
      for leaf in leaves {
        let read = try? store.read { try $0.document(withID: leaf.id, revisionID: leaf.revisionID) }
        #expect((read != nil) == expected.contains(leaf), place)
        let missing = try store.read { try $0.missingRevisions(of: leaf.id, among: [leaf.revisionID]) }
        #expect(missing.isEmpty == expected.contains(leaf), place)
      }
    }
    for selector in selectors {
      let query = Query(try QuerySelector(selector))
      let wanted = try visible.filter {
        try !$0.id.hasBytePrefix("_design/") && query.selector.matches($0.body, id: $0.id)
      }
      #expect(try store.read { try $0.find(query) }.map(\.id).sorted() == wanted.map(\.id).sorted(), place)
      #expect(try store.read { try $0.count(query) } == wanted.count, place)
      #expect(try store.read { try $0.documentIDs(query) }.sorted() == wanted.map(\.id).sorted(), place)
    }
  }

  /// Runs `body` with a datastore as a user sees it, and the whole one.
  private func withStores(
    read: JSONValue, as user: UserContext, _ body: (_ store: Datastore, _ all: Datastore) throws -> Void
  ) throws {
    try withTemporaryDirectory(inMemory: true) { directory in
      let free = try DatastoreManager(directory: directory)
      defer { free.close() }
      let all = try free.datastore(named: "store")
      try all.setRules(["read": read])
      let manager = try DatastoreManager(
        directory: directory, options: DatastoreOptions(rules: .enforced(as: user)))
      defer { manager.close() }
      try body(manager.datastore(named: "store"), all)
    }
  }

  private static func owner(_ value: JSONValue) -> JSONValue {
    ["roles": ["*"], "selector": ["owner": value]]
  }

  static let indexed: [JSONValue] = [
    [owner(["$data": "userCtx.name"])],
    [owner(["$data": "userCtx.name"]), ["roles": ["*"], "selector": ["team": ["$data": "userCtx.name"]]]],
    [["roles": ["*"], "selector": ["team": ["$elemMatch": ["$eq": ["$data": "userCtx.name"]]]]]],
    [["roles": ["*"], "selector": ["team": ["$in": ["$data": "userCtx.roles"]]]]],
    [
      [
        "roles": ["*"],
        "selector": [
          "$if": ["type": "order"], "$then": ["owner": ["$data": "userCtx.name"]],
          "$else": ["team": ["$data": "userCtx.name"]],
        ],
      ]
    ],
    [owner(["$regex": "^anna"])],
  ]

  @Test(arguments: indexed) func `an index finds what a user sees`(_ read: JSONValue) throws {
    try withStores(read: read, as: UserContext(name: "anna", roles: ["anna"])) { store, all in
      try all.write { transaction in
        for number in 0..<2_000 {
          let name = number % 200 == 0 ? JSONValue.string("anna") : .string("user \(number)")
          _ = try transaction.createDocument(
            from: DocumentDraft(
              id: "d\(number)",
              body: ["owner": name, "team": ["x", name], "type": number % 3 == 0 ? "order" : "note"]))
        }
      }
      try all.ensureIndexed(["owner"])
      try all.ensureIndexed(["team"])
      try store.read { transaction in
        let engine = try QueryEngine(transaction)
        let query = try ResolvedQuery(Query([:]))
        #expect(try engine.plan(query, QueryStop()).usesIndex)
        #expect(try transaction.count(Query([:])) == 10)
        let clause = try #require(try transaction.visibleClause)
        let filter = try SelectorFilter(QuerySelector(clause: clause))
        let selected = try #require(try SelectedChanges(of: filter, since: 0, in: transaction))
        #expect(try selected.changes(after: 0, limit: 100, in: transaction).documents.count == 10)
      }
    }
  }

  @Test func `a document whose pattern takes too long hides itself alone`() throws {
    try withStores(read: [Self.owner(["$regex": "^(a+)+$"])], as: UserContext(name: "anna")) { store, all in
      try all.createDocument(from: DocumentDraft(id: "a", body: ["owner": "aaa"]))
      let slow = String(repeating: "a", count: 200) + "b"
      try all.createDocument(from: DocumentDraft(id: "b", body: ["owner": .string(slow)]))
      try all.createDocument(from: DocumentDraft(id: "c", body: ["owner": "a"]))
      #expect(try store.find([:]).map(\.id) == ["a", "c"])
      #expect(try store.read { try $0.allDocumentIDs() } == ["a", "c"])
    }
  }

  @Test func `changed rules of another connection decide the next read`() throws {
    try withStores(read: [Self.owner(["$data": "userCtx.name"])], as: UserContext(name: "anna")) {
      store, all in
      for name in ["anna", "bob"] {
        try all.createDocument(from: DocumentDraft(id: name, body: ["owner": .string(name)]))
      }
      func ids() throws -> [String] {
        let ids = try store.read { try $0.allDocumentIDs() }
        #expect(try store.find([:]).map(\.id) == ids)
        return ids
      }
      #expect(try ids() == ["anna"])
      try all.setRules(["read": [Self.owner("bob")]])
      #expect(try ids() == ["bob"])
      try all.createDocument(
        from: DocumentDraft(
          id: "_design/more", body: ["language": "query", "read": [Self.owner("anna")]]))
      #expect(try ids() == ["anna", "bob"])
      try all.deleteDocument(withID: "_design/more")
      #expect(try ids() == ["bob"])
      try all.setRules(["read": nil])
      #expect(try store.read { try $0.allDocumentIDs() }.suffix(2) == ["anna", "bob"])
    }
  }

  @Test func `a leaf that a user does not see is not changed with the document`() throws {
    try withStores(read: [Self.owner(["$data": "userCtx.name"])], as: UserContext(name: "anna")) {
      store, all in
      let theirs = RevisionID(generation: 1, suffix: "0")
      let mine = RevisionID(generation: 1, suffix: "1")
      for (revision, owner) in [(theirs, "bob"), (mine, "anna")] {
        try all.write {
          _ = try $0.forceInsert(
            DocumentRevision(id: "a", revisionID: revision, body: ["owner": .string(owner)]))
        }
      }
      func changed(_ revision: RevisionID) -> DocumentRevision {
        DocumentRevision(id: "a", revisionID: revision, body: ["owner": "anna"])
      }
      for change: () throws -> Void in [
        { _ = try store.updateDocument(from: changed(theirs)) },
        { _ = try store.deleteDocument(from: changed(theirs)) },
      ] {
        let error = #expect(throws: DatastoreError.self) { try change() }
        #expect(error?.code == .conflict)
      }
      try store.deleteDocument(withID: "a")
      #expect(try all.document(withID: "a").revisionID == theirs)
    }
  }

  @Test func `the name of who has written a revision is given to users who see every document`() throws {
    try withTemporaryDirectory(inMemory: true) { directory in
      var options = DatastoreOptions()
      options.documentRules = EnforcedRules(for: UserContext(name: "bob", roles: ["_admin"]), sender: "bob")
      let admin = try DatastoreManager(directory: directory, options: options)
      let all = try admin.datastore(named: "store")
      let mine = try all.createDocument(from: DocumentDraft(id: "mine", body: ["owner": "anna"]))
      try all.setRules(["read": [["roles": ["*"], "selector": ["owner": ["$data": "userCtx.name"]]]]])
      #expect(try all.read { try $0.arrival(of: mine) }?.user == "bob")
      let manager = try DatastoreManager(
        directory: directory, options: DatastoreOptions(rules: .enforced(as: UserContext(name: "anna"))))
      let arrival = try manager.datastore(named: "store").read { try $0.arrival(of: mine) }
      #expect(arrival != nil && arrival?.user == nil)
      for each in [admin, manager] { each.close() }
    }
  }

  @Test func `a document that a user does not see can't be changed`() throws {
    try withTemporaryDirectory(inMemory: true) { directory in
      let free = try DatastoreManager(directory: directory)
      defer { free.close() }
      let all = try free.datastore(named: "store")
      let theirs = try all.createDocument(from: DocumentDraft(id: "theirs", body: ["owner": "bob"]))
      try all.createDocument(from: DocumentDraft(id: "mine", body: ["owner": "anna"]))
      try all.setRules(["read": [["roles": ["*"], "selector": ["owner": ["$data": "userCtx.name"]]]]])
      let manager = try DatastoreManager(
        directory: directory, options: DatastoreOptions(rules: .enforced(as: UserContext(name: "anna"))))
      defer { manager.close() }
      let store = try manager.datastore(named: "store")
      let writes: [() throws -> Void] = [
        { _ = try store.createDocument(from: DocumentDraft(id: "theirs", body: ["owner": "anna"])) },
        { _ = try store.updateDocument(from: theirs) }, { _ = try store.deleteDocument(withID: "theirs") },
        {
          let branch = DocumentRevision(
            id: "theirs", revisionID: RevisionID(generation: 5, suffix: "a"), body: [:])
          try store.write { _ = try $0.forceInsert(branch) }
        },
      ]
      for write in writes {
        let violation = #expect(throws: RuleViolation.self) { try write() }
        #expect(violation?.reason == "you may not change this document")
      }
      _ = try store.updateDocument(withID: "mine") { $0.body["n"] = 1 }
      // A user can give a document away, and then does not see it any more.
      _ = try store.updateDocument(withID: "mine") { $0.body["owner"] = "bob" }
      #expect(throws: DatastoreError.self) { try store.document(withID: "mine") }
      #expect(try all.document(withID: "theirs") == theirs)
    }
  }
}
