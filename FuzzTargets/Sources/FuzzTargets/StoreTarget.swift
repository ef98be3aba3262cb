import CDTDatastore
import CDTJSON
import CDTQuery
import CDTSQLite
import FoundationEssentials

/// A damaged or hostile `db.sync` or log: everything can be tried with it, and damage gives no wrong answer.
enum StoreTarget {
  private static let image: StoreImage = madeImage()
  private static let directory = "\(FileManager.default.temporaryDirectory.path)/opened"

  static func run(_ input: [UInt8]) throws {
    let patches = Patches(input)
    try prepare(patches, image, "\(directory)/damaged")
    let manager = try DatastoreManager(directory: directory, options: Sample.options)
    defer { try? manager.closeDatastore(named: "damaged") }
    let store = try manager.existingDatastore(named: "damaged")
    let isHostile = patches.areStamped || patches.areInLog
    if let documents = resultOrError({ try store.read { try $0.allDocuments() } }), !isHostile {
      let wanted = image.documents.values.flatMap(\.self)
      expectEqual(Set(documents), Set(wanted), "the documents of a damaged store")
    }
    for selector: JSONObject in [["age": ["$gt": 1]], ["tags": "red"], ["$text": ["$search": "cat"]]] {
      _ = resultOrError { try store.find(selector).map(\.body) }
    }
    for id in image.documents.keys.sorted() {
      guard let document = resultOrError({ try store.document(withID: id) }) else { continue }
      _ = resultOrError { try store.read { try $0.revisionHistory(of: document) } }
      for attachment in document.attachments { _ = resultOrError { try attachment.data() } }
    }
    _ = resultOrError { try store.changes(since: 0) }
    _ = resultOrError { try store.checkIntegrity() }
    _ = resultOrError { try store.checkIndexes() }
    _ = resultOrError { try store.createDocument(from: DocumentDraft(id: "new", body: ["a": 1])) }
  }

  static func prepare(_ patches: Patches, _ image: StoreImage, _ target: String) throws {
    try FileManager.default.createDirectory(
      atPath: URL(filePath: target).deletingLastPathComponent().path, withIntermediateDirectories: true)
    try image.copy(to: target)
    let path = "\(target)/\(StoreImage.name)"
    if patches.areInLog {
      try write(image.open.database, to: path)
      try write(patches.apply(to: image.open.log), to: path + image.logSuffix)
      if let seals = image.openSeals { try write(seals, to: path + LogFile.sealsSuffix) }
    } else {
      try write(patches.apply(to: image.database), to: path)
    }
  }

  static func madeImage(_ options: DatastoreOptions = Sample.options) -> StoreImage {
    do {
      return try Sample.varied(options)
    } catch {
      fatalError("the sample: \(error)")
    }
  }
}
