import CDTJSON
import CDTTestSupport
import CloudantSync
import Foundation
import Testing

/// The cookbook of CDTDatastore's guide to documents, case by case, and the changes that its migration guide tells of, in
/// this package's API.
@Suite struct CookbookTests {

  private static let picture = Data("a cute cat".utf8)

  private static func attachment(_ name: String, _ text: String = "content") -> DocumentAttachment {
    DocumentAttachment(data: Data(text.utf8), name: name, contentType: "text/plain")
  }

  /// Runs `body` with an empty store, another one, and the path of a picture.
  private func withStores(
    _ body: (_ store: Datastore, _ other: Datastore, _ file: String) throws -> Void
  ) throws {
    try withTemporaryDirectory { directory in
      let manager = try DatastoreManager(directory: "\(directory)/stores")
      let file = "\(directory)/image.jpg"
      try Self.picture.write(to: URL(filePath: file))
      try body(try manager.datastore(named: "store"), try manager.datastore(named: "other"), file)
      for name in ["store", "other"] { try manager.closeDatastore(named: name) }
    }
  }

  /// Runs `body` with a document of a body and no attachments, and an attachment ready to be added.
  private func withPlain(
    _ body: (_ store: Datastore, _ saved: DocumentRevision, _ cat: DocumentAttachment) throws -> Void
  ) throws {
    try withStores { store, _, file in
      let saved = try store.createDocument(from: DocumentDraft(id: "doc1", body: ["a": 1]))
      try body(store, saved, DocumentAttachment(file: file, name: "cute_cat.jpg", contentType: "image/jpeg"))
    }
  }

  /// Runs `body` with a document of a body and three attachments.
  private func withAttachments(
    _ body: (_ store: Datastore, _ saved: DocumentRevision, _ other: Datastore) throws -> Void
  ) throws {
    try withStores { store, other, file in
      let attachments: Attachments = [
        DocumentAttachment(file: file, name: "one", contentType: "image/jpeg"), Self.attachment("two"),
        Self.attachment("three", ""),
      ]
      let saved = try store.createDocument(
        from: DocumentDraft(id: "doc1", body: ["a": 1], attachments: attachments))
      try body(store, saved, other)
    }
  }

  /// What holds after any save: what was given back is what is read, with attachments that can be read too.
  private func check(_ saved: DocumentRevision, generation: Int, in store: Datastore) throws {
    #expect(saved.revisionID.generation == generation)
    let read = try store.document(withID: saved.id)
    #expect(read == saved)
    for attachment in read.attachments {
      #expect(try attachment.data().count == Int(attachment.length ?? -1))
    }
    #expect(try store.checkIntegrity() == [])
  }

  // MARK: Creating a new document

  @Test func `creating 1: a body, but no attachments or id`() throws {
    try withStores { store, _, _ in
      let saved = try store.createDocument(from: DocumentDraft(body: ["a": 1]))
      #expect(saved.id.isEmpty == false)
      #expect(saved.body == ["a": 1] && saved.attachments.isEmpty)
      try check(saved, generation: 1, in: store)
      let another = try store.createDocument(from: DocumentDraft(body: ["a": 1]))
      #expect(another.id != saved.id)
    }
  }

  @Test func `creating 2: a body and an id, but no attachments`() throws {
    try withStores { store, _, _ in
      let saved = try store.createDocument(from: DocumentDraft(id: "doc1", body: ["a": 1]))
      #expect(saved.id == "doc1" && saved.body == ["a": 1] && saved.attachments.isEmpty)
      try check(saved, generation: 1, in: store)
    }
  }

  @Test func `creating 3: a body, an id and attachments`() throws {
    try withStores { store, _, file in
      var revision = DocumentDraft(id: "doc1", body: ["a": 1])
      let picture = DocumentAttachment(file: file, name: "filename", contentType: "image/jpeg")
      revision.attachments = [picture.name: picture]
      let saved = try store.createDocument(from: revision)
      #expect(try saved.attachments["filename"]?.data() == Self.picture)
      #expect(saved.attachments["filename"]?.contentType == "image/jpeg")
      try check(saved, generation: 1, in: store)
    }
  }

  @Test func `creating 4: a body and attachments, but no id`() throws {
    try withStores { store, _, file in
      let picture = DocumentAttachment(file: file, name: "filename", contentType: "image/jpeg")
      let saved = try store.createDocument(from: DocumentDraft(body: ["a": 1], attachments: [picture]))
      #expect(saved.id.isEmpty == false)
      #expect(try saved.attachments["filename"]?.data() == Self.picture)
      try check(saved, generation: 1, in: store)
    }
  }

  /// A draft has a body, so only the old type can go without.
  @available(*, deprecated) @Test func `creating 5: not without a body`() throws {
    try withStores { store, _, _ in
      var revision = CDTDocumentRevision(docId: "doc1")
      revision.attachments = [Self.attachment("a")]
      #expect(datastoreError { try store.createDocumentFromRevision(revision) }?.code == .missingBody)
      let sequence = try store.read { try $0.lastSequence() }
      #expect(sequence == 0)
    }
  }

  // MARK: Updating a document without attachments

  @Test func `updating 1: body for a document without attachments, keeping none`() throws {
    try withPlain { store, revision, _ in
      var saved = revision
      saved.body = ["b": 2]
      let updated = try store.updateDocument(from: saved)
      #expect(updated.body == ["b": 2] && updated.attachments.isEmpty)
      try check(updated, generation: 2, in: store)
    }
  }

  @Test func `updating 2: body for a document without attachments, adding attachments`() throws {
    try withPlain { store, revision, cat in
      var saved = revision
      saved.body["hello"] = "world"
      saved.attachments[cat.name] = cat
      let updated = try store.updateDocument(from: saved)
      #expect(updated.body == ["a": 1, "hello": "world"])
      #expect(try updated.attachments["cute_cat.jpg"]?.data() == Self.picture)
      #expect(updated.attachments["cute_cat.jpg"]?.generation == 2)
      try check(updated, generation: 2, in: store)
    }
  }

  @Test func `updating 3: body for a document without attachments, removing all attachments`() throws {
    try withPlain { store, revision, _ in
      var saved = revision
      saved.body["hello"] = "world"
      saved.attachments = []
      let updated = try store.updateDocument(from: saved)
      #expect(updated.body == ["a": 1, "hello": "world"] && updated.attachments.isEmpty)
      try check(updated, generation: 2, in: store)
    }
  }

  @Test func `updating 4: attachments without the body, for a document that had none`() throws {
    try withPlain { store, revision, cat in
      var saved = revision
      saved.attachments[cat.name] = cat
      let updated = try store.updateDocument(from: saved)
      #expect(updated.body == revision.body && updated.attachments.names == ["cute_cat.jpg"])
      try check(updated, generation: 2, in: store)
    }
  }

  @Test func `updating 5: attachments by copying from another revision`() throws {
    try withPlain { store, revision, cat in
      try store.createDocument(
        from: DocumentDraft(id: "anotherId", body: [:], attachments: [cat, Self.attachment("x")]))
      var saved = revision
      saved.attachments = try store.document(withID: "anotherId").attachments
      let updated = try store.updateDocument(from: saved)
      #expect(updated.attachments.names == ["cute_cat.jpg", "x"])
      #expect(try updated.attachments["cute_cat.jpg"]?.data() == Self.picture)
      try check(updated, generation: 2, in: store)
    }
  }

  @Test func `updating 6: an outdated revision is a conflict`() throws {
    try withPlain { store, revision, cat in
      var saved = revision
      saved.body = ["b": 2]
      let updated = try store.updateDocument(from: saved)
      saved.body = ["c": 3]
      saved.attachments = [cat]
      #expect(datastoreError { try store.updateDocument(from: saved) }?.code == .conflict)
      try check(updated, generation: 2, in: store)
    }
  }

  // MARK: Updating a document with attachments

  @Test func `updating with attachments 1: body without changing attachments`() throws {
    try withAttachments { store, revision, _ in
      var saved = revision
      saved.body["hello"] = "world"
      let updated = try store.updateDocument(from: saved)
      #expect(updated.attachments == revision.attachments)
      #expect(updated.attachments.map(\.generation) == [1, 1, 1])
      try check(updated, generation: 2, in: store)
    }
  }

  @Test func `updating with attachments 2: removing attachments without changing the body`() throws {
    try withAttachments { store, revision, _ in
      var saved = revision
      saved.attachments.removeValue(forKey: "one")
      saved.attachments["two"] = nil
      let updated = try store.updateDocument(from: saved)
      #expect(updated.body == revision.body && updated.attachments.names == ["three"])
      try check(updated, generation: 2, in: store)
    }
  }

  @Test func `updating with attachments 3: adding and replacing attachments without changing the body`()
    throws
  {
    try withAttachments { store, revision, _ in
      var saved = revision
      saved.attachments["hundred"] = Self.attachment("hundred")
      saved.attachments["two"] = Self.attachment("two", "other content")
      let updated = try store.updateDocument(from: saved)
      #expect(updated.body == revision.body)
      #expect(updated.attachments.names == ["hundred", "one", "three", "two"])
      #expect(updated.attachments.map(\.generation) == [2, 1, 1, 2])
      #expect(try updated.attachments["two"]?.data() == Data("other content".utf8))
      try check(updated, generation: 2, in: store)
    }
  }

  @Test func `updating with attachments 4: removing all of them at once`() throws {
    try withAttachments { store, revision, _ in
      var saved = revision
      saved.attachments = Attachments()
      let updated = try store.updateDocument(from: saved)
      #expect(updated.body == revision.body && updated.attachments.isEmpty)
      try check(updated, generation: 2, in: store)
    }
  }

  @Test func `updating with attachments 5: removing all of them by an empty literal`() throws {
    try withAttachments { store, revision, _ in
      for empty in [[], [:]] as [Attachments] {
        var saved = try store.document(withID: "doc1")
        saved.attachments = empty
        let updated = try store.updateDocument(from: saved)
        #expect(updated.body == revision.body && updated.attachments.isEmpty)
      }
      #expect(try store.document(withID: "doc1").revisionID.generation == 3)
    }
  }

  @Test func `updating with attachments 6: copying an attachment from one document to another`() throws {
    try withAttachments { store, revision, _ in
      let other = try store.createDocument(
        from: DocumentDraft(id: "doc2", body: ["a": 1], attachments: [Self.attachment("nameOfAttachment")])
      )
      var saved = revision
      let taken = try #require(other.attachments["nameOfAttachment"])
      saved.attachments = [taken.name: taken]
      let updated = try store.updateDocument(from: saved)
      #expect(updated.attachments.names == ["nameOfAttachment"])
      #expect(updated.attachments["nameOfAttachment"]?.generation == 2)
      try check(updated, generation: 2, in: store)
      #expect(try store.document(withID: "doc2") == other)
    }
  }

  // MARK: Creating a document by copying data

  @Test func `copying 1: a document with attachments, adding or changing one attachment`() throws {
    try withAttachments { store, saved, _ in
      var revision = DocumentDraft(id: "doc2", body: saved.body, attachments: saved.attachments)
      revision.body["hello"] = "world"
      revision.attachments["hundred"] = Self.attachment("hundred")
      revision.attachments["two"] = Self.attachment("two", "changed")
      let copy = try store.createDocument(from: revision)
      #expect(copy.body == ["a": 1, "hello": "world"])
      #expect(copy.attachments.names == ["hundred", "one", "three", "two"])
      #expect(try copy.attachments["two"]?.data() == Data("changed".utf8))
      try check(copy, generation: 1, in: store)
      try check(saved, generation: 1, in: store)
    }
  }

  @Test func `copying 2: a document's body, adding or changing a value, without its attachments`() throws {
    try withAttachments { store, saved, _ in
      var revision = DocumentDraft(id: "doc2", body: saved.body)
      revision.body["hello"] = "world"
      let copy = try store.createDocument(from: revision)
      #expect(copy.body == ["a": 1, "hello": "world"] && copy.attachments.isEmpty)
      try check(copy, generation: 1, in: store)
    }
  }

  @Test func `copying 3: an id that is taken is a conflict, and none in another datastore`() throws {
    try withAttachments { store, saved, other in
      let draft = DocumentDraft(id: "doc1", body: ["hello": "world"], attachments: saved.attachments)
      #expect(datastoreError { try store.createDocument(from: draft) }?.code == .conflict)
      try check(saved, generation: 1, in: store)
      let copy = try other.createDocument(from: draft)
      #expect(try copy.attachments["one"]?.data() == Self.picture)
      try check(copy, generation: 1, in: other)
    }
  }

  // MARK: Deleting a document

  @Test func `deleting 1: a given revision, if it is a leaf`() throws {
    try withAttachments { store, saved, _ in
      var changed = saved
      changed.body["b"] = 2
      let updated = try store.updateDocument(from: changed)
      #expect(datastoreError { try store.deleteDocument(from: saved) }?.code == .conflict)
      let tombstone = try store.deleteDocument(from: updated)
      #expect(tombstone.isDeleted && tombstone.revisionID.generation == 3)
      #expect(datastoreError { try store.document(withID: "doc1") }?.code == .notFound)
      #expect(try store.read { try $0.revisionHistory(of: tombstone) }.count == 3)
    }
  }

  @Test func `deleting 2: a document in its entirety, every leaf of it`() throws {
    try withAttachments { store, saved, _ in
      let rival = DocumentRevision(
        id: "doc1", revisionID: try #require(RevisionID("1-z")), body: ["rival": true])
      try store.write { try $0.forceInsert(rival) }
      #expect(try store.read { try $0.conflictedDocumentIDs() } == ["doc1"])
      let tombstones = try store.deleteDocument(withID: "doc1")
      #expect(tombstones.map(\.revisionID.generation) == [2, 2])
      #expect(
        try store.read { try $0.conflictedDocumentIDs() } == [] && store.read { try $0.documentCount() } == 0)
      #expect(datastoreError { try store.document(withID: saved.id) }?.code == .notFound)
    }
  }

  // MARK: The migration guide, 0.17.1 to 0.18.0: revisions that can be changed

  @Test func `migrating to 0.18, creating: what is given back is another revision than what was saved`()
    throws
  {
    try withStores { store, _, _ in
      let draft = DocumentDraft(id: "docId", body: ["key": "value"])
      let saved = try store.createDocument(from: draft)
      #expect(saved.revisionID.generation == 1)
    }
  }

  @Test func `migrating to 0.18, updating: the revision that was read is changed and saved`() throws {
    try withPlain { store, revision, _ in
      var saved = revision
      saved.body["newKey"] = "newValue"
      let updated = try store.updateDocument(from: saved)
      #expect(updated.body == ["a": 1, "newKey": "newValue"])
    }
  }

  @Test func `migrating to 0.18, copying: changing a copy leaves the original`() throws {
    try withPlain { _, revision, cat in
      var copy = revision
      copy.body["a"] = 2
      copy.attachments = [cat]
      #expect(revision.body == ["a": 1] && revision.attachments.isEmpty)
    }
  }

  @Test func `migrating to 0.18, deleting: with a revision that is there`() throws {
    try withPlain { store, revision, _ in
      try store.deleteDocument(from: revision)
      #expect(try store.read { try $0.documentCount() } == 0)
    }
  }

  // MARK: The migration guide, 0.7 to 0.8: body and attachments in one revision

  @Test func `migrating to 0.8, creating: the revision has body and id itself`() throws {
    try withStores { store, _, _ in
      var draft = DocumentDraft(body: ["key": "value"])
      draft.id = "docID"
      let saved = try store.createDocument(from: draft)
      #expect(saved.id == "docID" && saved.body == ["key": "value"])
    }
  }

  @Test func `migrating to 0.8, updating: the revision tells id and parent`() throws {
    try withPlain { store, revision, _ in
      var saved = revision
      saved.body["newKey"] = "newValue"
      let updated = try store.updateDocument(from: saved)
      let history = try store.read { try $0.revisionHistory(of: updated) }
      #expect(history.map(\.revisionID) == [updated.revisionID, revision.revisionID])
    }
  }

  @Test func `migrating to 0.8, deleting: gives the tombstone`() throws {
    try withPlain { store, revision, _ in
      let deleted = try store.deleteDocument(from: revision)
      #expect(deleted.isDeleted && deleted.id == "doc1" && deleted.revisionID.generation == 2)
    }
  }

  @Test func `migrating to 0.8, adding attachments: in the same revision as the body`() throws {
    try withStores { store, _, _ in
      let picture = DocumentAttachment(data: Self.picture, name: "picture", contentType: "image/jpg")
      var revision = DocumentDraft(body: ["aKey": "aValue"])
      revision.attachments = [picture.name: picture]
      let saved = try store.createDocument(from: revision)
      #expect(saved.revisionID.generation == 1)
      #expect(try saved.attachments["picture"]?.data() == Self.picture)
    }
  }

  @Test func `migrating to 0.8, removing attachments: together with a change of the body`() throws {
    try withAttachments { store, revision, _ in
      var saved = revision
      saved.attachments.removeValue(forKey: "one")
      saved.body["b"] = 2
      let updated = try store.updateDocument(from: saved)
      #expect(updated.revisionID.generation == 2)
      #expect(updated.body == ["a": 1, "b": 2] && updated.attachments.names == ["three", "two"])
    }
  }
}
