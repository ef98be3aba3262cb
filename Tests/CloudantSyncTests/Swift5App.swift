// swift-format-ignore-file: NeverForceUnwrap
// Apps of CDTDatastore cast the values of a body so.

import CloudantSync
import Foundation
import Testing

/// Written for CDTDatastore 2.x in the spelling of Swift 3 and later.
@available(*, deprecated) final class Swift5App: CDTReplicatorDelegate {
  let manager: CDTDatastoreManager
  let datastore: Datastore
  // A delegate has state, as the view controllers of old apps do.
  var replicator: CDTReplicator?
  var tasks: [String] = []

  init(path: String) throws {
    manager = try CDTDatastoreManager(directory: path)
    datastore = try manager.datastoreNamed("tasks")
  }

  func addTasks() throws {
    for (number, text) in ["Buy milk", "Buy tea", "Call Mia"].enumerated() {
      var rev = CDTDocumentRevision(docId: "task\(number)")
      rev.body = ["description": text, "completed": false, "number": number]
      let saved = try datastore.createDocument(from: rev)
      #expect(saved.body["description"] as! String == text)
    }
    var first = try datastore.getDocument(withId: "task0")
    first.body["completed"] = true
    let att = CDTUnsavedDataAttachment(data: Data("x".utf8), name: "note", type: "text/plain")
    first.attachments[att.name] = att
    let updated = try datastore.updateDocument(from: first)
    #expect(updated.body["completed"] as! Bool)
    let old = try #require(datastore.getRevisionHistory(updated).last?.revId)
    #expect(try datastore.getDocument(withId: "task0", rev: old).body["completed"] as! Bool == false)
    #expect(datastore.getDocuments(withIds: ["task2", "none", "task1"]).count == 2)
    var copy = CDTDocumentRevision(docId: "copy")
    copy.body = NSMutableDictionary(dictionary: ["description": "Copy"])
    try datastore.deleteDocument(from: try datastore.createDocument(from: copy))
    try datastore.createDocument(from: copy)
    #expect(try datastore.deleteDocument(withId: "copy").count == 1)
  }

  func query() throws {
    try datastore.ensureIndexed(["description", "completed"], withName: "tasks")
    let text = "Buy tea"
    let result = try datastore.find(
      ["description": text, "completed": false], skip: 0, limit: 0, fields: nil,
      sort: [["description": "asc"]])
    #expect(result.documentIds == ["task1"])
    try datastore.find(["completed": false], sort: [["number": "desc"]]).enumerateObjects {
      (rev, idx, stop) in
      tasks.append(rev.body["description"] as! String)
      stop.pointee = true
    }
    #expect(tasks == ["Call Mia"])
  }

  final class First: CDTConflictResolver {
    func resolve(_ docId: String, conflicts: [CDTDocumentRevision]) -> CDTDocumentRevision? {
      conflicts.first
    }
  }

  func resolve() throws {
    let theirs = RevisionID("2-0")!
    try datastore.write {
      try $0.forceInsert(
        DocumentRevision(id: "task1", revisionID: theirs, body: ["description": "Theirs"]),
        history: [theirs, RevisionID("1-0")!])
    }
    for id in datastore.getConflictedDocumentIds() {
      try datastore.resolveConflicts(forDocument: id, resolver: First())
    }
    #expect(try datastore.getDocument(withId: "task1").body["description"] as! String == "Theirs")
  }

  // MARK: Replication

  /// Pulls, pushes, and pulls again with a delegate.
  func sync(_ url: URL) async -> (any Error)? {
    let datastore = datastore
    if let error = await finished({ done in datastore.pull(from: url) { error in done(error) } }) {
      return error
    }
    if let error = await finished({ done in datastore.push(to: url) { error in done(error) } }) {
      return error
    }
    do {
      replicator = try datastore.push(to: url, username: "", password: "", withDelegate: self)
    } catch {
      return error
    }
    while replicator?.isActive == true { await Task.yield() }
    return replicator?.error
  }

  private func finished(_ start: (@escaping @Sendable ((any Error)?) -> Void) -> Void) async -> (any Error)? {
    await withCheckedContinuation { continuation in start { continuation.resume(returning: $0) } }
  }

  func replicatorDidChangeState(_ replicator: CDTReplicator) {}
  func replicatorDidChangeProgress(_ replicator: CDTReplicator) {}
  func replicatorDidComplete(_ replicator: CDTReplicator) { tasks.append("complete") }
  func replicatorDidError(_ replicator: CDTReplicator, info: any Error) { tasks.append("\(info)") }
}
