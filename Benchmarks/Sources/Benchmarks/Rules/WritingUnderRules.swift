import CDTDatastore
import CDTJSON
import CDTQuery

/// Updates of documents of 300 bytes in stores that enforce rules, beside one that has none.
struct WritingUnderRules {
  private let scratch: Scratch
  private let pairs: Int

  private static let documents = 1_000
  private static let user = UserContext(name: "anna", roles: ["family", "editors"])
  private static let rules: [(name: String, rule: JSONValue?)] = [
    ("rules enforced, without any", nil),
    (
      "a rule of other documents",
      ["$if": ["newDoc.type": "invoice"], "$then": ["newDoc.total": ["$type": "number"]]]
    ),
    (
      "five conditions",
      [
        "newDoc": [
          "type": ["$in": ["task", "list"]], "title": ["$type": "string"], "done": ["$type": "boolean"],
        ],
        "$or": [["oldDoc": ["$exists": false]], ["newDoc.owner": ["$data": "oldDoc.owner"]]],
      ]
    ),
  ]

  init(_ scratch: Scratch, pairs: Int) {
    (self.scratch, self.pairs) = (scratch, pairs)
  }

  func measure() throws -> MarkdownTable {
    var table = MarkdownTable(
      "a write, µs", columns: ["", "1,000 in a transaction", "more", "one in a transaction", "more"])
    let plain = try Self.manager(scratch, DatastoreOptions())
    let enforcing = try Self.manager(scratch, DatastoreOptions(rules: .enforced(as: Self.user)))
    defer {
      for number in Self.rules.indices {
        try? plain.closeDatastore(named: "w\(number)")
        try? enforcing.closeDatastore(named: "r\(number)")
      }
    }
    for (number, (name, rule)) in Self.rules.enumerated() {
      // Histories grow alike in both.
      let without = try store("w\(number)", plain)
      if let rule {
        // The user can't write rules.
        try plain.datastore(named: "r\(number)").setRules(["validate_doc_update": rule])
        try plain.closeDatastore(named: "r\(number)")
      }
      let store = try store("r\(number)", enforcing)
      let many = try times(without, store, batch: Self.documents, pairs)
      let one = try times(without, store, batch: 1, pairs * 20)
      table.append([name] + [many, one].flatMap { [Spelling.number($0.time), Spelling.number($0.more)] })
    }
    return table
  }

  private static func manager(_ scratch: Scratch, _ options: DatastoreOptions) throws -> DatastoreManager {
    var options = options
    options.durability = .normal
    return try DatastoreManager(directory: scratch.path, options: options)
  }

  private func store(_ name: String, _ manager: DatastoreManager) throws -> Datastore {
    let store = try manager.datastore(named: name)
    try store.write { transaction in
      for number in 0..<Self.documents {
        try transaction.createDocument(from: DocumentDraft(id: Self.id(number), body: Self.body(number, 0)))
      }
    }
    return store
  }

  private static func id(_ number: Int) -> String { "task-\(10_000 + number)" }

  private static func body(_ number: Int, _ version: Int) -> JSONObject {
    [
      "type": "task", "title": .string("Title of the task number \(number)"), "done": false, "owner": "anna",
      "version": .int(Int64(version)), "text": .string(String(repeating: "lorem ipsum ", count: 15)),
    ]
  }

  /// The median of a write without rules, and of how much more one with rules takes.
  private func times(
    _ without: Datastore, _ with: Datastore, batch: Int, _ pairs: Int
  ) throws -> (time: Double, more: Double) {
    var times: [(Double, Double)] = []
    for number in 0..<pairs {
      func first() throws -> Double { try write(number, batch, to: without) }
      func second() throws -> Double { try write(number, batch, to: with) }
      if number % 2 == 0 {
        let time = try first()
        times.append((time, try second()))
      } else {
        let time = try second()
        times.append((try first(), time))
      }
    }
    return (times.map(\.0).median, times.map { $0.1 - $0.0 }.median)
  }

  private func write(_ version: Int, _ count: Int, to store: Datastore) throws -> Double {
    let known = try (0..<count).map { offset in
      let number = (version * count + offset) % Self.documents
      var document = try store.document(withID: Self.id(number))
      document.body["version"] = .int(Int64(version + 1))
      return document
    }
    let start = Clock.thread.now
    try store.write { transaction in
      for document in known { try transaction.updateDocument(from: document) }
    }
    return Double(Clock.thread.now - start) / Double(count) / 1e3
  }
}
