import CDTDatastore
import CDTJSON
import CDTQuery

/// Decision 33: the changes of 1,000 documents among all, by a selector, at a server.
struct SelectingChanges {
  private let scratch: Scratch
  private let documents: Int
  private let program: Program

  private static let matches = 1_000
  private static let rounds = 10
  private static let batch = 10_000

  init(_ scratch: Scratch, documents: Int, program: Program) {
    self.scratch = scratch
    self.documents = documents
    self.program = program
  }

  func measure() throws -> MarkdownTable {
    let directory = scratch.path + "/changes"
    try fill(directory)
    var table = MarkdownTable(
      "the changes of \(Spelling.count(Self.matches)) of \(Spelling.count(documents)) documents, ms",
      columns: ["", "from the beginning"])
    for isIndexed in [false, true] {
      if isIndexed {
        let manager = try DatastoreManager(directory: directory)
        try manager.datastore(named: "tasks").ensureIndexed(["owner"])
        try manager.closeDatastore(named: "tasks")
      }
      let time = try ServerProcess.run(program, directory: directory) { server in
        try (0..<(isIndexed ? Self.rounds : 2)).map { _ in try changes(of: server) }.min() ?? 0
      }
      table.append([isIndexed ? "with an index" : "without an index", Spelling.number(time)])
    }
    return table
  }

  private func fill(_ directory: String) throws {
    let manager = try DatastoreManager(directory: directory)
    let store = try manager.datastore(named: "tasks")
    defer { try? manager.closeDatastore(named: "tasks") }
    let distance = documents / Self.matches
    for first in stride(from: 0, to: documents, by: Self.batch) {
      try store.write { transaction in
        for number in first..<min(documents, first + Self.batch) {
          let body: JSONObject = [
            "owner": number % distance == 0 ? "ana" : .string("user \(number % 5_000)"),
            "text": .string(String(repeating: "lorem ipsum ", count: 15)),
          ]
          try transaction.createDocument(from: DocumentDraft(id: "t\(10_000_000 + number)", body: body))
        }
      }
    }
  }

  /// The time of a request on the wall, in milliseconds.
  private func changes(of server: ServerProcess) throws -> Double {
    let start = Clock.monotonic.now
    let reply = try HTTPConnection.exchange(
      server.address, "POST", "/tasks/_changes?filter=_selector", Array(#"{"selector":{"owner":"ana"}}"#.utf8)
    )
    let time = Double(Clock.monotonic.now - start) / 1e6
    let rows = reply.count { $0 == UInt8(ascii: "\n") } - 3
    guard rows == Self.matches else { throw BenchError("\(rows) changes instead of \(Self.matches)") }
    return time
  }
}
