import CDTImport
import CDTJSON
import CDTTestSupport

/// A kind of program: which steps it does, and how often.
package struct Workload: Sendable, CustomStringConvertible {
  package let description: String
  fileprivate let kinds: [Kind]

  fileprivate enum Kind: CaseIterable {
    case put, delete, attach, local, rival, resolve, several, index, distanceIndex, dropIndex, rebuild,
      compact, reopen,
      destroy,
      lines, touchDB
  }

  package static let all = [
    Workload("documents", [.put, .put, .put, .delete, .local, .reopen]),
    Workload("transactions", [.several, .several, .several, .put, .reopen]),
    Workload("attachments", [.attach, .attach, .attach, .put, .delete, .several, .compact]),
    Workload("conflicts", [.put, .rival, .rival, .resolve, .delete, .several]),
    Workload("indexes", [.put, .several, .index, .index, .dropIndex, .rebuild, .delete, .reopen]),
    Workload(
      "distances", [.put, .several, .distanceIndex, .distanceIndex, .dropIndex, .rebuild, .delete, .reopen]),
    Workload("compaction", [.put, .attach, .several, .compact, .compact, .reopen]),
    Workload("deletion", [.put, .attach, .several, .index, .destroy]),
    Workload("import", [.lines, .lines, .put, .index, .reopen]),
    Workload("touchdb", [.touchDB, .put, .index, .compact, .reopen]),
    Workload("everything", Kind.allCases.filter { $0 != .distanceIndex }),
  ]

  package static func named(_ name: String) -> Workload? { all.first { $0.description == name } }

  private init(_ name: String, _ kinds: [Kind]) {
    description = name
    self.kinds = kinds
  }

  /// The steps, endlessly, from a state. The same seed and state give the same steps.
  package func steps(seed: UInt64, from model: StoreModel) -> Steps {
    Steps(self, SeededGenerator(seed: seed), model)
  }
}

/// Draws steps. It keeps a model, so that each step can be done when its turn comes.
package struct Steps {
  private let workload: Workload
  private var random: SeededGenerator
  /// The state after the last step.
  package private(set) var model: StoreModel

  fileprivate init(_ workload: Workload, _ random: SeededGenerator, _ model: StoreModel) {
    self.workload = workload
    self.random = random
    self.model = model
  }

  package mutating func next() throws -> Step {
    let kind = workload.kinds.randomElement(using: &random) ?? .put
    let step = step(kind)
    try step.apply(to: &model)
    return step
  }

  private mutating func step(_ kind: Workload.Kind) -> Step {
    switch kind {
    case .put: .change(put())
    case .delete: .change(delete() ?? put())
    case .attach: .change(put(attachments: 1...2))
    case .local: .change(local())
    case .rival: .change(rival() ?? put())
    case .resolve: .change(resolve() ?? put())
    case .several: several()
    case .index: index()
    case .distanceIndex: distanceIndex()
    case .dropIndex: model.indexes.min().map { .dropIndex($0) } ?? index()
    case .rebuild: .rebuildIndexes
    case .compact: .compact
    case .reopen: .reopen
    case .destroy: .deleteDatastore
    case .lines: lines()
    case .touchDB: .importTouchDB
    }
  }

  // MARK: Changes

  /// The ids of documents that steps change.
  private static let ids = (0..<24).map { "d\($0)" }

  /// Documents that are there, in an order that does not depend on the process.
  private var present: [String] { Self.ids.filter { model.documents[$0] != nil } }

  private mutating func number(_ range: ClosedRange<Int>) -> Int { .random(in: range, using: &random) }

  private mutating func body() -> JSONObject {
    let words = ["red", "green", "blue", "old", "new"].shuffled(using: &random)
    let n = Int64(number(0...50))
    return [
      "n": .int(n), "vector": [.int(n % 6), .int(n % 5), .int(n % 4)],
      "place": [.int(7 * n - 180), .int(3 * n - 90)], "kind": .string(words[0]),
      "tags": [.string(words[1]), .string(words[2])],
      "text": .string("a \(words[3]) word and \(words[4])"),
      "filling": .string(String(repeating: "x", count: number(0...3) == 0 ? number(0...6_000) : 10)),
    ]
  }

  private mutating func put(attachments: ClosedRange<Int> = 0...0) -> Change {
    let id = Self.ids[number(0...Self.ids.count - 1)]
    var contents: [String: String] = [:]
    for position in 0..<number(attachments) {
      // Few contents, so that documents share some.
      let content = number(0...9)
      contents["a\(position)"] = "content \(content) " + String(repeating: "\(content)", count: content * 700)
    }
    return .put(id, body(), attachments: contents)
  }

  private mutating func delete() -> Change? { present.randomElement(using: &random).map { .delete($0) } }

  private mutating func local() -> Change {
    let id = "l\(number(0...3))"
    return .local(id, number(0...3) == 0 && model.locals[id] != nil ? nil : body())
  }

  private mutating func rival() -> Change? {
    guard let id = present.randomElement(using: &random) else { return nil }
    return .rival(id, body(), random.next())
  }

  private mutating func resolve() -> Change? {
    present.filter { model.documents[$0]?.rivals.isEmpty == false }.randomElement(using: &random).map {
      .resolve($0)
    }
  }

  private mutating func several() -> Step {
    var changes: [Change] = []
    let before = model
    for _ in 0..<number(2...12) {
      let change: Change
      switch number(0...5) {
      case 0: change = delete() ?? put()
      case 1: change = put(attachments: 1...1)
      case 2: change = local()
      default: change = put()
      }
      changes.append(change)
      // A later change of the transaction sees it.
      var applied = model
      try? Step.change(change).apply(to: &applied)
      model = applied
    }
    model = before
    return .write(changes)
  }

  // MARK: The rest

  private mutating func index() -> Step {
    switch number(0...3) {
    case 0: .index("by_n", ["n"], .json)
    case 1: .index("by_kind", ["kind", .descending("n")], .json)
    case 2: .index("by_tag", ["tags", "n"], .json)
    default: .index("words", ["text"], .text)
    }
  }

  private mutating func distanceIndex() -> Step {
    switch number(0...2) {
    case 0: .index("vectors", ["vector"], .vector)
    case 1: .index("places", ["place"], .place)
    default: .index("by_place", ["kind", "place"], .place)
    }
  }

  private mutating func lines() -> Step {
    var documents: [String: JSONObject] = [:]
    for _ in 0..<number(3...18) { documents[Self.ids[number(0...Self.ids.count - 1)]] = body() }
    return .importLines(documents)
  }
}
