import CDTJSON
import Dispatch
import Testing

@testable import CDTDatastore

@Suite struct DocumentBodyTests {
  private static func stored(_ text: String) -> StoredBody? {
    Array(text.utf8).withUnsafeBytes { StoredBody($0) }
  }

  @Test func `a body that was read is a value like any other`() throws {
    try withTemporaryDatastore { store in
      let body: JSONObject = ["a": [1, ["b": nil]], "c": "\u{E9}\"\\"]
      try store.createDocument(from: DocumentDraft(id: "a", body: body))
      let read = try store.document(withID: "a")
      var copy = read
      copy.body["a"] = 2
      #expect(read.body == body)
      #expect(read.body == body)
      #expect(copy.body == ["a": 2, "c": "\u{E9}\"\\"])
      copy.body = [:]
      #expect(copy.body == [:])
      #expect(copy.hasBody)
      #expect(read == (try store.document(withID: "a")))
    }
  }

  @Test func `a change that throws keeps what was changed before`() {
    struct OwnError: Error {}
    func change(_ body: inout JSONObject) throws {
      body["a"] = 2
      throw OwnError()
    }
    var revision = DocumentDraft(id: "a", body: ["a": 1, "b": 1])
    #expect(throws: OwnError.self) { try change(&revision.body) }
    #expect(revision.body == ["a": 2, "b": 1])
  }

  @Test func `text other than an object is not parsed`() {
    for text in ["", "[]", "{", "}", "1", "{\"a\":1", "\"a\":1}"] {
      #expect(Self.stored(text) == nil, "\(text)")
    }
    #expect(Self.stored("{}")?.object == [:])
  }

  @Test func `threads that look at once see the same`() throws {
    let body = try #require(Self.stored(#"{"a":[1,2,3],"b":{"c":"d"}}"#))
    DispatchQueue.concurrentPerform(iterations: 64) { _ in
      #expect(body.object == ["a": [1, 2, 3], "b": ["c": "d"]])
    }
  }
}
