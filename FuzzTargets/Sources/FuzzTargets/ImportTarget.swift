import CDTDatastore
import CDTImport
import CDTJSON
import FoundationEssentials

/// A file to import: the same documents are imported with any size of the batches and at any place of the reader's
/// buffer, and the store is sound.
enum ImportTarget {
  private static let directory = "\(FileManager.default.temporaryDirectory.path)/imports"
  /// The size of the reader's buffer.
  private static let chunk = 256 * 1024

  static func json(_ input: [UInt8]) throws {
    let whole = try documents(in: input, .json, batch: 1_000)
    expectEqual(try documents(in: input, .json, batch: 1), whole, "documents imported one by one")
    // White space before it, so that the buffer ends within it.
    guard !input.starts(with: [0xEF, 0xBB, 0xBF]) else { return }
    let space = [UInt8](repeating: UInt8(ascii: "\n"), count: chunk - input.count / 2)
    expectEqual(
      try documents(in: space + input, .json, batch: 1_000), whole, "documents imported in two parts")
  }

  static func csv(_ input: [UInt8]) throws {
    let whole = try documents(in: input, .csv, batch: 1_000)
    expectEqual(try documents(in: input, .csv, batch: 1), whole, "documents imported one by one")
  }

  /// The canonical texts of the imported documents, sorted, and the number of failures.
  private static func documents(in input: [UInt8], _ format: DocumentImporter.Format, batch: Int) throws
    -> [String]
  {
    try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
    let file = "\(directory)/input"
    try write(input, to: file)
    let manager = try DatastoreManager(directory: directory, options: Sample.options)
    try? manager.deleteDatastore(named: "target")
    let store = try manager.datastore(named: "target")
    var importer = DocumentImporter(into: store)
    importer.format = format
    importer.batchSize = batch
    importer.continuesOnError = true
    let report = resultOrError { try importer.run([file]) }
    expectEqual(try store.checkIntegrity(), [], "what was imported")
    let documents = try store.read { try $0.allDocuments() }
    if let report { expectEqual(report.written, documents.count, "the documents written") }
    return documents.map(\.body.canonicalText).sorted() + ["\(report?.failed ?? -1)"]
  }
}
