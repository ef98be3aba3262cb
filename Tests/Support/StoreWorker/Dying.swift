import CDTDatastore
import CDTJSON
import CDTQuery
import Glibc
import Synchronization

/// Changes a datastore with indexes, and is killed after the documents' commit and before that of the indexes.
enum Dying {
  static func run(in directory: String) throws -> JSONObject {
    let manager = try DatastoreManager(directory: directory)
    let store = try manager.datastore(named: "store")
    // It is asked for before the indexes are, so it is told of commits before they are.
    _ = try store.extensionObject(KilledBetweenCommits.self)
    try store.ensureIndexed(["a", "tags"], name: "by_a")
    try store.ensureIndexed(["text"], .text, name: "words")
    KilledBetweenCommits.isArmed.store(true, ordering: .relaxed)
    try store.write { transaction in
      for number in 0..<10 {
        try transaction.updateDocument(withID: "d\(number)") { document in
          document.body["a"] = 3
          document.body["tags"] = ["new", "red"]
        }
        try transaction.deleteDocument(withID: "d\(number + 10)")
        try transaction.createDocument(
          from: DocumentDraft(id: "new \(number)", body: ["a": 3, "text": "a new word"]))
      }
    }
    return ["failures": ["it was not killed"]]
  }
}

/// An extension that ends the process when it is told of a commit.
final class KilledBetweenCommits: DatastoreExtension {
  static let extensionName = "tests.killed"
  static let isArmed = Atomic(false)

  init(of store: Datastore, directory: String) {}
  func close() {}
  func willCommit(_ write: PendingWrite) {}
  func didRollBack() {}

  func didCommit(_ write: PendingWrite) {
    guard Self.isArmed.load(ordering: .relaxed) else { return }
    kill(getpid(), SIGKILL)
    while true { pause() }
  }
}
