import CDTDatastore
import FoundationEssentials
@preconcurrency import Glibc
import JSON

/// A process for tests to kill, or to measure: it writes to a store until it dies, and tells each commit on its output.
@main
struct CrashTest {
  static func main() throws {
    let arguments = CommandLine.arguments
    guard arguments.count > 2 else {
      print("usage: crashtest write|compact|delete|change|stream DIRECTORY [MEGABYTES]")
      exit(64)
    }
    let manager = try DatastoreManager(directory: arguments[2])
    switch arguments[1] {
    case "write": try write(try manager.datastore(named: "store"))
    case "compact": try compact(try manager.datastore(named: "store"))
    case "delete": try delete(manager)
    case "change": try change(manager)
    default:
      let megabytes = arguments.count > 3 ? Int(arguments[3]) ?? 1 : 1
      try Streaming(manager: manager, directory: arguments[2], megabytes: megabytes).run()
    }
  }

  /// The documents that ``write(_:)`` and ``compact(_:)`` go on with, of the store that the test has made.
  private static let documents = 5

  /// Counts in every document, in one transaction a round, with an attachment that says the same.
  private static func write(_ store: Datastore) throws {
    while true { tell(try count(in: store)) }
  }

  private static func compact(_ store: Datastore) throws {
    while true {
      for _ in 0..<3 { tell(try count(in: store)) }
      try store.compact()
    }
  }

  private static func count(in store: Datastore) throws -> Int64 {
    try store.write { transaction in
      var round: Int64 = 0
      for number in 0..<documents {
        try transaction.updateDocument(withID: "\(number)") { document in
          round = (document.body["n"]?.intValue ?? 0) + 1
          document.body["n"] = .int(round)
          document.body["filling"] = .string(String(repeating: "x", count: 2_000))
          document.attachments = [Attachment(data: Data("\(round)".utf8), name: "n", type: "text/plain")]
        }
      }
      return round
    }
  }

  private static func delete(_ manager: DatastoreManager) throws {
    while true {
      let store = try manager.datastore(named: "victim")
      try store.write { transaction in
        for number in 0..<50 {
          try transaction.createDocument(
            from: DocumentRevision(
              id: "\(number)", body: ["n": 1],
              attachments: [Attachment(data: Data("\(number)".utf8), name: "n", type: "text/plain")]))
        }
      }
      tell(1)
      try manager.deleteDatastore(named: "victim")
    }
  }

  /// Changes documents `d0` to `d29` of the store that the test has made, which this program knows no indexes of.
  private static func change(_ manager: DatastoreManager) throws {
    let store = try manager.existingDatastore(named: "store")
    for number in 0..<10 {
      try store.updateDocument(withID: "d\(number)") { document in
        document.body["a"] = 3
        document.body["tags"] = ["new", "red"]
      }
      try store.deleteDocument(withID: "d\(number + 10)")
      try store.createDocument(
        from: DocumentRevision(id: "new \(number)", body: ["a": 3, "text": "a new word"]))
      let rival = RevisionID(generation: 1, suffix: "rival")
      try store.forceInsert(
        DocumentRevision(id: "d\(number + 20)", revision: rival, body: ["a": 3, "tags": ["rival"]]))
    }
    manager.closeDatastore(named: "store")
  }

  private static func tell(_ number: Int64) {
    print(number)
    fflush(stdout)
  }
}
