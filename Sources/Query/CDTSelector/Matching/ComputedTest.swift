import CDTJSON
import Synchronization

/// A ``ComputedPredicate`` prepared for execution: what was found for one value of a text serves for the next ones if their operand is
/// at the same place, so that a long list is read once for all elements that are looked up in it.
final class ComputedTest: Sendable {
  private struct State: Sendable {
    /// The number of the text.
    var text: Int
    var walk = EnclosingWalk()
    /// For each value of the operand, the container in which its path begins, and its place.
    var found: [(base: Int?, place: Int?)] = []
    /// The tests that a value has to pass; `nil` if none does.
    var tests: [ValueTest]?
  }

  private let predicate: ComputedPredicate
  private let data: [(up: Int, path: FieldPath)]
  private let budget: MatchBudget
  private let state: Mutex<State>

  init(_ predicate: ComputedPredicate, _ budget: MatchBudget) {
    self.predicate = predicate
    self.budget = budget
    state = Mutex(State(text: budget.text))
    data = predicate.operand.data
  }

  func holds(_ bytes: JSONBytes, at start: Int) throws(MatchFailure) -> Bool {
    let tests = state.withLock { state in self.tests(for: start, in: bytes, &state) }
    guard let tests else { return false }
    for test in tests {
      let holds =
        try predicate.looksIntoArrays ? test.holdsInside(bytes, at: start) : test.holds(bytes, at: start)
      if !holds { return false }
    }
    return true
  }

  private func tests(for start: Int, in bytes: JSONBytes, _ state: inout State) -> [ValueTest]? {
    if state.text != budget.text { state = State(text: budget.text) }
    var isNew = state.found.isEmpty
    if isNew { state.found = data.map { _ in (nil, nil) } }
    let isFirst = isNew
    for (number, data) in data.enumerated() {
      let base = state.walk.base(up: data.up, above: start, in: bytes)
      if !isFirst, base == state.found[number].base { continue }
      let place = base.flatMap { bytes.place(at: data.path, from: $0) }
      if place != state.found[number].place { isNew = true }
      state.found[number] = (base, place)
    }
    if isNew { state.tests = tests(at: state.found.map(\.place), in: bytes) }
    return state.tests
  }

  /// The tests of the operand at some places; `nil` if it is missing, or of the wrong type for the operator.
  private func tests(at places: [Int?], in bytes: JSONBytes) -> [ValueTest]? {
    guard let value = predicate.value(in: bytes, at: places),
      let clause = try? OperatorArgument.clause(predicate.name, value, on: .value, at: "")
    else { return nil }
    var tests: [ValueTest] = []
    for member in clause.conjuncts {
      guard case .value(let predicate) = member else { return nil }
      tests.append(ValueTest(predicate, MatchBudget()))
    }
    return tests
  }
}
