// swift-format-ignore-file: NeverForceUnwrap
// Apps of CDTDatastore cast the values of a body so.

import CloudantSync
import Foundation
import Testing

/// Written for CDTDatastore 0.8 to 0.17: what is changed is a mutable copy.
@available(*, deprecated) final class MutableRevisionApp {
  let manager: CDTDatastoreManager
  let datastore: Datastore

  init(path: String) throws {
    manager = try CDTDatastoreManager(directory: path)
    datastore = try manager.datastoreNamed("tasks")
  }

  func add(_ id: String?, _ text: String, price: Double) throws -> CDTDocumentRevision {
    var rev = CDTMutableDocumentRevision()
    rev.docId = id
    rev.body = ["description": text, "completed": false, "price": price]
    return try datastore.createDocumentFromRevision(rev)
  }

  func rename(_ saved: CDTDocumentRevision, _ text: String) throws -> CDTDocumentRevision {
    let update = saved.mutableCopy()
    update.body.setObject(text, forKey: "description" as NSString)
    update.body.removeObject(forKey: "completed")
    return try datastore.updateDocumentFromRevision(update)
  }

  func addImage(_ saved: CDTDocumentRevision, _ data: Data) throws -> CDTDocumentRevision {
    let att1 = CDTUnsavedDataAttachment(data: data, name: "cute_cat.jpg", type: "image/jpeg")
    var update = saved.mutableCopy()
    update.attachments[att1.name] = att1
    return try datastore.updateDocumentFromRevision(update)
  }

  func run() throws {
    let milk = try add("milk", "Buy milk", price: 1.25)
    let tea = try add(nil, "Buy tea", price: 3)
    #expect(datastore.getAllDocuments().count == 2)

    let renamed = try rename(milk, "Buy oat milk")
    #expect(milk.body["description"] as! String == "Buy milk")
    #expect(renamed.body["completed"] == nil && renamed.body["price"] as! Double == 1.25)

    let dictionary = NSMutableDictionary(dictionary: ["description": "Buy green tea"])
    dictionary.setValue(["organic": true, "grams": 100] as [String: Any], forKey: "details")
    var update = tea.mutableCopy()
    update.body = dictionary
    let green = try datastore.updateDocumentForRevision(update)
    let details = green.body["details"] as! [String: Any]
    #expect(green.body.value(forKey: "description") as! String == "Buy green tea")
    #expect(details["organic"] as! Bool && details["grams"] as! Int == 100)

    let pictured = try addImage(renamed, Data("a cat".utf8))
    #expect(pictured.attachments["cute_cat.jpg"].dataFromAttachmentContent == Data("a cat".utf8))
    var bare = pictured.mutableCopy()
    bare.attachments.removeObjectForKey("cute_cat.jpg")
    #expect(try datastore.updateDocumentFromRevision(bare).attachments.isEmpty)

    // Members that were not changed keep their order and the spelling of their numbers.
    let body = try JSONObject(
      parsing: #"{"z":1.10,"big":12345678901234567891,"a":[1e3,{"y":2.50,"b":1}],"n":null}"#)
    try datastore.createDocument(from: DocumentDraft(id: "odd", body: body))
    let odd = try datastore.getDocumentWithId("odd").mutableCopy()
    odd.body["new"] = "member"
    try datastore.updateDocumentFromRevision(odd)
    let text = try datastore.document(withID: "odd").body.text
    #expect(text == body.text.dropLast() + #","new":"member"}"#)

    // What JSON can't represent is refused when it is saved.
    let dated = try datastore.getDocumentWithId("odd").mutableCopy()
    dated.body["when"] = [Date()]
    let error = #expect(throws: DatastoreError.self) { try datastore.updateDocumentFromRevision(dated) }
    #expect(
      error?.message == "a Date at when.0 can't be represented in JSON; store it as a string or a number")

    try datastore.deleteDocumentFromRevision(green)
    try datastore.deleteDocumentWithId("milk")
    #expect(datastore.getDocumentForId("milk") == nil)
    #expect(datastore.getAllDocumentIds() == ["odd"])
  }
}
