/// Decides whether what clients have seen can be explained by one order of their operations.
///
/// A history is linearizable if each operation can be given one moment between its call and its return at which it happened
/// as a whole. The search is that of Wing and Gong (1993), with Lowe's memory of configurations that were tried (2017): it
/// extends an order by each operation that can be next, and goes back if none can. Operations on different documents do not
/// depend on each other, so each document is searched on its own.
package struct Linearizability {
  /// Of one document, by the time of their calls.
  private let operations: [DocumentOperation]

  /// The results that no order explains, in words; empty if the history is linearizable.
  package static func violations(in history: [DocumentOperation]) -> [String] {
    Dictionary(grouping: history, by: \.document).sorted { $0.key < $1.key }.compactMap {
      document, operations in
      Linearizability(operations).violation().map { "\(document): \($0)" }
    }
  }

  private init(_ operations: [DocumentOperation]) {
    self.operations = operations.sorted { ($0.invocation, $0.response) < ($1.invocation, $1.response) }
  }

  /// The operations that an order contains so far, and the state after them.
  private struct Configuration: Hashable {
    /// All operations before this one are in the order.
    var first = 0
    /// The later operations that are in the order, too.
    var later: Set<Int> = []
    var state = DocumentState.absent

    var count: Int { first + later.count }

    func adding(_ operation: Int, _ state: DocumentState) -> Configuration {
      var next = self
      next.state = state
      next.later.insert(operation)
      while next.later.remove(next.first) != nil { next.first += 1 }
      return next
    }
  }

  private func violation() -> String? {
    var longest = Configuration()
    var untried = [longest]
    var known: Set = [longest]
    while let configuration = untried.popLast() {
      if configuration.count == operations.count { return nil }
      if configuration.count > longest.count { longest = configuration }
      for next in nextConfigurations(after: configuration) where known.insert(next).inserted {
        untried.append(next)
      }
    }
    let rest = candidates(after: longest).map { "\n  \(operations[$0])" }.joined()
    return "after \(longest.count) of \(operations.count) operations the document is \(longest.state). "
      + "None of these can be next:\(rest)"
  }

  private func nextConfigurations(after configuration: Configuration) -> [Configuration] {
    var all: [Configuration] = []
    for candidate in candidates(after: configuration) {
      guard let state = configuration.state.after(operations[candidate]) else { continue }
      let next = configuration.adding(candidate, state)
      // An operation that changes nothing can always be next: whatever follows it could not have come before it only.
      if state == configuration.state { return [next] }
      all.append(next)
    }
    return all
  }

  /// The operations of which none that is left returned before they were called.
  private func candidates(after configuration: Configuration) -> [Int] {
    var candidates: [Int] = []
    var earliestResponse = UInt64.max
    for number in configuration.first..<operations.count where !configuration.later.contains(number) {
      let operation = operations[number]
      if operation.invocation > earliestResponse { break }
      candidates.append(number)
      earliestResponse = min(earliestResponse, operation.response)
    }
    return candidates
  }
}
