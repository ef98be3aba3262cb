import CDTDatastore
import CDTJSON
import CDTQuery
import CDTTestSupport

/// A step at which a history went wrong.
struct HistoryFailure {
  let step: Int
  /// The disagreement, or the error that the step should not have thrown.
  let error: any Error
  /// What the query ran on.
  let documents: [DocumentRevision]
  let indexes: [IndexDefinition]
  let explanation: String
}

extension History {
  /// The answer of the matcher.
  static let matcher: ReferenceAnswers = { try $0.find(in: $1, textIndex: $2) }

  /// Does every step, and compares the answers of every query.
  ///
  /// - Returns: The first failure, or `nil` when everything agreed.
  func run(against reference: ReferenceAnswers = matcher) throws -> HistoryFailure? {
    try withTemporaryDirectory(inMemory: true) { directory in
      let world = try World(directory: directory)
      for (number, step) in steps.enumerated() {
        if let failure = world.run(step, number: number, against: reference) { return failure }
      }
      return nil
    }
  }
}

extension World {
  func run(_ step: Step, number: Int, against reference: ReferenceAnswers) -> HistoryFailure? {
    do {
      try apply(step)
      if step.name == .find {
        let request = step.argument.objectValue ?? [:]
        if request["group"] == nil {
          try check(request, against: reference)
        } else {
          try checkGroups(request, against: reference)
        }
      }
      return nil
    } catch {
      let query = try? Query(request: step.argument.objectValue ?? [:])
      let groups = try? GroupQuery(request: step.argument.objectValue ?? [:])
      let explanation =
        query.flatMap { query in try? indexed.read { try $0.explain(query) }.description }
        ?? groups.flatMap { groups in try? indexed.read { try $0.explain(groups) }.description } ?? ""
      return HistoryFailure(
        step: number, error: error, documents: documents, indexes: definitions, explanation: explanation)
    }
  }
}
