import CDTDatastore
import CDTRecovery
import FoundationEssentials

/// A damaged or hostile store: what is recovered makes a sound store, and damage makes no wrong document.
enum RecoverTarget {
  private static let image = StoreTarget.madeImage()
  private static let directory = "\(FileManager.default.temporaryDirectory.path)/recovered"

  static func run(_ input: [UInt8]) throws {
    let patches = Patches(input)
    let damaged = "\(directory)/damaged"
    try StoreTarget.prepare(patches, image, damaged)
    let manager = try DatastoreManager(directory: directory, options: Sample.options)
    try? manager.deleteDatastore(named: "saved")
    let saved = try manager.datastore(named: "saved")
    let report = try saved.recoverDocuments(from: damaged)
    expectEqual(try saved.checkIntegrity(), [], "what was recovered")
    let documents = try saved.read { try $0.allDocuments() }
    expect(
      report.documents >= documents.count, "\(report.documents) documents are reported of \(documents.count)")
    guard !patches.areStamped, !patches.areInLog else { return }
    for document in documents {
      guard let wanted = image.documents[document.id] else { fatalError("\(document.id) did not exist") }
      for other in wanted where other.revisionID == document.revisionID {
        expectEqual(document.body, other.body, "the body of \(document.id)")
      }
    }
  }
}
