import CDTDatastore
import CDTJSON
import CDTTestSupport
import Testing

@testable import CDTIndex
@testable import CDTQuery
@testable import CDTSelector

@Suite struct TextSnippetTests {
  struct Case: Sendable, CustomTestStringConvertible {
    let testDescription, search: String
    var body: JSONObject = ["t": "The cat sat on the mat. A dog saw the cat and the mat, and then it ran."]
    var tokenizer = TextTokenizerName.simple
    var words = 2
    var limit = 3
    let snippets: [String]
  }

  static let cases = [
    Case(
      testDescription: "a word, twice", search: "cat",
      snippets: ["t: The [cat] sat on…", "t: …saw the [cat] and the…"]),
    Case(testDescription: "at most one", search: "cat", limit: 1, snippets: ["t: The [cat] sat on…"]),
    Case(
      testDescription: "no words around", search: "cat", words: 0, snippets: ["t: …[cat]…", "t: …[cat]…"]),
    Case(
      testDescription: "all words", search: "cat", words: 100,
      snippets: ["t: The [cat] sat on the mat. A dog saw the [cat] and the mat, and then it ran."]),
    Case(
      testDescription: "a phrase, where it is one", search: "\"the mat\"",
      snippets: ["t: …sat on [the mat]. A dog…", "t: …cat and [the mat], and then…"]),
    Case(testDescription: "a prefix", search: "do*", snippets: ["t: …mat. A [dog] saw the…"]),
    Case(
      testDescription: "not what is excluded", search: "dog NOT house",
      snippets: ["t: …mat. A [dog] saw the…"]),
    Case(
      testDescription: "of alternatives only what is true", search: "dog OR (cat AND house)",
      snippets: ["t: …mat. A [dog] saw the…"]),
    Case(
      testDescription: "NEAR, only those that are near", search: "saw NEAR/1 cat",
      snippets: ["t: …A dog [saw] the [cat]…"]),
    Case(testDescription: "a search that does not match", search: "cat AND house", snippets: []),
    Case(
      testDescription: "a field", search: "u:cat", body: ["t": "cat", "u": ["no", "a cat"]],
      snippets: ["u: a [cat]"]),
    Case(
      testDescription: "fields and elements in their order", search: "cat",
      body: ["u": ["cat 1", "x", "cat 2"], "t": "cat 0"],
      snippets: ["t: [cat] 0", "u: [cat] 1", "u: [cat] 2"]),
    Case(testDescription: "the id", search: "nr", body: [:], snippets: ["_id: [nr]-7"]),
    Case(testDescription: "a number", search: "42", body: ["t": 42.5], words: 1, snippets: ["t: [42].5"]),
    Case(
      testDescription: "stems", search: "run", body: ["t": "Running, he runs"], tokenizer: .porter,
      snippets: ["t: [Running], he [runs]"]),
    Case(
      testDescription: "accents", search: "kase", body: ["t": "Der Käse!"], tokenizer: .unicode61,
      snippets: ["t: Der [Käse]!"]),
    Case(
      testDescription: "parts of words", search: "unni", body: ["t": "he is running home"],
      tokenizer: .trigram,
      words: 3, snippets: ["t: …s r[unni]ng …"]),
    Case(
      testDescription: "parts of two characters", search: "健康 sh", body: ["t": "注意健康和护城河 fish"],
      tokenizer: .trigram, words: 2, snippets: ["t: 注意[健康]和护…", "t: …fi[sh]"]),
    Case(
      testDescription: "overlapping matches are one", search: "runni unning", body: ["t": "running"],
      tokenizer: .trigram, snippets: ["t: [running]"]),
    Case(
      testDescription: "other scripts and emoji", search: "日本語", body: ["t": "x 日本語 😀"],
      snippets: ["t: x [日本語] 😀"]),
  ]

  @Test(arguments: cases) func `a search gives these snippets`(_ c: Case) throws {
    var query = try Query(["$text": ["$search": .string(c.search)]])
    query.snippets = SnippetOptions(words: c.words, before: "[", after: "]", limit: c.limit)
    try withTemporaryDatastore { store in
      try store.ensureIndexed(["t", "u"], .text(c.tokenizer))
      try store.createDocument(from: DocumentDraft(id: "nr-7", body: c.body))
      // Before the index has the document, with the index, and as text.
      for _ in 0..<2 {
        let found = try store.read { try $0.find(query) }.flatMap(\.snippets)
        #expect(found.map { "\($0.field): \($0.text)" } == c.snippets)
        for snippet in found {
          let text = Array(snippet.text.utf8)
          for range in snippet.ranges {
            #expect(
              text[range.lowerBound - 1] == UInt8(ascii: "[") && text[range.upperBound] == UInt8(ascii: "]"))
          }
        }
        try store.updateIndexes()
      }
      var texts: [JSONObject] = []
      try store.results(for: query).forEachJSON { texts.append(try JSONObject(parsing: Array($0))) }
      let text = texts.flatMap { $0["_snippets"]?.arrayValue ?? [] }.compactMap { $0["text"]?.stringValue }
      #expect(text == c.snippets.map { String($0.drop { $0 != " " }.dropFirst()) })
    }
  }

  @Test func `snippets come with projected fields, and a result with them can't be saved`() throws {
    try withTemporaryDatastore { store in
      try store.ensureIndexed(["t"], .text)
      try store.createDocument(from: DocumentDraft(id: "1", body: ["t": "a cat", "n": 1]))
      var query = try Query(["$text": ["$search": "cat"]], fields: ["n"])
      query.snippets = SnippetOptions()
      let results = try store.read { try $0.find(query) }
      let result = try #require(results.first)
      #expect(result.body.text == #"{"n":1,"_snippets":[{"field":"t","text":"a cat","ranges":[[2,5]]}]}"#)
      #expect(result.snippets == [TextSnippet(field: "t", text: "a cat", ranges: [2..<5])])
      #expect(throws: DatastoreError.self) { try store.updateDocument(from: result) }
      #expect(try store.document(withID: "1").snippets == [])
    }
  }

  @Test func `a document that another branch has found has no snippets`() throws {
    try withTemporaryDatastore { store in
      try store.ensureIndexed(["t"], .text)
      try store.createDocument(from: DocumentDraft(id: "1", body: ["t": "a dog", "n": 1]))
      let query = try Query(request: [
        "selector": ["$or": [["$text": ["$search": "cat"]], ["n": 1]]], "snippets": true,
      ])
      #expect(try store.read { try $0.find(query) }.first?.body["_snippets"] == [])
    }
  }

  struct Refusal: Sendable, CustomTestStringConvertible {
    let snippets: JSONValue
    var selector: JSONObject = ["$text": ["$search": "a"]]
    let error: String
    var testDescription: String { snippets.text }
  }

  static let refusals = [
    Refusal(
      snippets: true, selector: [:],
      error: "snippets: snippets need a \"$text\" in the selector; add one, or leave them out"),
    Refusal(
      snippets: 3,
      error: "snippets: \"snippets\" must be true, or an object with words, limit, before and after, not 3"),
    Refusal(
      snippets: ["word": 3],
      error:
        "snippets: \"snippets\" must be true, or an object with words, limit, before and after, not {\"word\":3}"
    ),
    Refusal(snippets: ["words": -1], error: "snippets.words: words must be a number from 0 to 100"),
    Refusal(snippets: ["limit": 0], error: "snippets.limit: limit must be a number from 1 to 100"),
    Refusal(
      snippets: ["before": .string(String(repeating: "x", count: 1_001))],
      error: "snippets.before: before must have at most 100 bytes"),
  ]

  @Test(arguments: refusals) func `options are refused`(_ c: Refusal) throws {
    let error = #expect(throws: QueryError.self) {
      try Query(request: ["selector": .object(c.selector), "snippets": c.snippets])
    }
    #expect(error?.description == c.error)
  }

  @Test(.timeLimit(.usual)) func `a document of one word has bounded snippets`() throws {
    let text = String(repeating: "cat ", count: 100_000)
    var query = try Query(["$text": ["$search": "cat OR \"cat cat\""]])
    query.snippets = SnippetOptions(words: 5)
    let index = try IndexDefinition(fields: ["t"], .text)
    let document = DocumentRevision(
      id: "1", revisionID: try #require(RevisionID("1-a")), body: ["t": .string(text)])
    let found = try query.find(in: [document], textIndex: index)
    #expect(found.first?.snippets.count == 3)
    #expect(found.first?.snippets.allSatisfy { $0.text.utf8.count < 200 } == true)
  }
}
