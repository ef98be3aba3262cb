import CDTDatastore
import CDTJSON
import CDTQuery
import CDTRandomDocuments
import CDTTestSupport
import Testing

/// `$text`: the index, the matcher and FTS5 agree, whatever is searched for.
@Suite struct TextSearchTests {
  private static func body(_ random: inout RandomDocuments) -> JSONObject {
    var body = JSONObject()
    for name in ["title", "body", "x.y"] where random.chance(75) {
      body[name] =
        switch random.number(below: 6) {
        case 0: .array((0..<random.number(below: 4)).map { _ in .string(random.words()) })
        case 1: .int(Int64(random.number(below: 60)))
        case 2: random.value()
        default: .string(random.words())
        }
    }
    body["n"] = .int(Int64(random.number(below: 4)))
    return body
  }

  @Test(arguments: TextTokenizerName.allCases)
  func `index and matcher give one answer`(tokenizer: TextTokenizerName) throws {
    let seed = testSeed(14)
    var random = RandomDocuments(seed: seed)
    var (found, refused) = (0, 0)
    try withTemporaryDatastore { store in
      var revisions: [DocumentRevision] = []
      try store.ensureIndexed(["title", "body", #"x\.y"#], .text(tokenizer))
      let definition = try #require(try store.listIndexes().first?.definition)
      try store.ensureIndexed(["n"])
      for number in 0..<400 {
        if number < 40 || random.chance(10) {
          let draft = DocumentDraft(id: "doc-\(number) \(random.word())", body: Self.body(&random))
          revisions.append(try store.createDocument(from: draft))
        } else if random.chance(10) {
          let chosen = random.number(below: revisions.count)
          revisions[chosen].body = Self.body(&random)
          revisions[chosen] = try store.updateDocument(from: revisions[chosen])
        } else if random.chance(4) {
          try store.deleteDocument(from: revisions.remove(at: random.number(below: revisions.count)))
        }
        if random.chance(5) { try store.updateIndexes() }
        let text: JSONObject = ["$text": ["$search": .string(random.search())]]
        let selector: JSONObject =
          switch random.number(below: 4) {
          case 0: ["$and": [.object(text), ["n": .int(Int64(random.number(below: 4)))]]]
          case 1: ["$or": [.object(text), ["n": 1]]]
          default: text
          }
        do {
          let query = try Query(selector)
          let expected = try query.find(in: revisions, textIndex: definition).map(\.id)
          let actual = try store.read { try $0.find(query) }.map(\.id)
          let context = "seed \(seed): \(selector.text)\n\(try store.read { try $0.explain(query) })"
          #expect(actual.sorted() == expected.sorted() && Set(actual).count == actual.count, "\(context)")
          let count = try store.read { try $0.count(query) }
          #expect(count == expected.count, "seed \(seed): \(selector.text)")
          found += expected.count
        } catch let error as QueryError where error.code == .textSearch {
          refused += 1
        }
      }
    }
    #expect(found > 200 && refused < 300, "seed \(seed): \(found) found, \(refused) refused")
  }

  @Test func `no input reaches SQLite as syntax`() throws {
    let seed = testSeed(15)
    var random = RandomDocuments(seed: seed)
    try withTemporaryDatastore { store in
      try store.ensureIndexed(["title"], .text)
      try store.createDocument(
        from: DocumentDraft(id: "a", body: ["title": "cat c0 rank id and or not near"]))
      try store.updateIndexes()
      for _ in 0..<3_000 {
        let search = random.syntaxSearch()
        do {
          _ = try store.find(["$text": ["$search": .string(search)]]).map(\.id)
        } catch let error as QueryError {
          #expect(error.code == .textSearch, "seed \(seed): \(search): \(error)")
        }
      }
    }
  }

  @Test func `scores order the results, the best first`() throws {
    try withTemporaryDatastore { store in
      try store.ensureIndexed(["title"], .text)
      let texts = [
        "often": "cat cat cat", "once": "a cat among many other words that say nothing of it", "never": "dog",
        "twice": "cat and cat", "b": "the cat", "a": "the cat",
      ]
      for (id, text) in texts {
        try store.createDocument(from: DocumentDraft(id: id, body: ["title": .string(text)]))
      }
      let byScore: [SortField] = [.score]
      let all = try store.find(["$text": ["$search": "cat"]], sort: byScore).map(\.id)
      #expect(all == ["often", "twice", "a", "b", "once"])
      let page = try store.find(["$text": ["$search": "cat"]], skip: 1, limit: 2, sort: byScore)
      #expect(page.map(\.id) == ["twice", "a"])
      let narrowed = try store.find(
        ["$text": ["$search": "cat"], "_id": ["$ne": "twice"]], limit: 2, sort: byScore)
      #expect(narrowed.map(\.id) == ["often", "a"])
    }
  }

  @Test func `scores come from the text index alone`() throws {
    try withTemporaryDatastore { store in
      try store.ensureIndexed(["a"], name: "by_a")
      try store.ensureIndexed(["a"], .text, name: "words")
      try store.createDocument(from: DocumentDraft(id: "1", body: ["a": "cat"]))
      for (search, found) in [("cat", 1), ("", 0)] {
        var query = try Query(["$text": ["$search": .string(search)]], sort: [.score])
        query.useIndex = "words"
        let ids = try store.read { try $0.find(query) }.map(\.id)
        #expect(ids.count == found)
      }
      let other = try Query(["$text": ["$search": "cat"]], sort: [.score], useIndex: "by_a")
      let error = #expect(throws: QueryError.self) { try store.read { try $0.find(other) } }
      #expect(
        error?.description == "use_index: a sort by the score of \"$text\" needs the text index, "
          + "which \"by_a\" is not; remove use_index")
      let inMemory = #expect(throws: QueryError.self) { try other.find(in: []) }
      #expect(inMemory?.path == "sort[0]")
    }
  }

  static let refusedSorts: [(JSONObject, [JSONValue], String)] = [
    (
      ["a": 1], [["$text": "score"]],
      #"sort[0]: only a query with a "$text" outside "$or" has scores; sort by a field"#
    ),
    (
      ["$or": [["$text": ["$search": "a"]], ["a": 1]]], [["$text": "score"]],
      #"sort[0]: only a query with a "$text" outside "$or" has scores; sort by a field"#
    ),
    (
      ["$text": ["$search": "a"]], [["$text": "desc"]],
      #"sort[0]: a sort by the score of "$text" is written {"$text": "score"}, not "desc""#
    ),
    (
      ["$text": ["$search": "a"]], [["$text": "score"], "a"],
      #"sort[0]: a sort by the score of "$text" can't have other clauses; remove them, ties are sorted by _id"#
    ),
  ]

  @Test(arguments: refusedSorts)
  func `scores are there only for a search`(selector: JSONObject, sort: [JSONValue], message: String) {
    let error = #expect(throws: QueryError.self) {
      try Query(request: ["selector": .object(selector), "sort": .array(sort)])
    }
    #expect(error?.description == message)
  }

  @Test func `a search without a text index says that it needs one`() throws {
    try withTemporaryDatastore { store in
      try store.ensureIndexed(["title"])
      let error = #expect(throws: QueryError.self) { try store.find(["$text": ["$search": "cat"]]) }
      #expect(error?.code == .textSearch)
      #expect(
        error?.message
          == #""$text" needs a text index, and the datastore has none; create an index of type text"#)
      #expect(error?.lacksTextIndex == true)
      #expect(throws: QueryError.self) { try QuerySelector(["$text": ["$search": "cat"]]).matches([:]) }
    }
  }

  static let refusedIndexes: [(IndexType, JSONObject, String)] = [
    (
      .json, ["tokenize": "simple"],
      #"settings.tokenize: an index of type "json" takes no settings; remove "tokenize", or use the type "text""#
    ),
    (
      .text, ["tokenise": "simple"],
      #"settings.tokenise: a text index has no setting "tokenise"; its only setting is "tokenize""#
    ),
    (
      .text, ["tokenize": "icu"],
      #"settings.tokenize: "icu" is not a tokenizer; use one of "simple", "porter", "unicode61", "trigram""#
    ),
    (
      .text, ["tokenize": 1],
      #"settings.tokenize: 1 is not a tokenizer; use one of "simple", "porter", "unicode61", "trigram""#
    ),
  ]

  @Test(arguments: refusedIndexes)
  func `settings are checked`(type: IndexType, settings: JSONObject, message: String) throws {
    try withTemporaryDatastore { store in
      let error = #expect(throws: QueryError.self) {
        try store.ensureIndexed(
          ["a"], IndexOptions(json: ["type": .string(type.rawValue), "settings": .object(settings)]))
      }
      #expect(error?.description == message)
      let indexes = try store.listIndexes()
      #expect(indexes.isEmpty)
    }
  }

  @Test func `a search has its meaning in the index that it names, or that alone has its fields`() throws {
    try withTemporaryDatastore { store in
      let name = try store.ensureIndexed(["a", .descending("b")], .text)
      #expect(name == "text_a_b")
      let again = try store.ensureIndexed(["a", "b"], .text)
      #expect(again == name)
      try store.ensureIndexed(["a", "c"], .text(.porter), name: "stems")
      #expect(
        try store.listIndexes().map(\.json.text).first?.contains(#""settings":{"tokenize":"porter"}"#) == true
      )
      try store.createDocument(from: DocumentDraft(id: "1", body: ["a": "runs", "b": "x", "c": "x"]))
      func find(_ search: String, in index: String? = nil) throws -> [String] {
        let query = try Query(["$text": ["$search": .string(search)]], useIndex: index)
        return try store.read { try $0.find(query) }.map(\.id)
      }
      #expect(try find("run", in: name) == [])
      #expect(try find("run", in: "stems") == ["1"])
      #expect(try find("c:x run") == ["1"])
      #expect(try find("b:x run") == [])
      #expect(try find("b:x 12:30 OR runs") == ["1"])
      let overflow = #expect(throws: QueryError.self) { try find("b:x OR c:x") }
      #expect(
        overflow?.description
          == #"$text: no text index has all fields that the search names, "b", "c"; create one with them"#)
      for search in ["run", "a:runs", "12:30"] {
        let error = #expect(throws: QueryError.self, "\(search)") { try find(search) }
        #expect(
          error?.description
            == #"$text: several text indexes can answer it: "stems", "text_a_b"; name one of them with use_index"#
        )
      }
      let query = try Query(["$text": ["$search": "run"]], useIndex: "stems")
      #expect(
        try store.read { try $0.explain(query) }.description.contains(
          #"index "text_a_b": not used, the query names another index"#))
      try store.deleteIndex(named: name)
      #expect(try find("run") == ["1"])
      #expect(try store.checkIndexes() == [])
    }
  }

  @Test func `tokenizers differ as they should`() throws {
    let cases: [(TextTokenizerName, String, Bool)] = [
      (.simple, "run", false), (.porter, "run", true), (.porter, "runs", true), (.simple, "kase", false),
      (.unicode61, "kase", true), (.unicode61, "KÄSE", true), (.trigram, "unni", true),
      (.trigram, "un", true), (.trigram, "ux", false), (.trigram, "ÄS", true), (.trigram, "g k", true),
      (.simple, "unni", false), (.trigram, "äse", true),
    ]
    for (tokenizer, search, isFound) in cases {
      try withTemporaryDatastore { store in
        try store.ensureIndexed(["t"], .text(tokenizer))
        try store.createDocument(from: DocumentDraft(id: "1", body: ["t": "running Käse"]))
        for _ in 0..<2 {
          let found = try store.count(["$text": ["$search": .string(search)]])
          #expect(found == (isFound ? 1 : 0), "\(tokenizer) \(search)")
          try store.updateIndexes()
        }
      }
    }
  }

  @Test func `with trigrams, words of one or two characters are found`() throws {
    let texts: [String: JSONValue] = [
      "1": "the ox and the cart", "2": "the cart", "3": "注意健康和护城河", "4": "做好护城河", "5": "Ox",
      "6": ["th", "e o"], "7": ["xab", "cat"],
    ]
    let cases: [(search: String, ids: [String])] = [
      ("the ox", ["1"]), ("the NOT ox", ["2"]), ("健康 护城河", ["3"]), ("健康", ["3"]), ("河", ["3", "4"]),
      ("ox", ["1", "5"]), ("OX OR 健康", ["1", "3", "5"]), ("ox NEAR/1 and", ["1"]), ("ox NEAR/0 and", []),
      ("t:ox", ["1", "5"]), ("u:ox", []), ("zz", []), ("o", ["1", "5", "6"]), ("th*", ["1", "2", "6"]),
      ("ox NOT (cart the)", ["5"]), ("\"e o\"", ["1", "6"]), ("\"b\nc\"", []),
      ("the NOT \"b\nc\"", ["1", "2"]),
      ("the NOT (ox OR x)", ["2"]),
    ]
    try withTemporaryDatastore { store in
      try store.ensureIndexed(["t", "u"], .text(.trigram))
      for (id, text) in texts {
        try store.createDocument(from: DocumentDraft(id: id, body: ["t": text]))
      }
      for _ in 0..<2 {
        for (search, ids) in cases {
          let selector: JSONObject = ["$text": ["$search": .string(search)]]
          #expect(try store.find(selector, sort: ["_id"]).map(\.id) == ids, "\(search)")
          #expect(try store.count(selector) == ids.count, "\(search)")
          #expect(Set(try store.find(selector, sort: [.score]).map(\.id)) == Set(ids), "\(search)")
        }
        try store.updateIndexes()
      }
    }
  }

  @Test func `an unknown name before a phrase is a word`() throws {
    try withTemporaryDatastore { store in
      try store.ensureIndexed(["t"], .text)
      for (id, text) in [
        ("1", "runs run a 42"), ("2", "runs run nosuch a 42"), ("3", "nosuch a 42"), ("4", "runs run"),
      ] {
        try store.createDocument(from: DocumentDraft(id: id, body: ["t": .string(text)]))
      }
      func find(_ search: String) throws -> [String] {
        try store.find(["$text": ["$search": .string(search)]], sort: ["_id"]).map(\.id)
      }
      for separator in ["", " "] {
        #expect(try find(#""runs run" NOT nosuch:\#(separator)"a 42""#) == ["1"])
        #expect(try find(#"nosuch:\#(separator)"a 42""#) == ["2", "3"])
        #expect(try find(#"runs OR nosuch:\#(separator)"a 42""#) == ["1", "2", "3", "4"])
      }
      #expect(try find(#"NOT:"a 42""#) == [])
      #expect(try find(#""runs run" NOT t:"a 42""#) == ["4"])
    }
  }

  @Test func `the index is rebuilt, and survives compaction and reopening`() throws {
    try withTemporaryDirectory { directory in
      let manager = try DatastoreManager(directory: directory)
      var store = try manager.datastore(named: "store")
      try store.ensureIndexed(["t"], .text(.porter))
      var one = try store.createDocument(from: DocumentDraft(id: "1", body: ["t": "running"]))
      try store.updateIndexes()
      one.body["t"] = "sleeping"
      one = try store.updateDocument(from: one)
      try store.compact()
      try store.updateIndexes()
      let search = { (word: JSONValue) in try store.find(["$text": ["$search": word]]).map(\.id) }
      #expect(try search("run") == [])
      #expect(try search("sleep") == ["1"])
      try store.rebuildIndexes()
      #expect(try search("sleep") == ["1"])
      try manager.closeDatastore(named: "store")
      store = try manager.datastore(named: "store")
      #expect(try search("sleeps") == ["1"])
      try manager.closeDatastore(named: "store")
    }
  }
}
