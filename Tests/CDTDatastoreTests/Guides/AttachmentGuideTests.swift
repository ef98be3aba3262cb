import CDTDatastore
import CDTJSON
import CDTTestSupport
import Foundation
import Testing

/// The examples of `docs/attachments.md`, each as it stands there.
@Suite struct AttachmentGuideTests {
  @Test func attachments() throws {
    try withTemporaryDirectory { path in
      try "notes".write(toFile: "\(path)/notes.txt", atomically: true, encoding: .utf8)
      let manager = try DatastoreManager(directory: "\(path)/stores")
      let (store, elsewhere) = (try manager.datastore(named: "store"), try manager.datastore(named: "other"))
      let (picture, other) = (Data("miau".utf8), Data("purr".utf8))

      let cat = DocumentAttachment(data: picture, name: "cat.jpg", contentType: "image/jpeg")
      let notes = DocumentAttachment(file: "\(path)/notes.txt", name: "notes.txt", contentType: "text/plain")
      var document = try store.createDocument(
        from: DocumentDraft(id: "pets", body: ["n": 2], attachments: [cat, notes]))
      #expect(document.attachments.count == 2)

      let found = try store.document(withID: "pets").attachments["cat.jpg"]
      let data = try found?.data()
      #expect(found?.contentType == "image/jpeg" && found?.length == 4)
      #expect(data == picture)

      var count = 0
      try found?.forEachChunk { bytes in count += bytes.count }
      try found?.write(toFile: "\(path)/copy.jpg")
      #expect(count == 4)
      #expect(FileManager.default.contents(atPath: "\(path)/copy.jpg") == picture)

      let purring = DocumentAttachment(data: other, name: "cat.jpg", contentType: "image/jpeg")
      document.attachments["cat.jpg"] = purring  // replaced
      document.attachments["notes.txt"] = nil  // removed
      document = try store.updateDocument(from: document)
      #expect(document.attachments.names == ["cat.jpg"])
      #expect(document.attachments["cat.jpg"]?.generation == 2)
      document.attachments = []  // all removed

      let source = try store.document(withID: "pets")
      try store.createDocument(from: DocumentDraft(id: "more", body: [:], attachments: source.attachments))
      var target = try elsewhere.createDocument(from: DocumentDraft(id: "pets", body: [:]))
      target.attachments["cat.jpg"] = source.attachments["cat.jpg"]
      target = try elsewhere.updateDocument(from: target)
      #expect(try target.attachments["cat.jpg"]?.data() == other)
    }
  }

  @Test func `every example of the page is code of this file`() throws {
    try expectExamples(of: "attachments.md", in: #filePath, atLeast: 5)
  }
}
