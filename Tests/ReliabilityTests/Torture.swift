import CDTTestSupport
import CDTWorkloads
import Foundation
import Testing

/// How long the tests of this module take: a sample in `make test-more`, as much as one likes in `make torture`.
enum Torture {
  /// A number that `make torture` sets.
  private static func setting(_ name: String) -> Int? {
    ProcessInfo.processInfo.environment[name].flatMap { Int($0) }
  }

  static let isWhole = setting("TORTURE") != nil

  /// The number of processes to kill.
  static let kills = setting("TORTURE_KILLS") ?? 25
  /// The number of crash points of power failures.
  static let points = setting("TORTURE_POINTS") ?? 1_000
  /// The number of calls of each kind to fail in each operation; 0 for all.
  static let faults = setting("TORTURE_FAULTS") ?? 1
  /// A failure prints it.
  static let seed: UInt64 = {
    let given = ProcessInfo.processInfo.environment["TORTURE_SEED"].flatMap { UInt64($0) }
    let seed = given ?? (isWhole ? .random(in: 1..<1_000_000) : 1)
    progress("seed \(seed)")
    return seed
  }()

  /// Says on a line of its own how far a long run is.
  static func progress(_ text: @autoclosure () -> String) {
    if isWhole { print("torture: \(text())") }
  }
}

/// The files of a datastore of an earlier version, in the directory of a manager.
func copyFixture(_ name: String, to directory: String) throws {
  let source = Repository.root.appending(path: "Tests/CDTDatastoreTests/Storage/Fixtures/\(name)").path
  let target = "\(directory)/\(Session.name)"
  try FileManager.default.createDirectory(atPath: target, withIntermediateDirectories: true)
  for file in ["db.sync", "extensions"] where FileManager.default.fileExists(atPath: "\(source)/\(file)") {
    try FileManager.default.copyItem(atPath: "\(source)/\(file)", toPath: "\(target)/\(file)")
  }
}

let fixtures = ["schema-v1", "schema-v2", "schema-v3", "schema-v4", "schema-v5", "schema-v6"]
