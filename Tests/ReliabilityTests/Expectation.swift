import CDTDatastore
import CDTWorkloads

/// The states that a datastore passes through while a workload runs.
struct Expectation {
  /// The state before the first step, and after each.
  private(set) var states: [StoreModel]
  private var steps: [Step] = []
  private var source: Steps

  init(_ workload: Workload, seed: UInt64, from base: StoreModel) {
    states = [base]
    source = workload.steps(seed: seed, from: base)
  }

  private mutating func extend(to count: Int) throws {
    while steps.count < count {
      steps.append(try source.next())
      states.append(source.model)
    }
  }

  /// Checks that what is in a datastore is one of the states.
  ///
  /// - Parameters:
  ///   - first: The earliest state that it may have.
  ///   - last: The last step that may have begun. It may have been interrupted.
  /// - Returns: What is wrong; `nil` if nothing is.
  mutating func problem(with found: StoreModel, from first: Int, to last: Int) throws -> String? {
    try extend(to: last)
    let range = first...max(first, last)
    let hasState = range.contains { found.hasSameDocuments(as: states[$0]) }
    let isInterrupted = range.dropFirst().contains { number in
      !steps[number - 1].isAtomic && found.isBetween(states[number - 1], states[number])
    }
    guard hasState || isInterrupted else {
      let earlier = states.firstIndex { found.hasSameDocuments(as: $0) }
      return
        "after step \(first), in step \(last) (\(last > 0 ? "\(steps[last - 1])".prefix(120) : "opening")): "
        + (earlier.map { "the state is that after step \($0)" }
          ?? "no state; \(found.difference(from: states[first]))")
    }
    guard range.contains(where: { found.indexes == states[$0].indexes }) else {
      return "after step \(first), in step \(last): the indexes are \(found.indexes.sorted()) instead of "
        + "\(states[first].indexes.sorted())"
    }
    return nil
  }
}

/// Opens a datastore after a crash and checks everything about it.
///
/// - Parameters:
///   - isIndexFileOld: Whether the index file may be of another state of the documents, or of an earlier version. Answers
///     are right all the same, and it is made again.
///   - problem: What is wrong with its content, if anything is.
/// - Returns: What is wrong.
func problemsAfterCrash(
  in directory: String, named name: String = Session.name, isIndexFileOld: Bool = false,
  _ problem: (StoreModel) throws -> String?
) -> [String] {
  do {
    let session = try Session(directory, name: name)
    defer { try? session.close() }
    var problems: [String] = []
    if isIndexFileOld {
      problems += try StoreCheck.wrongAnswers(of: session.store)
      try session.store.updateIndexes()
    }
    problems += try StoreCheck.problems(of: session.store)
    if let problem = try problem(StoreModel(reading: session.store)) { problems.append(problem) }
    problems += try StoreCheck.problemsAfterWriting(to: session.store)
    return problems
  } catch {
    return ["\(error)"]
  }
}
