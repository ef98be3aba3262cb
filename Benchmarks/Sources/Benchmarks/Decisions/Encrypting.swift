import CDTDatastore
import CDTQuery

/// Decision 26: the same work in a store that is encrypted and in one that is not.
struct Encrypting {
  private static let documents = 100_000
  private static let updates = 2_000
  private static let rounds = 3
  private let scratch: Scratch

  init(_ scratch: Scratch) {
    self.scratch = scratch
  }

  private struct Figures {
    var load, update, read, query, again, afterCommit: Double
    var bytes: Double
  }

  func measure() throws -> MarkdownTable {
    var table = MarkdownTable(
      "100,000 documents, processor time: encrypted, not encrypted, and the ratio of the medians",
      columns: ["", "encrypted", "not encrypted", "ratio"])
    var rounds: [(encrypted: Figures, plain: Figures)] = []
    for round in 0..<Self.rounds {
      rounds.append(
        (
          try figures("encrypted-\(round)", .key([UInt8](repeating: 7, count: 32))),
          try figures("plain-\(round)", nil)
        ))
    }
    func add(_ name: String, _ unit: String, _ figure: (Figures) -> Double) {
      let encrypted = Self.median(rounds.map { figure($0.encrypted) })
      let plain = Self.median(rounds.map { figure($0.plain) })
      table.append(
        [
          name, "\(Spelling.number(encrypted)) \(unit)", "\(Spelling.number(plain)) \(unit)",
          Spelling.number(encrypted / plain),
        ])
    }
    add("load", "ms", \.load)
    add("a durable update", "µs", \.update)
    add("all documents, first read", "ms", \.read)
    add("1,000 documents by an index, first read", "ms", \.query)
    add("the same again", "ms", \.again)
    add("the same after each commit", "ms", \.afterCommit)
    add("disk", "MB", \.bytes)
    return table
  }

  private func figures(_ name: String, _ encryption: Encryption?) throws -> Figures {
    let options = DatastoreOptions(encryption: encryption)
    let directory = "\(scratch.path)/\(name)"
    let manager = try DatastoreManager(directory: directory, options: options)
    let store = try manager.datastore(named: "store")
    try store.ensureIndexed(["n"])
    let load = try Self.milliseconds {
      for first in stride(from: 0, to: Self.documents, by: 1_000) {
        try store.write { transaction in
          for number in first..<first + 1_000 {
            try transaction.createDocument(
              from: DocumentDraft(
                id: "document-\(number)",
                body: [
                  "n": .int(Int64(number % 100)), "text": .string(String(repeating: "\(number) ", count: 40)),
                ]))
          }
        }
      }
    }
    let update = try Self.milliseconds {
      for number in 0..<Self.updates {
        try store.updateDocument(withID: "document-\(number * 7_919 % Self.documents)") { $0.body["n"] = 100 }
      }
    }
    try manager.closeDatastore(named: "store")
    let again = try manager.datastore(named: "store")
    let query = try Self.milliseconds { _ = try again.find(["n": 7]).map(\.body.text.count) }
    let repeated = try Self.milliseconds {
      for _ in 0..<20 { _ = try again.find(["n": 7]).map(\.body.text.count) }
    }
    // SQLite forgets the pages in the cache of the connection that reads.
    let afterCommit = try (0..<20).map { number in
      try again.createDocument(from: DocumentDraft(id: "new-\(number)", body: ["n": 100]))
      return try Self.milliseconds { _ = try again.find(["n": 7]).map(\.body.text.count) }
    }
    let read = try Self.milliseconds { _ = try again.find(["text": "none"]).count }
    try manager.closeDatastore(named: "store")
    return Figures(
      load: load, update: update * 1_000 / Double(Self.updates), read: read, query: query,
      again: repeated / 20, afterCommit: Self.median(afterCommit),
      bytes: Double(try Scratch.size(of: directory)) / 1e6)
  }

  private static func milliseconds(_ body: () throws -> Void) rethrows -> Double {
    let start = Clock.thread.now
    try body()
    return Double(Clock.thread.now - start) / 1e6
  }

  private static func median(_ values: [Double]) -> Double { values.sorted()[values.count / 2] }
}
