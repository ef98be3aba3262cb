import CDTDatastore
import Testing

/// The ids that CDTDatastore gives the same edits.
@Suite struct KnownRevisionTests {
  @Test func `known edits give known ids`() throws {
    try withTemporaryDatastore { store in
      var document = try store.createDocument(from: DocumentRevision(id: "a", body: ["hello": "world"]))
      #expect(document.revision?.description == "1-1f7588ca02054efe626a6e440a431861")
      document.body = ["hi": "mike"]
      #expect(
        try store.updateDocument(from: document).revision?.description == "2-be2c05cd85b8468ce92b04e001b0e923"
      )
      let empty = try store.createDocument(from: DocumentRevision(id: "b", body: [:]))
      #expect(empty.revision?.description == "1-c4103f122d27677c9db144cae1394a66")
      let other = try store.createDocument(from: DocumentRevision(id: "c", body: ["hello": "world"]))
      let deleted = try store.deleteDocument(from: other)
      #expect(deleted.revision?.description == "2-1903c663d301c3170ad524f008c9a517")
    }
  }
}
