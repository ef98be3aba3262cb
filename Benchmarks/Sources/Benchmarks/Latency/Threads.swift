import Dispatch
import Synchronization

/// Work on several threads at once.
enum Threads {
  /// Runs `body` on so many threads, each with its number from 0.
  ///
  /// - Returns: The result of each.
  static func run<Outcome: Sendable>(
    _ count: Int, _ body: @escaping @Sendable (_ number: Int) throws -> Outcome
  ) throws -> [Outcome] {
    let results = Mutex<[Result<Outcome, any Error>]>([])
    let group = DispatchGroup()
    for number in 0..<count {
      // A serial queue of its own has a thread of its own, however few cores there are.
      DispatchQueue(label: "thread \(number)").async(group: group) {
        let result = Result { try body(number) }
        results.withLock { $0.append(result) }
      }
    }
    group.wait()
    return try results.withLock { $0 }.map { try $0.get() }
  }
}
