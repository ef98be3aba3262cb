import CDTDatastore
import CDTImport
import CDTJSON
import CDTRecovery
import CDTTestSupport
import Foundation
import Testing

/// The numbers of a body are stored, returned and copied as they were spelled.
@Suite struct NumberSpellingTests {
  /// Runs `body` with a store and the bodies of its documents by id.
  private func withStore(_ body: (DatastoreManager, Datastore, [String: String]) throws -> Void) throws {
    let seed = testSeed(41)
    var random = SpelledNumbers(seed: seed)
    try withTemporaryDirectory { directory in
      let manager = try DatastoreManager(directory: directory)
      let store = try manager.datastore(named: "store")
      let texts = Dictionary(uniqueKeysWithValues: (0..<40).map { ("doc\($0)", random.body()) })
      try store.write { transaction in
        for (id, text) in texts {
          try transaction.createDocument(from: DocumentDraft(id: id, body: JSONObject(parsing: text)))
        }
      }
      try body(manager, store, texts)
    }
  }

  private func stored(_ id: String, _ store: Datastore) throws -> String {
    let text = String(decoding: try store.read { try $0.documentText(withID: id) }, as: UTF8.self)
    let revision = try store.document(withID: id).revisionID
    return text.replacing(#""_id":"\#(id)","_rev":"\#(revision)","#, with: "")
  }

  @Test func `bodies are stored and read as they were spelled`() throws {
    try withStore { _, store, texts in
      for (id, text) in texts {
        let read = try store.document(withID: id)
        #expect(read.body.text == text)
        #expect(try stored(id, store) == text)
      }
    }
  }

  @Test func `saving a document unchanged is the same edit as saving its bytes`() throws {
    try withStore { manager, store, texts in
      let imported = try manager.datastore(named: "imported")
      let lines = texts.map { #"{"_id":"\#($0.key)",\#($0.value.dropFirst())"# + "\n" }.joined()
      let file = "\(manager.directory)/lines.jsonl"
      try lines.write(toFile: file, atomically: true, encoding: .utf8)
      _ = try DocumentImporter(into: imported).run([file])
      for (id, text) in texts {
        let (read, other) = (try store.document(withID: id), try imported.document(withID: id))
        #expect(read.revisionID == other.revisionID)
        #expect(try stored(id, imported) == text)
        let again = try store.updateDocument(from: read)
        let third = try store.updateDocument(withID: id) { $0.body = try JSONObject(encoding: $0.body) }
        #expect(third.body.text == text)
        #expect(try imported.updateDocument(from: other).revisionID == again.revisionID)
        #expect(try stored(id, store) == text)
      }
    }
  }

  @Test func `an edit changes the spelling of what is assigned, and of nothing else`() throws {
    try withTemporaryDatastore { store in
      try store.createDocument(
        from: DocumentDraft(
          id: "a", body: JSONObject(parsing: #"{"a":1.10,"b":[1e3,1e-400],"c":{"d":2.50}}"#)))
      try store.updateDocument(withID: "a") {
        $0.body["b"]?[1] = 2
        $0.body["c"]["e"] = 1.5
        $0.attachments["x"] = DocumentAttachment(data: Data("x".utf8), name: "x", contentType: "text/plain")
      }
      #expect(try stored("a", store).hasPrefix(#"{"a":1.10,"b":[1e3,2],"c":{"d":2.50,"e":1.5}"#))
      // Equal in a query, but another text.
      try store.updateDocument(withID: "a") { $0.body["a"] = 1.1 }
      #expect(try stored("a", store).hasPrefix(#"{"a":1.1,"b":[1e3,2],"#))
    }
  }

  @Test func `conflicts, their resolution and local documents keep the spelling`() throws {
    try withStore { _, store, texts in
      for (id, text) in texts {
        let mine = try store.document(withID: id)
        let theirs = try #require(RevisionID("1-" + String(repeating: "0", count: 32)))
        try store.write {
          try $0.forceInsert(
            DocumentRevision(id: id, revisionID: theirs, body: JSONObject(parsing: text)), history: [theirs])
        }
        #expect(try store.read { try $0.currentRevisions(ofDocument: id) }.map(\.body.text) == [text, text])
        try store.write { try $0.resolveConflicts(for: id) { _, leaves in leaves.last } }
        #expect(try store.document(withID: id).revisionID == theirs)
        #expect(try stored(id, store) == text)
        #expect(try store.read { try $0.document(withID: id, revisionID: mine.revisionID) }.body.text == text)
        try store.write { try $0.setLocalDocument(JSONObject(parsing: text), withID: id) }
        #expect(try store.read { try $0.localDocument(withID: id) }?.text == text)
      }
    }
  }

  /// Both numbers are equal as queries compare, and are two contents.
  @Test(arguments: [("12345678901234567890", "12345678901234567891"), ("0.1000000000000000055", "0.100")])
  func `a resolver that changes only digits beyond a double changes the document`(
    _ old: String, _ new: String
  )
    throws
  {
    try withTemporaryDatastore { store in
      try store.createDocument(from: DocumentDraft(id: "a", body: JSONObject(parsing: "{\"n\":\(old)}")))
      let theirs = try #require(RevisionID("1-" + String(repeating: "0", count: 32)))
      try store.write {
        try $0.forceInsert(DocumentRevision(id: "a", revisionID: theirs, body: [:]), history: [theirs])
      }
      try store.write {
        try $0.resolveConflicts(for: "a") { _, leaves in
          var decision = leaves[0]
          decision.body = try JSONObject(parsing: "{\"n\":\(new)}")
          return decision
        }
      }
      #expect(try stored("a", store) == "{\"n\":\(new)}")
      #expect(try store.document(withID: "a").revisionID.generation == 2)
    }
  }

  @Test func `recovery stores the bytes that were there`() throws {
    try withStore { manager, store, texts in
      for (id, text) in texts {
        try store.write { try $0.setLocalDocument(JSONObject(parsing: text), withID: id) }
      }
      for id in texts.keys.prefix(20) {
        try store.updateDocument(withID: id) { $0.body["more"] = try JSONValue(parsing: "2.50") }
      }
      let whole = try store.read { try $0.allDocuments() }.map { try stored($0.id, store) }
      try manager.closeDatastore(named: "store")
      let saved = try manager.datastore(named: "saved")
      let report = try saved.recoverDocuments(from: "\(manager.directory)/store")
      #expect(report.losses == [] && report.documents == texts.count)
      let after = try saved.read { try $0.allDocuments() }.map { try stored($0.id, saved) }
      #expect(after == whole)
      for (id, text) in texts { #expect(try saved.read { try $0.localDocument(withID: id) }?.text == text) }
    }
  }
}
