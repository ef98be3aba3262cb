// swift-format-ignore-file: NeverForceUnwrap
// Apps of CDTDatastore cast the values of a body so.

import CloudantSync
import Foundation
import Testing

/// Written for CDTDatastore 0.1: bodies are objects of their own, and a change names the revision that it replaces.
@available(*, deprecated) final class FirstApp {
  let manager: CDTDatastoreManager
  let datastore: Datastore

  init(path: String) throws {
    manager = try CDTDatastoreManager(directory: path)
    datastore = try manager.datastoreNamed("tasks")
  }

  func add(_ text: String) throws -> CDTDocumentRevision {
    let doc: [String: Any] = [
      "description": text, "completed": false, "priority": 1.5, "tags": ["shop", "home"],
    ]
    let body = CDTDocumentBody(dictionary: doc)
    return try datastore.createDocumentWithBody(body)
  }

  func complete(_ revision: CDTDocumentRevision) throws -> CDTDocumentRevision {
    let doc = NSMutableDictionary()
    for (key, value) in revision.body { doc[key as! String] = value }
    doc["completed"] = NSNumber(value: true)
    doc.setObject("today", forKey: "when" as NSString)
    return try datastore.updateDocumentWithId(
      revision.docId!, prevRev: revision.revId!, body: CDTDocumentBody(dictionary: doc))
  }

  func attach(_ revision: CDTDocumentRevision, _ data: Data) throws -> CDTDocumentRevision {
    let attachment = CDTUnsavedDataAttachment(data: data, name: "note", type: "text/plain")
    return try datastore.updateAttachments([attachment], forRev: revision)
  }

  func completedTasks() -> [CDTDocumentRevision] {
    datastore.getAllDocuments().filter { ($0.body["completed"] as! Bool) }
  }

  func run() throws {
    let milk = try add("Buy milk")
    let eggs = try add("Buy eggs")
    #expect(milk.body["description"] as! String == "Buy milk")
    #expect(milk.body["tags"] as! [String] == ["shop", "home"])
    let done = try complete(milk)
    #expect(done.revId!.hasPrefix("2-"))
    #expect(completedTasks().map { $0.docId } == [milk.docId])
    #expect(try datastore.document(withID: milk.docId!).body.text.contains(#""completed":true"#))

    do {
      _ = try complete(milk)
      Issue.record("an old revision was replaced")
    } catch let error as DatastoreError {
      #expect(error.status == 409)
    }

    let noted = try attach(done, Data("two litres".utf8))
    let note = try datastore.attachmentNamed("note", forRev: noted)
    #expect(note?.dataFromAttachmentContent() == Data("two litres".utf8))
    let bare = try datastore.removeAttachments(["note"], fromRev: noted)
    #expect(bare.attachments.isEmpty)

    try datastore.createDocumentWithId("fixed", body: CDTDocumentBody(dictionary: ["a": NSNull()]))
    #expect(try datastore.getDocumentWithId("fixed").body["a"] is NSNull)
    try datastore.deleteDocumentWithId("fixed", rev: datastore.getDocumentWithId("fixed").revId!)
    try datastore.deleteDocumentWithId(eggs.docId!, rev: eggs.revId!)
    #expect(datastore.getAllDocumentIds() == [milk.docId!])

    let factory = CDTReplicatorFactory(datastoreManager: manager)
    factory.start()
    factory.stop()
    manager.closeDatastoreNamed("tasks")
  }
}
