import CDTDatastore
import CDTJSON
import CDTQuery
import CDTRecovery
import CDTSQLite
import FoundationEssentials

/// Damaged or hostile files of an encrypted store: what is read or recovered is what was written. Only a damaged log may lack writes.
enum SealedTarget {
  private static let image = StoreTarget.madeImage(Sample.encryptedOptions)
  private static let directory = "\(FileManager.default.temporaryDirectory.path)/sealed"
  private static let damaged = "\(directory)/damaged"

  static func run(_ input: [UInt8]) throws {
    let patches = Patches(input)
    try prepare(patches)
    let manager = try DatastoreManager(directory: directory, options: Sample.encryptedOptions)
    _ = resultOrError { try read(manager, isWhole: !patches.areInLog) }
    try manager.closeDatastore(named: "damaged")
    try prepare(patches)
    try? manager.deleteDatastore(named: "saved")
    let saved = try manager.datastore(named: "saved")
    let report = try saved.recoverDocuments(from: damaged)
    expectEqual(try saved.checkIntegrity(), [], "what was recovered")
    let documents = try saved.read { try $0.allDocuments() }
    expect(
      report.documents >= documents.count, "\(report.documents) documents are reported of \(documents.count)")
    for document in documents { check(document) }
  }

  private static func prepare(_ patches: Patches) throws {
    guard patches.areInSeals || patches.areInKey else {
      return try StoreTarget.prepare(patches, image, damaged)
    }
    try StoreTarget.prepare(Patches([]), image, damaged)
    let name = patches.areInKey ? StoreKeys.fileNames[0] : StoreImage.name + LogFile.sealsSuffix
    try write(patches.apply(to: bytes(of: "\(damaged)/\(name)")), to: "\(damaged)/\(name)")
  }

  private static func read(_ manager: DatastoreManager, isWhole: Bool) throws {
    let store = try manager.existingDatastore(named: "damaged")
    if let documents = resultOrError({ try store.read { try $0.allDocuments() } }) {
      for document in documents { check(document) }
      let wanted = image.documents.values.flatMap(\.self)
      if isWhole { expectEqual(Set(documents), Set(wanted), "the documents of an encrypted store") }
    }
    for selector: JSONObject in [["age": ["$gt": 1]], ["tags": "red"], ["$text": ["$search": "cat"]]] {
      for document in resultOrError({ try store.find(selector) }) ?? [] { check(document) }
    }
    _ = resultOrError { try store.changes(since: 0) }
    _ = resultOrError { try store.checkIntegrity() }
    _ = resultOrError { try store.checkIndexes() }
    _ = resultOrError { try store.createDocument(from: DocumentDraft(id: "new", body: ["a": 1])) }
  }

  /// Checks what was read of a document whose revision is known.
  private static func check(_ document: DocumentRevision) {
    guard let known = image.documents[document.id] else { fatalError("\(document.id) did not exist") }
    for other in known where other.revisionID == document.revisionID {
      expectEqual(document.body, other.body, "the body of \(document.id)")
      for attachment in document.attachments {
        let data = resultOrError { try attachment.data() }
        expect(data == nil || data == Data("a note".utf8), "the attachment of \(document.id)")
      }
    }
  }
}
