import CDTDatastore
import CDTJSON
import Testing

@Suite struct DocumentTextTests {
  @Test(arguments: [#"{}"#, #"{"a":1.50,"b":"x\"y","é":[null,{}]}"#])
  func `a document's text is that of its JSON`(_ body: String) throws {
    try withTemporaryDatastore { store in
      let id = "i\"\n\u{1}é"
      let saved = try store.createDocument(
        from: DocumentDraft(id: id, body: JSONObject(parsing: body)))
      let text = try store.read { try $0.documentText(withID: id) }
      let parsed = try JSONObject(parsing: text)
      #expect(parsed["_id"] == .string(id))
      #expect(parsed["_rev"] == .string(saved.revisionID.description))
      #expect(parsed.count == saved.body.count + 2)
      #expect(String(decoding: text, as: UTF8.self).hasSuffix(saved.body.text.dropFirst()))
    }
  }

  @Test func `ids of every length and long bodies come out as they are spelled`() throws {
    try withTemporaryDatastore { store in
      // One odd byte in each place of an id: escaped, next to what is, and beyond ASCII.
      var saved: [DocumentRevision] = []
      try store.write { transaction in
        for length in [1, 7, 8, 9, 15, 16, 17, 40] {
          for odd in ["\"", "\\", "\u{1F}", " ", "!", "#", "[", "]", "\u{7F}", "é"] {
            for place in Set([0, length / 2, length - 1]) {
              var id = Array(repeating: "x", count: length)
              id[place] = odd
              let body: JSONObject = ["long": .string(String(repeating: "é", count: length * 300))]
              saved.append(
                try transaction.createDocument(from: DocumentDraft(id: id.joined(), body: body)))
            }
          }
        }
      }
      for document in saved {
        let text = try store.read { try $0.documentText(withID: document.id) }
        #expect(text == JSONValue.object(document.json).utf8Text)
      }
    }
  }

  @Test func `missing and deleted documents have no text`() throws {
    try withTemporaryDatastore { store in
      let saved = try store.createDocument(from: DocumentDraft(id: "a", body: ["n": 1]))
      try store.deleteDocument(from: saved)
      for id in ["a", "b"] {
        let error = #expect(throws: DatastoreError.self) {
          try store.read { try $0.documentText(withID: id) }
        }
        #expect(error?.code == .notFound)
      }
    }
  }
}
