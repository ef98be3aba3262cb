import CDTSelector

/// A clause of a rule with what tests it, which is made once: many elements can be tested by it, and a list of many values takes long
/// to make.
final class RulePart {
  let clause: Clause
  /// The condition on the elements of an array, if it is one.
  let condition: ElementCondition?
  private let budget: MatchBudget
  private var knownTest: ValueTest?

  init(_ clause: Clause, _ budget: MatchBudget) {
    (self.clause, self.budget) = (clause, budget)
    switch clause {
    case .field(_, .elementMatches(let condition)), .field(_, .allElementsMatch(let condition)),
      .value(.elementMatches(let condition)), .value(.allElementsMatch(let condition)):
      self.condition = condition
    default: condition = nil
    }
  }

  /// The clauses of which it is made: of `$if` the alternatives, of `$elemMatch` and `$allMatch` that of an element.
  private(set) lazy var parts: [RulePart] = {
    let clauses: [Clause] =
      switch (clause, condition) {
      case (_, .fields(let clause)?), (_, .operators(let clause)?): [clause]
      case (.and(let members), _), (.or(let members), _): members
      case (.rule(.conditional(_, let then, let otherwise)), _): [then, otherwise]
      case (.not(let clause), _), (.rule(.annotated(let clause, _, _)), _), (.rule(.guarded(let clause)), _):
        [clause]
      default: []
      }
    return clauses.map { RulePart($0, budget) }
  }()

  /// The matcher of the condition of an `$if`, or of an element.
  private(set) lazy var matcher: Matcher = {
    if case .rule(.conditional(let condition, _, _)) = clause {
      return Matcher(.operators(condition), budget)
    }
    return Matcher(condition ?? .operators(clause), budget)
  }()

  /// The test of its predicate.
  func test(_ predicate: Predicate) -> ValueTest {
    if let knownTest { return knownTest }
    let test = ValueTest(predicate, budget)
    knownTest = test
    return test
  }
}
