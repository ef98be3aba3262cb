import CDTTestSupport
import CloudantSync
import Foundation
import Testing

/// The Swift snippets of CDTDatastore's guide to documents, in its own names.
///
/// They stand as they are there, but for `var` where a revision is changed, `Data` for `NSData`, a body for `[....]`, a `try`
/// that the guide forgot, and a revision that it mistook for another.
@Suite struct SeedTests {
  // The tests are deprecated themselves, so that using what is deprecated is no warning.

  /// What the snippets take for granted: two stores, and an image.
  struct World {
    let directory: String
    let manager: DatastoreManager
    let datastore: Datastore
    let other_datastore: Datastore
    let image: String
    let bytes = Data("a cute cat".utf8)
  }

  private func with(_ body: (World) throws -> Void) throws {
    let directory = try temporaryDirectory()
    defer { removeDirectory(directory) }
    let manager = try DatastoreManager(directory: "\(directory)/stores")
    let world = World(
      directory: directory, manager: manager, datastore: try manager.datastore(named: "my_datastore"),
      other_datastore: try manager.datastore(named: "other_datastore"), image: "\(directory)/image.jpg")
    try world.bytes.write(to: URL(filePath: world.image))
    try body(world)
  }

  private func code(_ body: () throws -> Void) -> DatastoreError.Code? {
    do {
      try body()
      return nil
    } catch {
      return (error as? DatastoreError)?.code
    }
  }

  // MARK: Managers

  @available(*, deprecated) @Test func `creating a manager`() throws {
    try with { world in
      do {
        let storeURL = URL(filePath: world.directory).appendingPathComponent("cloudant-sync-datastore")
        let path = storeURL.path
        let manager = try CDTDatastoreManager(directory: path)
        #expect(manager.directory == path)
      } catch {
        Issue.record(error)
      }
    }
  }

  @available(*, deprecated) @Test func `creating, closing and deleting datastores`() throws {
    try with { world in
      let manager: CDTDatastoreManager = world.manager

      let ds = try manager.datastoreNamed("my_datastore")
      let ds2 = try manager.datastoreNamed("other_datastore")

      #expect(ds === world.datastore && ds2 === world.other_datastore)
      #expect(manager.allDatastores() == ["my_datastore", "other_datastore"])

      manager.closeDatastoreNamed("my_datastore");

      #expect(code { _ = try ds.read { try $0.documentCount() } } == .closed)

      try manager.deleteDatastoreNamed("my_datastore")

      #expect(manager.allDatastores() == ["other_datastore"])
    }
  }

  // MARK: Document CRUD APIs

  @available(*, deprecated) @Test func `create, retrieve, update, delete`() throws {
    try with { world in
      let manager = world.manager

      let datastore = try manager.datastoreName("my_datastore")
      var rev = CDTDocumentRevision(docId: "doc1")
      rev.body = [
        "description": "Buy Milk",
        "completed": false,
        "type": "com.cloudant.sync.example.task",
      ]
      let revision = try datastore.createDocumentFromRevision(rev)

      #expect(revision.revId?.hasPrefix("1-") == true)

      let docId = try #require(revision.docId)
      let retrieved = try datastore.getDocumentWithId(docId)

      #expect(retrieved == revision)

      retrieved.body["completed"] = true
      let updated = try datastore.updateDocumentFromRevision(retrieved)

      #expect(updated.body["completed"] as? Bool == true && updated.revId?.hasPrefix("2-") == true)

      let documentRevisions = datastore.getAllDocuments()

      #expect(documentRevisions == [updated])

      try datastore.deleteDocumentFromRevision(updated)

      #expect(datastore.getAllDocuments() == [])
    }
  }

  // MARK: Using attachments

  @available(*, deprecated) @Test func `adding an attachment`() throws {
    try with { world in
      let datastore = world.datastore
      do {
        // Create a new document
        var rev = CDTDocumentRevision()

        rev.body = ["a": 1]

        let att1 = CDTUnsavedFileAttachment(
          path: world.image,
          name: "cute_cat.jpg",
          type: "image/jpeg")

        // As with the document body, you can replace all the attachments:
        rev.attachments = [att1.name: att1]
        // or just add or update a single one:
        rev.attachments[att1.name] = att1

        let saved = try datastore.createDocumentFromRevision(rev)

        #expect(saved.attachments.names == ["cute_cat.jpg"])
      }
    }
  }

  @available(*, deprecated) @Test func `attachments of a file and of data`() throws {
    try with { world in
      let datastore = world.datastore

      let att1 = CDTUnsavedFileAttachment(
        path: world.image,
        name: "cute_cat.jpg",
        type: "image/jpeg")

      let imageData = try Data(contentsOf: URL(filePath: world.image))
      let att2 = CDTUnsavedDataAttachment(
        data: imageData,
        name: "cute_cat.jpg",
        type: "image/jpeg")

      var rev = CDTDocumentRevision()
      rev.attachments = [att1.name: att1, att2.name: att2]
      rev.body = [:]
      let saved = try datastore.createDocumentFromRevision(rev)

      #expect(saved.attachments.count == 1)
    }
  }

  @available(*, deprecated) @Test func `reading and removing an attachment`() throws {
    try with { world in
      let datastore = world.datastore
      var rev = CDTDocumentRevision("mydoc")
      rev.body = [:]
      rev.attachments = [
        CDTUnsavedDataAttachment(data: world.bytes, name: "cute_cat.jpg", type: "image/jpeg"),
        CDTUnsavedDataAttachment(data: world.bytes, name: "dog.jpg", type: "image/jpeg"),
      ]
      try datastore.createDocumentFromRevision(rev)
      do {
        let retrieved = try datastore.getDocumentWithId("mydoc")
        let att = retrieved.attachments["cute_cat.jpg"]
        let imageData = att.dataFromAttachmentContent

        #expect(imageData == world.bytes)
        let saved: CDTSavedAttachment = try #require(att)
        #expect(saved.dataFromAttachmentContent() == world.bytes)
      }
      var update: CDTDocumentRevision
      do {
        var retrieved = try datastore.getDocumentWithId("mydoc")
        retrieved.attachments.removeValueForKey("cute_cat.jpg")
        let updated = try datastore.updateDocumentFromRevision(retrieved)

        #expect(updated.attachments.names == ["dog.jpg"])
        update = updated
      }

      update.attachments = nil

      #expect(try datastore.updateDocumentFromRevision(update).attachments.isEmpty)
    }
  }

  // MARK: Cookbook: creating a new document

  @available(*, deprecated) @Test func `creating 1: a body, no id`() throws {
    try with { world in
      let datastore = world.datastore

      var rev = CDTDocumentRevision()
      rev.body = ["a": 1]
      let saved = try datastore.createDocumentFromRevision(rev)

      #expect(saved.docId?.isEmpty == false)
    }
  }

  @available(*, deprecated) @Test func `creating 2: a body and an id`() throws {
    try with { world in
      let datastore = world.datastore

      var rev = CDTDocumentRevision("doc1")
      rev.body = ["a": 1]
      let saved = try datastore.createDocumentFromRevision(rev)

      #expect(saved.docId == "doc1")
    }
  }

  @available(*, deprecated) @Test func `creating 3 and 4: attachments, with and without an id`() throws {
    try with { world in
      let datastore = world.datastore
      do {
        var rev = CDTDocumentRevision("doc1")
        rev.body = ["a": 1]

        let att1 = CDTUnsavedFileAttachment(
          path: world.image,
          name: "filename",
          type: "image/jpeg")
        rev.attachments = [att1.name: att1]

        let saved = try datastore.createDocumentFromRevision(rev)
        #expect(saved.docId == "doc1" && saved.attachments.count == 1)
      }
      do {
        var rev = CDTDocumentRevision()
        rev.body = ["a": 1]

        let att1 = CDTUnsavedFileAttachment(
          path: world.image,
          name: "filename",
          type: "image/jpeg")
        rev.attachments = [att1.name: att1]

        let saved = try datastore.createDocumentFromRevision(rev)
        #expect(saved.docId != "doc1" && saved.attachments.count == 1)
      }
    }
  }

  @available(*, deprecated) @Test func `creating 5: not without a body`() throws {
    try with { world in
      let datastore = world.datastore
      let code = code {
        let rev = CDTDocumentRevision("doc1")
        let saved = try datastore.createDocumentFromRevision(rev)
        // failed error has been thrown
        Issue.record("\(saved)")
      }
      #expect(code == .missingBody)
    }
  }

  // MARK: Cookbook: updating a document without attachments

  @available(*, deprecated) private func withSaved(
    _ body: (_ datastore: Datastore, _ saved: CDTDocumentRevision, _ att1: DocumentAttachment) throws -> Void
  ) throws {
    try with { world in
      let saved = try world.datastore.createDocument(from: DocumentDraft(id: "doc1", body: ["a": 1]))
      try body(
        world.datastore, CDTDocumentRevision(saved),
        DocumentAttachment(file: world.image, name: "cute_cat.jpg", contentType: "image/jpeg"))
    }
  }

  @available(*, deprecated) @Test func `updating 1: the body`() throws {
    try withSaved { datastore, revision, _ in
      var saved = revision
      saved.body = ["b": 2]
      let updated = try datastore.updateDocumentForRevision(saved)
      #expect(updated.body == ["b": 2])
    }
  }

  @available(*, deprecated) @Test func `updating 2: the body, adding attachments`() throws {
    try withSaved { datastore, revision, att1 in
      var saved = revision
      saved.body["hello"] = "world"
      saved.attachments[att1.name] = att1

      let updated = try datastore.updateDocumentForRevision(saved)
      #expect(updated.body == ["a": 1, "hello": "world"] && updated.attachments.count == 1)
    }
  }

  @available(*, deprecated) @Test func `updating 3: the body, removing the attachments dictionary`() throws {
    try withSaved { datastore, revision, _ in
      var saved = revision
      saved.body["hello"] = "world"
      saved.attachments = nil

      let updated = try datastore.updateDocumentFromRevision(saved)
      #expect(updated.attachments.isEmpty)
    }
  }

  @available(*, deprecated) @Test func `updating 4: attachments alone`() throws {
    try withSaved { datastore, revision, att1 in
      var saved = revision
      saved.attachments[att1.name] = att1

      let updated = try datastore.updateDocumentFromRevision(saved)
      #expect(updated.body == revision.body && updated.attachments.count == 1)
    }
  }

  @available(*, deprecated) @Test func `updating 5: attachments of another revision`() throws {
    try withSaved { datastore, revision, att1 in
      try datastore.createDocument(from: DocumentDraft(id: "anotherId", body: [:], attachments: [att1]))
      var saved = revision

      let anotherDoc = datastore.getDocumentForId("anotherId")
      saved.attachments = anotherDoc.attachments

      let updated = try datastore.updateDocumentFromRevision(saved)
      #expect(updated.attachments.names == ["cute_cat.jpg"])
      #expect(datastore.getDocumentForId("nothing").attachments.isEmpty)
    }
  }

  @available(*, deprecated) @Test func `updating 6: an outdated revision is a conflict`() throws {
    try withSaved { datastore, revision, _ in
      var saved = revision
      saved.body = ["b": 2]
      try datastore.updateDocumentFromRevision(saved)

      let code = code {
        // Note this is the old revision!
        saved.body = ["c": 3]
        let updated = try datastore.updateDocumentFromRevision(saved)
        Issue.record("\(updated)")
      }
      #expect(code == .conflict)
    }
  }

  // MARK: Cookbook: updating a document with attachments

  @available(*, deprecated)
  private func withThree(_ body: (_ world: World, _ saved: CDTDocumentRevision) throws -> Void) throws {
    try with { world in
      let datastore = world.datastore

      var rev = CDTDocumentRevision("doc1")
      rev.body = ["a": 1]
      let att1 = CDTUnsavedFileAttachment(path: world.image, name: "att1", type: "image/jpeg")
      let att2 = CDTUnsavedDataAttachment(data: world.bytes, name: "att2", type: "image/jpeg")
      let att3 = CDTUnsavedDataAttachment(data: Data(), name: "att3", type: "image/jpeg")
      rev.attachments = [att1.name: att1, att2.name: att2, att3.name: att3]

      let saved = try datastore.createDocumentFromRevision(rev)
      try body(world, saved)
    }
  }

  @available(*, deprecated) @Test func `updating with attachments 1: the body alone`() throws {
    try withThree { world, revision in
      let datastore = world.datastore
      let saved = revision
      saved.body["hello"] = "world"

      let updated = try datastore.updateDocumentFromRevision(saved)

      // Should have the same attachments
      #expect(updated.attachments == revision.attachments)
    }
  }

  @available(*, deprecated) @Test func `updating with attachments 2 and 3: removing one, adding one`() throws
  {
    try withThree { world, revision in
      let datastore = world.datastore
      let att1 = try #require(revision.attachments["att1"])
      let att100 = CDTUnsavedDataAttachment(data: world.bytes, name: "att100", type: "image/jpeg")
      var saved = revision
      saved.attachments.removeValueForKey(att1.name)

      let updated = try datastore.updateDocumentFromRevision(saved)
      #expect(updated.attachments.names == ["att2", "att3"])

      saved = updated
      // Create att100 attachment
      saved.attachments[att100.name] = att100

      let again = try datastore.updateDocumentFromRevision(saved)
      #expect(again.attachments.names == ["att100", "att2", "att3"])
    }
  }

  @available(*, deprecated) @Test func `updating with attachments 4: removing all by nil`() throws {
    try withThree { world, revision in
      let datastore = world.datastore
      var saved = revision
      saved.attachments = nil

      let updated = try datastore.updateDocumentFromRevision(saved)
      #expect(updated.attachments.isEmpty && updated.body == revision.body)
    }
  }

  @available(*, deprecated) @Test func `updating with attachments 5: removing all by an empty dictionary`()
    throws
  {
    try withThree { world, revision in
      let datastore = world.datastore
      var saved = revision
      saved.attachments = []

      let updated = try datastore.updateDocumentFromRevision(saved)
      #expect(updated.attachments.isEmpty && updated.body == revision.body)
    }
  }

  @available(*, deprecated) @Test func `updating with attachments 6: copying one from another document`()
    throws
  {
    try withThree { world, revision in
      let datastore = world.datastore
      var saved = revision

      //Create a revision with attachments
      var rev = CDTDocumentRevision("doc2")
      rev.body = ["a": 1]
      let att1 = CDTUnsavedDataAttachment(data: world.bytes, name: "nameOfAttachment", type: "image/jpeg")
      rev.attachments = [att1.name: att1]
      let revWithAttachments = try datastore.createDocumentFromRevision(rev)

      // Add attachment to "saved" from "revWithAttachments"
      let savedAttachment = revWithAttachments.attachments["nameOfAttachment"]
      saved.attachments = [savedAttachment.name: savedAttachment]

      let updated = try datastore.updateDocumentForRevision(saved)
      #expect(updated.attachments.names == ["nameOfAttachment"])
    }
  }

  // MARK: Cookbook: creating a document by copying data

  @available(*, deprecated) @Test func `copying 1: a document with attachments, adding one`() throws {
    try withThree { world, saved in
      let datastore = world.datastore
      let att100 = CDTUnsavedDataAttachment(data: world.bytes, name: "att100", type: "image/jpeg")

      var rev = CDTDocumentRevision("doc2")
      rev.body = saved.body
      rev.body["hello"] = "world"
      // Create att100 attachment
      rev.attachments = saved.attachments
      rev.attachments[att100.name] = att100;

      // The guide updates here, where Objective-C creates.
      #expect(code { try datastore.updateDocumentFromRevision(rev) } == .invalidRevision)
      let updated = try datastore.createDocumentFromRevision(rev)
      #expect(updated.attachments.names == ["att1", "att100", "att2", "att3"])
    }
  }

  @available(*, deprecated) @Test func `copying 2: the body alone`() throws {
    try withThree { world, saved in
      let datastore = world.datastore

      var rev = CDTDocumentRevision("doc2")
      rev.body = saved.body
      rev.body["hello"] = "world"

      let updated = try datastore.createDocumentFromRevision(rev)
      #expect(updated.body == ["a": 1, "hello": "world"] && updated.attachments.isEmpty)
    }
  }

  @available(*, deprecated) @Test func `copying 3: an id that is taken, here and in another datastore`()
    throws
  {
    try withThree { world, saved in
      let (datastore, other_datastore) = (world.datastore, world.other_datastore)

      // Doc ID same as `saved`
      let rev = CDTDocumentRevision("doc1")
      rev.body["hello"] = "world"

      let code = code {
        let updated = try datastore.createDocumentFromRevision(rev)
        // Fails, error is thrown
        Issue.record("\(updated)")
      }
      #expect(code == .conflict)

      let updated = try other_datastore.createDocumentFromRevision(rev)
      // Succeeds
      #expect(updated.docId == saved.docId)
    }
  }

  // MARK: Cookbook: deleting a document

  @available(*, deprecated) @Test func `deleting 1: a revision`() throws {
    try withThree { world, _ in
      let datastore = world.datastore

      let saved = datastore.getDocumentForId("doc1")
      let deleted = try datastore.deleteDocumentFromRevision(saved)

      #expect(deleted.deleted)
      #expect(datastore.getDocumentForId("doc1") == nil)
      #expect(code { try datastore.deleteDocumentFromRevision(saved) } == .conflict)
      #expect(code { try datastore.deleteDocumentFromRevision(nil) } == .invalidID)
    }
  }

  @available(*, deprecated) @Test func `deleting 2: a document in its entirety`() throws {
    try withThree { world, _ in
      let datastore = world.datastore

      let deleted = try datastore.deleteDocumentWithId("doc1")

      #expect(deleted.map(\.docId) == ["doc1"])
    }
  }
}
