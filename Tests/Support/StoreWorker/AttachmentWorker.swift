import CDTDatastore
import CDTJSON
import CDTQuery
import Foundation

/// One of the processes that replace attachments, compact, and read attachments in every way, all at once.
///
/// A content that a state refers to must be there as long as the state is read.
struct AttachmentWorker {
  enum Role: Int {
    case writer, compactor, reader
  }

  private static let documents = 40
  private var rounds: Int64 = 0
  private var failures: [String] = []

  static func run(_ role: Role, in directory: String, for duration: Duration) -> JSONObject {
    var worker = AttachmentWorker()
    do {
      var options = DatastoreOptions()
      options.durability = .normal
      let manager = try DatastoreManager(directory: directory, options: options)
      let store = try manager.existingDatastore(named: "store")
      let end = ContinuousClock.now + duration
      while ContinuousClock.now < end, worker.failures.count < 5 {
        do {
          try worker.step(role, store)
          worker.rounds += 1
        } catch let error as DatastoreError where error.code == .busy {
          continue
        }
      }
      try manager.closeDatastore(named: "store")
    } catch {
      worker.failures.append("\(role): \(error)")
    }
    return ["rounds": .int(worker.rounds), "failures": .array(worker.failures.map { .string($0) })]
  }

  private mutating func step(_ role: Role, _ store: Datastore) throws {
    switch role {
    case .writer:
      let id = "\(Int.random(in: 0..<Self.documents))"
      _ = try store.write { transaction in
        try transaction.updateDocument(withID: id) { document in
          document.attachments = ["a", "b"].reduce(into: Attachments()) { attachments, name in
            let data = Data("\(id) \(name) \(UInt64.random(in: 0...(.max)))".utf8)
            attachments[name] = DocumentAttachment(data: data, name: name, contentType: "")
          }
        }
      }
    case .compactor: try store.compact()
    case .reader: try read(store)
    }
  }

  private mutating func read(_ store: Datastore) throws {
    switch rounds % 3 {
    case 0: failures += try store.checkIntegrity().map { "check: \($0)" }
    case 1:
      var count = 0
      try store.results(for: Query([:])).forEachJSON(inliningAttachments: true) { _ in
        count += 1
        // The longer a state is read, the more is replaced and compacted meanwhile.
        usleep(2_000)
      }
      if count != Self.documents { failures.append("export: \(count) documents") }
    default:
      try store.read { snapshot in
        let id = "\(Int.random(in: 0..<Self.documents))"
        let document = try snapshot.document(withID: id)
        usleep(20_000)
        for attachment in document.attachments { _ = try attachment.data() }
      }
    }
  }
}
