import CDTDatastore
import CDTJSON
import CDTQuery

/// Queries of a user who sees 1,000 documents, beside the same queries with the condition by hand.
struct ReadingAsUser {
  private let scratch: Scratch
  private let documents: Int

  private static let seen = 1_000
  private static let rounds = 11
  private static let batch = 10_000
  private static let user = UserContext(name: "ana", roles: ["sales"])
  private static let owner: JSONValue = ["roles": ["*"], "selector": ["owner": ["$data": "userCtx.name"]]]
  private static let member: JSONValue = [
    "roles": ["*"], "selector": ["members": ["$elemMatch": ["$eq": ["$data": "userCtx.name"]]]],
  ]
  private static let conditional: JSONValue = [
    "roles": ["*"],
    "selector": [
      "$if": ["type": "order"], "$then": ["owner": ["$data": "userCtx.name"]],
      "$else": ["members": ["$data": "userCtx.name"]],
    ],
  ]
  private static let byOwner: JSONObject = ["owner": "ana"]
  private static let byMember: JSONObject = ["members": ["$elemMatch": ["$eq": "ana"]]]
  private static let rules: [(name: String, read: JSONValue, selector: JSONObject)] = [
    ("owner", [owner], byOwner), ("members", [member], byMember),
    ("owner or members", [owner, member], ["$or": [.object(byOwner), .object(byMember)]]),
    (
      "by $if", [conditional],
      [
        "$or": [
          ["type": "order", "owner": "ana"], ["$not": ["type": "order"], "members": "ana"],
        ]
      ]
    ),
  ]

  init(_ scratch: Scratch, documents: Int) {
    (self.scratch, self.documents) = (scratch, documents)
  }

  func measure() throws -> MarkdownTable {
    let options = DatastoreOptions(rules: .enforced(as: Self.user))
    let managers = (
      all: try DatastoreManager(directory: scratch.path),
      mine: try DatastoreManager(directory: scratch.path, options: options)
    )
    defer {
      for manager in [managers.mine, managers.all] { try? manager.closeDatastore(named: "store") }
    }
    let all = try managers.all.datastore(named: "store")
    try fill(all)
    for field: SortField in ["owner", "members"] { try all.ensureIndexed([field]) }
    var table = MarkdownTable(
      "\(Spelling.count(Self.seen)) of \(Spelling.count(documents)) documents, ms",
      columns: ["", "find", "by hand", "count", "by hand", "changes", "as the user", "one more"])
    for rule in Self.rules {
      try all.setRules(["read": rule.read])
      let mine = try managers.mine.datastore(named: "store")
      let (every, hand) = (try Query([:]), try Query(rule.selector))
      func find(_ store: Datastore, _ query: Query) throws -> Int {
        try store.read { try $0.find(query) }.count
      }
      func count(_ store: Datastore, _ query: Query) throws -> Int { try store.read { try $0.count(query) } }
      let figures = [
        try time { try find(mine, every) }, try time { try find(all, hand) },
        try time { try count(mine, every) }, try time { try count(all, hand) },
        try time { try all.read { try Self.changes(mine, $0, since: 0) } },
        try time { try mine.read { try Self.changes(mine, $0, since: 0) } },
        try time(1) { try mine.read { try Self.changes(mine, $0, since: try $0.lastSequence() - 1) } },
      ]
      table.append([rule.name] + figures.map(Spelling.number))
    }
    return table
  }

  /// The changes that the user sees, as a server finds them.
  private static func changes(
    _ mine: Datastore, _ transaction: ReadTransaction, since: Int64
  ) throws -> Int {
    guard let clause = try mine.read({ try $0.visibleClause }) else { throw BenchError("no rule") }
    let filter = try SelectorFilter(QuerySelector(clause: clause))
    guard let found = try SelectedChanges(of: filter, since: since, in: transaction) else {
      let changes = try transaction.changes(since: since).documents
      return try changes.count { change in
        try filter.matches(try transaction.document(withID: change.id))
      }
    }
    return try found.changes(after: since, limit: .max, in: transaction).documents.count { change in
      try filter.matches(try transaction.document(withID: change.id))
    }
  }

  /// The median of the processor time, in milliseconds.
  private func time(_ expected: Int = seen, _ body: () throws -> Int) throws -> Double {
    try (0..<Self.rounds).map { _ in
      let start = Clock.thread.now
      let found = try body()
      guard found == expected || expected == 1 && found <= 1 else {
        throw BenchError("\(found) documents instead of \(expected)")
      }
      return Double(Clock.thread.now - start) / 1e6
    }.median
  }

  private func fill(_ store: Datastore) throws {
    let distance = documents / Self.seen
    for first in stride(from: 0, to: documents, by: Self.batch) {
      try store.write { transaction in
        for number in first..<min(documents, first + Self.batch) {
          let isSeen = number % distance == 0 && number < distance * Self.seen
          let others = [number, number / 2].map { JSONValue.string("user \($0 % 5_000)") }
          let body: JSONObject = [
            "owner": isSeen ? "ana" : others[0], "members": .array(isSeen ? others + ["ana"] : others),
            "type": number % 2 == 0 ? "order" : "note",
            "text": .string(String(repeating: "lorem ipsum ", count: 15)),
          ]
          try transaction.createDocument(from: DocumentDraft(id: "t\(10_000_000 + number)", body: body))
        }
      }
    }
  }
}
