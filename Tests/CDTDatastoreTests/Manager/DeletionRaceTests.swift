import CDTDatastore
import CDTTestSupport
import Synchronization
import Testing

/// Managers stand for processes here: what they share is the files.
@Suite(.timeLimit(.usual)) struct DeletionRaceTests {
  private static let rounds = 100

  @Test func `stores that others delete and create again are never mixed`() throws {
    try withTemporaryDirectory { directory in
      let managers = try (0..<4).map { _ in try DatastoreManager(directory: directory) }
      let failures = Gathered<String>()
      let written = Atomic(0)
      onThreads(managers.count) { number in
        var random = SystemRandomNumberGenerator()
        for _ in 0..<Self.rounds {
          do {
            try Self.use(managers[number], &random)
            written.add(1, ordering: .relaxed)
          } catch let error as DatastoreError where [.closed, .notFound].contains(error.code) {
            continue
          } catch {
            failures.append("\(error)")
          }
        }
      }
      #expect(failures.all == [])
      #expect(written.load(ordering: .relaxed) > 0)
      let left = try managers[0].datastore(named: "passing")
      #expect(try left.checkIntegrity().isEmpty)
      try managers[0].closeDatastore(named: "passing")
    }
  }

  /// Writes and reads documents of several pages, and then may close or delete the datastore.
  private static func use(_ manager: DatastoreManager, _ random: inout some RandomNumberGenerator) throws {
    let store = try manager.datastore(named: "passing")
    let text = JSONValue.string(String(repeating: "a", count: 3_000))
    try store.write { transaction in
      for _ in 0..<Int.random(in: 1...12, using: &random) {
        try transaction.createDocument(from: DocumentDraft(body: ["text": text]))
      }
    }
    for document in try store.read({ try $0.allDocuments() }) where document.body["text"] != text {
      Issue.record("\(document.id) has another text")
    }
    switch Int.random(in: 0..<8, using: &random) {
    case 0..<2: try manager.closeDatastore(named: "passing")
    case 2: try manager.deleteDatastore(named: "passing")
    default: break
    }
  }
}
