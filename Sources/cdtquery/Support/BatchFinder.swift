import CDTCommandLine
import CDTDatastore
import CDTQuery

/// Answers requests from lines, with one result per line in the same order.
///
/// Each request is answered by the store that has the name at that time. If it was deleted, its line is an error; if it
/// was replaced, the new store answers.
struct BatchFinder {
  private let store: StoreArgument
  private let manager: DatastoreManager

  init(_ store: StoreArgument) throws {
    self.store = store
    manager = try store.manager()
    _ = try store.open(manager)
  }

  func run(_ file: String) throws {
    var requests = try BatchRequests(file)
    while let request = try requests.next() { try answer(to: request).print() }
  }

  private func answer(to request: BatchRequest) -> BatchAnswer {
    do {
      var answer = BatchAnswer()
      try store.open(manager).results(for: request.query()).forEachJSON { answer.append($0) }
      return answer
    } catch {
      return BatchAnswer(error)
    }
  }
}
