import CDTDatastore
import CDTJSON
import CDTRandomDocuments
import CDTTestSupport
import Foundation
import Testing

@testable import CDTQuery
@testable import CDTSelector

/// The first law: an index changes the speed, never the answer.
@Suite struct LawOneTests {
  /// Rounds of a history each, and how many steps follow on its beginning.
  static let rounds = 25
  static let steps = 80

  @Test func `the matcher agrees with the specification written a second time`() throws {
    let seed = testSeed(12)
    var random = RandomDocuments(seed: seed)
    for _ in 0..<20_000 {
      if let failure = try Fuzz.compareWithOracle(&random) {
        Issue.record("seed \(seed): \(failure)")
        return
      }
    }
  }

  @Test(arguments: 0..<rounds) func `every path gives the matcher's answer`(round: Int) throws {
    let seed = testSeed(1_000 + UInt64(round))
    if let report = try Fuzz.round(seed: seed, steps: Self.steps) { Issue.record("\(report)") }
  }

  @Test func `every operator is drawn`() {
    var random = RandomDocuments(seed: testSeed(13), scope: .everything)
    var met: Set<String> = []
    for _ in 0..<2_000 { Self.collectOperators(.object(random.request()), &met) }
    #expect(Set(OperatorNames.all).subtracting(met) == [])
  }

  private static func collectOperators(_ value: JSONValue, _ met: inout Set<String>) {
    for element in value.arrayValue ?? [] { collectOperators(element, &met) }
    for (key, member) in value.objectValue ?? [:] {
      if key.hasPrefix("$") { met.insert(key) }
      collectOperators(member, &met)
    }
  }

  private static let directory = URL(filePath: #filePath).deletingLastPathComponent().appending(
    path: "Histories")

  static let histories = ((try? FileManager.default.contentsOfDirectory(atPath: directory.path)) ?? [])
    .sorted()

  @Test(arguments: histories) func `a history that once failed runs through`(file: String) throws {
    let text = try String(contentsOf: Self.directory.appending(path: file), encoding: .utf8)
    let failure = try History(parsing: text).run()
    if let failure { Issue.record("step \(failure.step): \(failure.error)") }
  }
}
