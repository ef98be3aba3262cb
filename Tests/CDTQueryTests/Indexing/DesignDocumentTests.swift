import CDTDatastore
import CDTJSON
import CDTTestSupport
import Testing

@testable import CDTIndex
@testable import CDTQuery
@testable import CDTSelector

/// Design documents of the language `query`, which the indexes follow.
@Suite struct DesignDocumentTests {
  private static func body(_ views: JSONObject) -> JSONObject {
    ["language": "query", "views": .object(views)]
  }

  private static func view(_ fields: JSONValue) -> JSONValue { ["map": ["fields": fields]] }

  @Test func `indexes follow what is written, edited and deleted`() throws {
    try withTemporaryDatastore { store in
      try store.ensureIndexed(["n"], name: "own")
      try store.write { transaction in
        for number in 0..<20 {
          try transaction.createDocument(
            from: DocumentDraft(id: "d\(number)", body: ["a": .int(Int64(number))]))
        }
        let views = Self.body(["a": Self.view(["a": "asc"]), "b": Self.view(["b": "desc", "a": "desc"])])
        try transaction.createDocument(from: DocumentDraft(id: "_design/x", body: views))
      }
      #expect(try store.listIndexes().map(\.name) == ["_design/x/a", "_design/x/b", "own"])
      #expect(try store.read { try $0.find(Query(["a": 7], useIndex: "_design/x/a")) }.map(\.id) == ["d7"])
      try store.updateDocument(withID: "_design/x") { $0.body = Self.body(["a": Self.view(["a": "desc"])]) }
      let indexes = try store.listIndexes()
      #expect(indexes.map(\.name) == ["_design/x/a", "own"])
      #expect(indexes[0].fields[0].isDescending && indexes[0].definition.designDocument == "_design/x")
      let error = #expect(throws: QueryError.self) { try store.deleteIndex(named: "_design/x/a") }
      #expect(error?.code == .invalidIndex)
      #expect(try store.ensureIndexed([.descending("a")], name: nil) == "a-desc")
      try store.deleteDocument(withID: "_design/x")
      #expect(try store.listIndexes().map(\.name) == ["a-desc", "own"])
      #expect(try store.checkIndexes() == [])
    }
  }

  @Test func `a design document is followed that was written without indexes, and by name after reopening`()
    throws
  {
    try withTemporaryDirectory { directory in
      let manager = try DatastoreManager(directory: directory)
      let store = try manager.datastore(named: "store")
      defer { manager.close() }
      try store.createDocument(
        from: DocumentDraft(id: "_design/x", body: Self.body(["a": Self.view(["a": "asc"])])))
      #expect(try store.listIndexes().map(\.name) == ["_design/x/a"])
      manager.close()
      let again = try manager.datastore(named: "store")
      #expect(try again.listIndexes().map(\.definition.designDocument) == ["_design/x"])
      #expect(try again.listIndexes().map(\.definition.ownName) == ["a"])
    }
  }

  @Test func `indexes that are never used are noted`() throws {
    try withTemporaryDatastore { store in
      try store.ensureIndexed(["t"], .text)
      func put(_ id: String, _ body: JSONObject) throws {
        try store.createDocument(from: DocumentDraft(id: id, body: body))
      }
      try put("_design/a", ["validate_doc_update": "function() {}", "views": [:], "filters": ["f": "x"]])
      try put(
        "_design/b",
        Self.body([
          "none": Self.view([]),
          "partial": ["map": ["fields": ["a": "asc"], "partial_filter_selector": ["b": ["$regex": "x"]]]],
          "odd": Self.view(["a..b": "asc"]), "wrong": 5, "good": Self.view(["a": "asc"]),
          "unprotected": ["map": ["fields": ["a": "asc"], "unique": "yes"]],
        ]))
      try put(
        "_design/c",
        [
          "language": "query",
          "indexes": [
            "t": ["index": ["fields": [["name": "t", "type": "string"]], "tokenize": "porter"]],
            "v": ["index": ["fields": ["v"], "vector": 3]],
          ],
        ])
      #expect(
        try store.listIndexes().map(\.name) == ["_design/b/good", "_design/c/t", "_design/c/v", "text_t"])
      #expect(try store.listIndexes()[2].definition.options == .vector(3))
      #expect(try store.listIndexes()[1].definition.options.tokenizer == .porter)
      let notes = try store.checkDesignDocuments()
      #expect(notes.allSatisfy { $0.kind == .design })
      #expect(
        notes.map(\.documentID) == [
          "_design/a", "_design/a", "_design/b", "_design/b", "_design/b", "_design/b", "_design/b",
        ])
      #expect(
        notes.last?.message
          == #"The index "unprotected" is stored and not made: "unique" must be true or false, not a string."#
      )
      #expect(
        notes[0].message.hasPrefix(
          "`validate_doc_update` is stored and never run, as there is no JavaScript;"))
      #expect(try store.checkIntegrity() == [] && store.checkIndexes() == [])
    }
  }

  @Test func `each function has a note that says what to write instead`() {
    let function: JSONValue = "function () {}"
    let document = DesignDocument(
      id: "_design/d",
      body: [
        "validate_doc_update": function, "filters": ["f": function], "views": ["v": ["map": function]],
        "shows": ["s": function], "lists": ["l": function], "updates": ["u": function],
        "rewrites": [["from": "/a", "to": "/b"]], "indexes": ["i": ["index": function]],
        "nouveau": ["n": ["index": function]],
      ])
    let program = "form the replies in a program in front of the server."
    let text = "create an index of type text, and search by $text."
    #expect(
      document.notes
        == [
          ("validate_doc_update", #"write a rule of the language "query"."#),
          ("filters.f", "filter by a selector."),
          ("views.v", #"declare the fields in a view of the language "query"."#),
          ("shows.s", program), ("lists.l", program),
          ("updates.u", "read the document, change it and save it."), ("rewrites", program),
          ("indexes.i", text), ("nouveau.n", text),
        ].map { "`\($0)` is stored and never run, as there is no JavaScript; \($1)" })
    #expect(
      document.unenforcedNote
        == "stored and not enforced: `validate_doc_update`, `filters.f`; see docs/moving-from-couchdb.md")
  }

  @Test func `members without functions have no note`() {
    let document = DesignDocument(
      id: "_design/d", body: ["validate_doc_update": [:], "filters": nil, "views": [:], "rewrites": [:]])
    #expect(document.notes == [] && document.unenforcedNote == nil)
  }

  @Test func `rules without the language of queries are noted`() {
    let document = DesignDocument(
      id: "_design/d",
      body: ["validate_doc_update": ["newDoc.a": 1], "read": [["roles": ["*"], "selector": [:]]]])
    #expect(
      document.notes == [
        #"`validate_doc_update` is a rule that is not enforced, as the document has no "language": "query"; add it."#,
        #"`read` is a rule that is not enforced, as the document has no "language": "query"; add it."#,
      ])
  }

  @Test func `an option of another kind of index is refused, and null is ignored`() throws {
    let document = DesignDocument(
      id: "_design/d",
      body: [
        "language": "query",
        "views": [
          "null": ["map": ["fields": ["a": "asc"], "unique": nil, "partial_filter_selector": nil]],
          "tokens": ["map": ["fields": ["a": "asc"], "tokenize": "porter"]],
          "filtered": ["map": ["fields": ["a": "asc"], "partial_filter_selector": 5]],
        ],
        "indexes": ["words": ["index": ["fields": ["t"], "unique": true]]],
      ])
    #expect(
      document.indexes.map(\.name) == ["_design/d/null"] && document.indexes[0].options.isUnique == false)
    #expect(
      document.notes == [
        #"The index "tokens" is stored and not made: an index of type "json" takes no settings; remove "tokenize", or use the type "text"."#,
        #"The index "filtered" is stored and not made: a selector is an object such as {"age": {"$gt": 18}}, not a number."#,
        #"The index "words" is stored and not made: the words of a text index can't be unique; use an index of type json."#,
      ])
  }
}
