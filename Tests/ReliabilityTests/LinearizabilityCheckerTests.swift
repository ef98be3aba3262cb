import CDTTestSupport
import Testing

/// The checker accepts the histories that an order explains, and no others.
@Suite struct LinearizabilityCheckerTests {
  typealias Call = DocumentOperation.Call
  typealias Outcome = DocumentOperation.Outcome

  struct Case: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let operations: [DocumentOperation]

    init(_ name: String, _ operations: [DocumentOperation]) {
      (testDescription, self.operations) = (name, operations)
    }
  }

  private static func operation(
    _ invocation: UInt64, _ response: UInt64, _ call: Call, _ outcome: Outcome, document: String = "d"
  ) -> DocumentOperation {
    DocumentOperation(
      document: document, client: Int(invocation), call: call, outcome: outcome, invocation: invocation,
      response: response)
  }

  private static func found(_ revision: String, _ value: String) -> Outcome {
    .found(.init(revision: revision, value: value))
  }

  private static let created = operation(1, 2, .create(value: "x"), .wrote("1-x"))
  private static let updated = operation(3, 6, .update(from: "1-x", value: "y"), .wrote("2-y"))

  static let linearizable = [
    Case("nothing", []),
    Case(
      "one after another",
      [
        operation(1, 2, .read, .notFound), operation(3, 4, .create(value: "x"), .wrote("1-x")),
        operation(5, 6, .read, found("1-x", "x")), operation(7, 8, .create(value: "y"), .conflict),
        operation(9, 10, .modify(value: "z"), .modified(.init(revision: "1-x", value: "x"), "2-z")),
        operation(11, 12, .update(from: "1-x", value: "w"), .conflict),
        operation(13, 14, .delete(from: "1-x"), .conflict),
        operation(15, 16, .delete(from: "2-z"), .wrote("3-d")), operation(17, 18, .read, .notFound),
        operation(19, 20, .modify(value: "v"), .notFound), operation(21, 22, .delete(from: "3-d"), .notFound),
        operation(23, 24, .create(value: "u"), .wrote("4-u")),
        operation(25, 26, .read, found("4-u", "u")),
      ]),
    Case(
      "a read during a write sees the state before",
      [created, updated, operation(4, 5, .read, found("1-x", "x"))]),
    Case(
      "a read during a write sees the state after",
      [created, updated, operation(4, 5, .read, found("2-y", "y"))]),
    Case(
      "the later of two calls happens first",
      [operation(1, 6, .create(value: "x"), .conflict), operation(2, 5, .create(value: "y"), .wrote("1-y"))]),
    Case(
      "one of two updates of a revision wins",
      [created, updated, operation(3, 6, .update(from: "1-x", value: "z"), .conflict)]),
    Case(
      "a call that returns when another begins may follow it",
      [operation(1, 3, .read, found("1-x", "x")), operation(3, 4, .create(value: "x"), .wrote("1-x"))]),
    Case(
      "the first order that is tried ends nowhere",
      [
        operation(1, 9, .create(value: "x"), .wrote("1-x")),
        operation(1, 9, .create(value: "y"), .wrote("3-y")),
        operation(1, 9, .delete(from: "1-x"), .wrote("2-d")), operation(1, 9, .read, .notFound),
      ]),
    Case(
      "documents do not depend on each other",
      [created, operation(3, 4, .read, .notFound, document: "e"), operation(5, 6, .read, found("1-x", "x"))]),
  ]

  static let others = [
    Case("a lost write", [created, operation(3, 4, .read, .notFound)]),
    Case(
      "a lost update",
      [created, updated, operation(7, 8, .update(from: "1-x", value: "z"), .wrote("2-z"))]),
    Case(
      "two updates of one revision at once",
      [created, updated, operation(3, 6, .update(from: "1-x", value: "z"), .wrote("2-z"))]),
    Case("a stale read", [created, updated, operation(7, 8, .read, found("1-x", "x"))]),
    Case(
      "a read goes back during a write",
      [
        created, operation(3, 20, .update(from: "1-x", value: "y"), .wrote("2-y")),
        operation(4, 5, .read, found("2-y", "y")), operation(6, 7, .read, found("1-x", "x")),
      ]),
    Case("a value is read before it is written", [operation(0, 0, .read, found("1-x", "x")), created]),
    Case("a value that nobody wrote", [created, operation(3, 4, .read, found("1-x", "y"))]),
    Case("two creations", [created, operation(1, 2, .create(value: "y"), .wrote("1-y"))]),
    Case("a conflict with nothing", [operation(1, 2, .create(value: "x"), .conflict)]),
    Case(
      "a conflict with a write that came later",
      [
        operation(1, 2, .create(value: "x"), .wrote("1-x")),
        operation(3, 4, .update(from: "1-x", value: "z"), .conflict),
        operation(5, 6, .update(from: "1-x", value: "y"), .wrote("2-y")),
      ]),
    Case(
      "a transaction that writes over what it has not read",
      [
        created, updated,
        operation(7, 8, .modify(value: "z"), .modified(.init(revision: "1-x", value: "x"), "3-z")),
      ]),
    Case(
      "a deletion that comes back",
      [
        created, operation(3, 4, .delete(from: "1-x"), .wrote("2-d")),
        operation(5, 6, .read, found("1-x", "x")),
      ]),
    Case(
      "a generation that is left out",
      [created, operation(3, 4, .update(from: "1-x", value: "y"), .wrote("3-y"))]),
    Case("an error that no state gives", [created, operation(3, 4, .read, .conflict)]),
  ]

  @Test(arguments: linearizable) func `a history that an order explains is accepted`(_ each: Case) {
    #expect(Linearizability.violations(in: each.operations) == [])
    #expect(Self.isLinearizable(each.operations))
  }

  @Test(arguments: others) func `a history that no order explains is refused`(_ each: Case) {
    #expect(Linearizability.violations(in: each.operations).count == 1)
    #expect(!Self.isLinearizable(each.operations))
  }

  @Test func `a violation names the document, the state, and the operations that do not fit it`() {
    let operations = [Self.created, Self.operation(3, 4, .read, .notFound)]
    #expect(
      Linearizability.violations(in: operations) == [
        """
        d: after 1 of 2 operations the document is \(DocumentState.live(.init(revision: "1-x", value: "x"))). \
        None of these can be next:
          3…4 client 3: read gives notFound
        """
      ])
  }

  /// Random short histories, of which many are linearizable and many are not.
  @Test func `the search agrees with trying every order`() {
    let seed = testSeed(17)
    var random = SeededGenerator(seed: seed)
    var accepted = 0
    for number in 0..<2_000 {
      let operations = Self.history(&random)
      let expected = Self.isLinearizable(operations)
      #expect(
        Linearizability.violations(in: operations).isEmpty == expected,
        "seed \(seed), history \(number): \(operations)")
      if expected { accepted += 1 }
    }
    #expect(200..<1_800 ~= accepted, "seed \(seed)")
  }

  /// Calls whose moments are known, so that they are explained by one order; half of the time one of them is changed.
  private static func history(_ random: inout SeededGenerator) -> [DocumentOperation] {
    var state = DocumentState.absent
    var operations: [DocumentOperation] = []
    for number in 0..<6 {
      let moment = UInt64(number) * 10 + 100
      let possible = candidates(number, state).filter { state.after($0) != nil }
      guard var operation = possible.randomElement(using: &random), let after = state.after(operation) else {
        continue
      }
      operation.invocation = moment - .random(in: 0...30, using: &random)
      operation.response = moment + .random(in: 0...30, using: &random)
      operations.append(operation)
      state = after
    }
    if Bool.random(using: &random), let changed = operations.indices.randomElement(using: &random) {
      switch Int.random(in: 0..<3, using: &random) {
      case 0: operations.remove(at: changed)
      case 1: operations[changed].outcome = Bool.random(using: &random) ? .conflict : .notFound
      default:
        operations[changed].invocation += 25
        operations[changed].response += 25
      }
    }
    return operations
  }

  /// Everything that may happen next, and some that may not.
  private static func candidates(_ number: Int, _ state: DocumentState) -> [DocumentOperation] {
    var calls: [(Call, Outcome)] = [
      (.read, .notFound), (.create(value: "\(number)"), .conflict), (.modify(value: "\(number)"), .notFound),
      (.delete(from: "1-0"), .conflict),
    ]
    let newest: String? =
      switch state {
      case .absent: nil
      case .deleted(let revision): revision
      case .live(let content): content.revision
      }
    let next = "\((newest.flatMap { Int($0.prefix(1)) } ?? 0) + 1)-\(number)"
    calls.append((.create(value: "\(number)"), .wrote(next)))
    if let newest {
      calls += [
        (.update(from: newest, value: "\(number)"), .wrote(next)), (.delete(from: newest), .wrote(next)),
      ]
    }
    if case .live(let content) = state {
      calls += [(.read, .found(content)), (.modify(value: "\(number)"), .modified(content, next))]
    }
    return calls.map { operation(0, 0, $0, $1) }
  }

  /// Tries every order that keeps the order in time.
  private static func isLinearizable(_ history: [DocumentOperation]) -> Bool {
    func isLinearizable(_ left: [DocumentOperation], _ state: DocumentState) -> Bool {
      if left.isEmpty { return true }
      return left.indices.contains { number in
        guard !left.contains(where: { $0.response < left[number].invocation }),
          let after = state.after(left[number])
        else { return false }
        var rest = left
        rest.remove(at: number)
        return isLinearizable(rest, after)
      }
    }
    return Dictionary(grouping: history, by: \.document).values.allSatisfy { isLinearizable($0, .absent) }
  }
}
