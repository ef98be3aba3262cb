import CDTDatastore
import CDTTestSupport
import Foundation
import Testing

/// Whatever threads and processes do to a document at once, it is as if they did it one after another.
///
/// `make test-more` takes three seconds, `make stress SECONDS=300` as long as it is told, a few seconds for each log.
@Suite(.timeLimit(.minutes(60))) struct LinearizabilityTests {
  private static let processes = 3
  private static let threads = 4

  private struct Report: Decodable {
    var failures: [String]
    var operations: [DocumentOperation]
  }

  /// What clients have done to new documents, in the order of their calls.
  private static func history(seconds: Int) throws -> [DocumentOperation] {
    try withTemporaryDirectory(inMemory: true) { directory in
      let workers = try (0..<processes).map {
        try BuiltProgram("cdt-store-worker", ["log", directory, "\($0)", "\(threads)", "\(seconds)"])
      }
      var history: [DocumentOperation] = []
      for worker in workers {
        let (status, output) = try worker.end()
        #expect(status == 0)
        let report = try JSONDecoder().decode(Report.self, from: Data(output.utf8))
        #expect(report.failures == [])
        history += report.operations
      }
      return history.sorted { $0.invocation < $1.invocation }
    }
  }

  @Test func `operations on a document have an order that explains every result`() throws {
    var left = Stress.seconds
    while left > 0 {
      let history = try Self.history(seconds: min(left, 5))
      left -= 5
      let violations = Linearizability.violations(in: history)
      #expect(violations == [])
      try Self.checkMeetings(history)
      print(
        "linearizability: \(history.count) operations, \(violations.count) violations, \(max(0, left)) s left"
      )
    }
  }

  /// A history in which clients did not meet would show nothing, and neither would a checker that accepts it without a write.
  private static func checkMeetings(_ history: [DocumentOperation]) throws {
    #expect(Set(history.map(\.client)).count == processes * threads)
    #expect(history.contains { $0.outcome == .conflict })
    #expect(zip(history, history.dropFirst()).contains { $0.response > $1.invocation })
    let read = Set(
      history.compactMap { operation in
        if case .found(let content) = operation.outcome { content.revision } else { nil }
      })
    var changed = history
    let write = try #require(
      changed.firstIndex { operation in
        if case .wrote(let revision) = operation.outcome { read.contains(revision) } else { false }
      })
    changed.remove(at: write)
    #expect(Linearizability.violations(in: changed).count == 1)
  }
}
