import CDTDatastore
import CDTImport
import CDTJSON
import Foundation
import Testing

/// The ids that CDTDatastore gives the same edits.
@Suite struct KnownRevisionTests {
  @Test func `known edits give known ids`() throws {
    try withTemporaryDatastore { store in
      var document = try store.createDocument(from: DocumentDraft(id: "a", body: ["hello": "world"]))
      #expect(document.revisionID.description == "1-1f7588ca02054efe626a6e440a431861")
      document.body = ["hi": "mike"]
      #expect(
        try store.updateDocument(from: document).revisionID.description
          == "2-be2c05cd85b8468ce92b04e001b0e923"
      )
      let empty = try store.createDocument(from: DocumentDraft(id: "b", body: [:]))
      #expect(empty.revisionID.description == "1-c4103f122d27677c9db144cae1394a66")
      let other = try store.createDocument(from: DocumentDraft(id: "c", body: ["hello": "world"]))
      let deleted = try store.deleteDocument(from: other)
      #expect(deleted.revisionID.description == "2-1903c663d301c3170ad524f008c9a517")
    }
  }

  @Test(arguments: [
    ["0", "-0", "0.0", "-0.0"], ["1000000000000000000", "1e18", "1E+18"], ["-7", "-7.0", "-70e-1"],
  ])
  func `numbers that are equal give equal ids, and are stored as they were written`(_ spellings: [String])
    throws
  {
    try withTemporaryDatastore { store in
      var found: Set<RevisionID?> = []
      for (number, spelling) in spellings.enumerated() {
        let text = #"{"n":\#(spelling)}"#
        let body = try JSONObject(parsing: text)
        let created = try store.createDocument(from: DocumentDraft(id: "\(number)", body: body))
        found.insert(created.revisionID)
        // Read from text, with no value made of it.
        let file = "\(store.directory)/\(number).jsonl"
        try #"{"_id":"text\#(number)","n":\#(spelling)}"#.write(
          toFile: file, atomically: true, encoding: .utf8)
        let importer = DocumentImporter(into: store)
        _ = try importer.run([file])
        found.insert(try store.document(withID: "text\(number)").revisionID)
        #expect(
          String(decoding: try store.read { try $0.documentText(withID: "text\(number)") }, as: UTF8.self)
            .hasSuffix(
              #","n":\#(spelling)}"#))
      }
      #expect(found.count == 1)
    }
  }

  @Test func `an id that an earlier version gave is kept and not reported`() throws {
    try withTemporaryDatastore { store in
      let id = try #require(RevisionID("1-2c0f6d5ba1dc1bd2ea5fdc2a4e9e5a11"))
      try store.write {
        try $0.forceInsert(
          DocumentRevision(id: "a", revisionID: id, body: try JSONObject(parsing: #"{"n":-0}"#)))
      }
      #expect(try store.checkIntegrity() == [])
      var document = try store.document(withID: "a")
      #expect(document.revisionID == id)
      document.body["m"] = 1
      #expect(try store.updateDocument(from: document).revisionID.generation == 2)
      #expect(try store.checkIntegrity() == [])
    }
  }
}
