import CDTQueryTesting
import FoundationEssentials

/// A golden file: it is refused with the line, or run. A recorded file passes, and recording it again changes nothing.
enum FixtureTarget {
  static func run(_ input: [UInt8]) throws {
    let fixture = try QueryFixture(parsing: String(decoding: input, as: UTF8.self), name: "input.test")
    guard fixture.cases.count < 4, fixture.indexes.count < 4 else { return }
    let directory = "\(FileManager.default.temporaryDirectory.path)/fixtures"
    try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
    let recorded = try QueryFixture(parsing: fixture.recorded(), name: "input.test")
    expectEqual(try recorded.recorded(), recorded.text, "recorded again")
    for outcome in try recorded.run(in: directory) {
      expect(outcome.hasPassed, "a recorded file fails: \(outcome.findings)")
    }
  }
}
