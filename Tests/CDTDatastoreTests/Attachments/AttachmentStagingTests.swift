import CDTDatastore
import CDTTestSupport
import FoundationEssentials
import Testing

/// What is left of attachments that could not be saved.
@Suite struct AttachmentStagingTests {
  @Test func `a source that can't be read leaves no file`() throws {
    try withTemporaryDirectory { directory in
      let manager = try DatastoreManager(directory: "\(directory)/stores")
      let store = try manager.datastore(named: "store")
      // A directory can be opened, and not be read.
      for source in ["\(directory)/missing", directory] {
        var revision = DocumentDraft(id: "a", body: [:])
        revision.attachments["x"] = .init(file: source, name: "x", contentType: "a/b")
        #expect(datastoreError { try store.createDocument(from: revision) }?.code == .invalidAttachment)
      }
      let files = try FileManager.default.contentsOfDirectory(atPath: "\(directory)/stores/store/attachments")
      #expect(files == [])
      try manager.closeDatastore(named: "store")
    }
  }
}
