import CDTDatastore
import CDTJSON
import FoundationEssentials

/// Lines of revision ids, each a revision and its ancestors: ids are written as read, and the tree is sound.
enum RevisionTarget {
  nonisolated(unsafe) private static var run = 0
  private static let directory = "\(FileManager.default.temporaryDirectory.path)/revisions"
  private static let manager: DatastoreManager = {
    do {
      try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
      return try DatastoreManager(directory: directory, options: Sample.options)
    } catch {
      fatalError("the manager: \(error)")
    }
  }()

  static func run(_ input: [UInt8]) throws {
    var all: [RevisionID] = []
    let store = try emptiedStore()
    try store.write { transaction in
      for line in String(decoding: input, as: UTF8.self).split(separator: "\n") {
        let history = line.split(separator: " ").compactMap { word -> RevisionID? in
          guard let id = RevisionID(String(word)) else { return nil }
          expectEqual(Array(id.description.utf8), Array(word.utf8), "the text of an id")
          return id
        }
        all += history
        guard let first = history.first else { continue }
        let revision = DocumentRevision(
          id: "d\(run)", revisionID: first, body: ["line": .string(String(line))])
        _ = resultOrError { try transaction.forceInsert(revision, history: history) }
      }
    }
    expectEqual(try store.checkIntegrity(), [], "the tree")
    for (left, right) in zip(all, all.dropFirst()) {
      expectEqual(
        [left < right, left == right, right < left].count { $0 }, 1, "the order of \(left) and \(right)")
    }
  }

  /// A store of at most 50 documents.
  private static func emptiedStore() throws -> Datastore {
    if run % 50 == 0 { try? manager.deleteDatastore(named: "trees") }
    run += 1
    return try manager.datastore(named: "trees")
  }
}
