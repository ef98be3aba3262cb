import CDTDatastore
import CDTImport
import FoundationEssentials

/// A changed file of CDTDatastore 2.x: it is imported or refused, and the target is sound.
enum TouchDBTarget {
  private static let fixture = URL(filePath: #filePath).deletingLastPathComponent()
    .appending(path: "../../../Tests/CDTDatastoreTests/Import/Fixtures/touchdb").standardizedFileURL.path
  private static let directory = "\(FileManager.default.temporaryDirectory.path)/imported"
  private static let original: [UInt8] = {
    do {
      let files = FileManager.default
      // A run that was killed leaves it behind.
      try? files.removeItem(atPath: directory)
      try files.createDirectory(atPath: directory, withIntermediateDirectories: true)
      try files.copyItem(atPath: "\(fixture)/tasks attachments", toPath: "\(directory)/tasks attachments")
      return try bytes(of: "\(fixture)/tasks.touchdb")
    } catch {
      fatalError("the fixture: \(error)")
    }
  }()

  static func run(_ input: [UInt8]) throws {
    let file = "\(directory)/tasks.touchdb"
    try write(Patches(input).apply(to: original), to: file)
    let manager = try DatastoreManager(directory: "\(directory)/stores", options: Sample.options)
    try? manager.deleteDatastore(named: "tasks")
    let store = try manager.datastore(named: "tasks")
    var importer = TouchDBImporter(into: store)
    importer.continuesOnError = true
    let report = resultOrError { try importer.run(file) }
    expectEqual(try store.checkIntegrity(), [], "what was imported")
    if let report {
      expectEqual(try store.changes(since: 0).documents.count, report.documents, "the documents")
    }
  }
}
