import CDTDatastore
import CDTJSON
import Foundation
import Testing

@Suite struct RevisionIDTests {
  @Test(arguments: [
    "0-x", "-4-x", " 5-x", "7", "", "-", "x-1", "+1-a", "01-a", "00-a", "1 -a", "1.0-a", "٣-a", "0x1-a",
    "99999999999999999999-x", "9223372036854775808-x", "1-" + String(repeating: "a", count: 254), "-1-a",
    "1–a",
  ])
  func `malformed revision ids are refused`(_ text: String) {
    #expect(RevisionID(text) == nil)
  }

  @Test(arguments: [
    "1-a", "7-", "7--", "2-b-c", "10-\u{301}x", "9223372036854775807-x", "1- ", "3-\0",
    "1-" + String(repeating: "a", count: 253),
  ])
  func `a revision id keeps its bytes`(_ text: String) throws {
    let id = try #require(RevisionID(text))
    #expect(id.description.utf8.elementsEqual(text.utf8))
    #expect(RevisionID(id.description) == id)
  }

  @Test func `ids are ordered by generation as a number, then by bytes`() {
    let ordered = [
      "1-Z", "1-a", "1-ab", "1-e\u{301}", "1-\u{E9}", "2-a", "9-b", "10-a", "9223372036854775807-a",
    ]
    .compactMap(RevisionID.init)
    #expect(ordered.count == 9)
    for (left, leftID) in ordered.enumerated() {
      for (right, rightID) in ordered.enumerated() {
        #expect((leftID < rightID) == (left < right))
        #expect((leftID == rightID) == (left == right))
      }
    }
    #expect(ordered.reversed().sorted() == ordered)
    #expect(Set(ordered).count == 9)
  }

  @Test func `32 hexadecimal digits are compared as the 16 bytes that they stand for`() throws {
    let ordered = [
      "2-", "2-00ffffffffffffffffffffffffffffff", "2-0", "2-0f", "2-30ffffffffffffffffffffffffffffff", "2-3",
      "2-61ffffffffffffffffffffffffffffff", "2-f", "2-zz", "2-zzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzz", "2-\u{E9}",
      "2-f0000000000000000000000000000000", "3-00000000000000000000000000000000",
    ]
    let ids = try ordered.map { try #require(RevisionID($0)) }
    for (left, leftID) in ids.enumerated() {
      for (right, rightID) in ids.enumerated() { #expect((leftID < rightID) == (left < right)) }
    }
  }

  @Test(arguments: [
    ("1-ABCDEF0123456789ABCDEF0123456789", "1-abcdef0123456789abcdef0123456789"),
    ("1-abcdefghijklmnop", "1-6162636465666768696a6b6c6d6e6f70"),
  ])
  func `a digest has one spelling, as at CouchDB`(_ text: String, _ spelling: String) throws {
    #expect(try #require(RevisionID(text)).description == spelling)
  }

  @Test func `an id is coded as a string`() throws {
    let id = try #require(RevisionID("2-be2c"))
    let data = try JSONEncoder().encode([id])
    #expect(String(decoding: data, as: UTF8.self) == #"["2-be2c"]"#)
    #expect(try JSONDecoder().decode([RevisionID].self, from: data) == [id])
    let value: JSONValue = ["rev": "2-be2c"]
    #expect(try value.decode([String: RevisionID].self) == ["rev": id])
    let error = #expect(throws: DecodingError.self) {
      try JSONDecoder().decode([RevisionID].self, from: Data(#"["0-x"]"#.utf8))
    }
    guard case .dataCorrupted(let context)? = error else {
      Issue.record("not corrupt data")
      return
    }
    #expect(context.debugDescription == #""0-x" is not a revision id"#)
  }
}

/// Equal edits have equal ids; other edits have others.
@Suite struct RevisionDigestTests {
  private func revision(of text: String) throws -> RevisionID? {
    try withTemporaryDatastore { store in
      let body = try #require(try JSONValue(parsing: text).objectValue)
      return try store.createDocument(from: DocumentDraft(id: "a", body: body)).revisionID
    }
  }

  static let equal: [[String]] = [
    [#"{"a":1,"b":2}"#, #"{"b":2,"a":1}"#, #" { "a" : 1 , "b" : 2 } "#],
    [#"{"a":{"x":[{"q":1,"p":2}]}}"#, #"{"a":{"x":[{"p":2,"q":1}]}}"#],
    [#"{"a":"é/\n"}"#, #"{"\u0061":"\u00e9\/\u000a"}"#],
    [#"{"a":"\u0008\t"}"#, #"{"a":"\b\u0009"}"#],
    [#"{"a":1.5}"#, #"{"a":15e-1}"#, #"{"a":1.50}"#, #"{"a":0.15E+1}"#],
    [#"{"a":100}"#, #"{"a":1E2}"#, #"{"a":100.0}"#],
    [#"{"\uE000":1,"\uD83D\uDE00":2}"#, #"{"😀":2,"\#u{E000}":1}"#],
    [#"{}"#, #" { } "#],
  ]

  @Test(arguments: equal) func `equal edits have one id`(_ texts: [String]) throws {
    let ids = try texts.map(revision(of:))
    #expect(Set(ids).count == 1)
  }

  @Test func `other edits have other ids`() throws {
    let texts = [
      "{}", #"{"a":null}"#, #"{"a":1}"#, #"{"a":"1"}"#, #"{"a":true}"#, #"{"a":1.5}"#, #"{"a":[1]}"#,
      #"{"a":"\u00e9"}"#, #"{"a":"e\u0301"}"#, #"{"b":1}"#, #"{"a":9007199254740993}"#,
      #"{"a":9007199254740992}"#, #"{"a":123456789012345678901}"#, #"{"a":123456789012345678902}"#,
    ]
    #expect(Set(try texts.map(revision(of:))).count == texts.count)
  }

  @Test func `the digest is of the canonical text, its keys by UTF-16`() throws {
    let body = try #require(
      try JSONValue(parsing: "{\"\u{E000}\":1,\"\u{1F600}\":2,\"z\":\"\\/\\b\",\"a\":1.0}").objectValue)
    #expect(body.canonicalText == "{\"a\":1,\"z\":\"/\\u0008\",\"\u{1F600}\":2,\"\u{E000}\":1}")
  }

  @Test func `the id depends on the parent and on the deletion`() throws {
    try withTemporaryDatastore { store in
      let a = try store.createDocument(from: DocumentDraft(id: "a", body: ["n": 1]))
      let b = try store.createDocument(from: DocumentDraft(id: "b", body: ["n": 2]))
      #expect(a.revisionID != b.revisionID)
      var (changedA, changedB) = (a, b)
      changedA.body = [:]
      changedB.body = [:]
      let ids = [
        try store.updateDocument(from: changedA).revisionID,
        try store.updateDocument(from: changedB).revisionID,
      ]
      #expect(Set(ids).count == 2)
      let emptied = ids[0]
      let again = try store.createDocument(from: DocumentDraft(id: "c", body: ["n": 1]))
      #expect(try store.deleteDocument(from: again).revisionID != emptied)
    }
  }
}
