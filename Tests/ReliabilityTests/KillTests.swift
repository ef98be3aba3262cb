import CDTDatastore
import CDTTestSupport
import CDTWorkloads
import Foundation
import Glibc
import Testing

/// A process that is killed at any moment loses nothing that it has acknowledged, and harms nothing.
///
/// Half of the processes are killed from outside, after a random time; the others before a random change of the disk, which
/// finds moments that are short. `make test-more` kills 25, `make torture KILLS=500` as many as it is told.
@Suite(.timeLimit(.minutes(120))) struct KillTests {
  /// Kills a process that runs a workload.
  ///
  /// - Returns: The last step that it has acknowledged; -1 before it has opened the datastore.
  private static func kill(
    _ workload: Workload, seed: UInt64, _ form: String, in directory: String,
    _ random: inout SeededGenerator
  ) throws -> Int {
    let arguments = ["work", directory, "\(workload)", "\(seed)", "0", form]
    var last: String?
    if Bool.random(using: &random) {
      let change = Int.random(in: 1...(Bool.random(using: &random) ? 60 : 900), using: &random)
      let program = try BuiltProgram(
        "cdt-crashtest", arguments, faults: .init(directory: directory, killedAtChange: change))
      while let line = program.line() { last = line }
      #expect(try program.end().status == -SIGKILL)
    } else {
      let program = try BuiltProgram("cdt-crashtest", arguments)
      for _ in 0..<Int.random(in: 0..<12, using: &random) { last = program.line() ?? last }
      usleep(UInt32.random(in: 0..<10_000, using: &random))
      last = program.kill() ?? last
    }
    return last.flatMap { Int($0) } ?? -1
  }

  /// Opens a datastore as a reader does who knows nothing, and closes it.
  private static func state(in directory: String) throws -> StoreModel {
    let session = try Session(directory)
    defer { try? session.close() }
    return try StoreModel(reading: session.store)
  }

  @Test func `a killed process has kept every acknowledged step, and the next goes on`() throws {
    let count = (Torture.kills + 1) / 2
    var random = SeededGenerator(seed: Torture.seed)
    try withTemporaryDirectory(inMemory: true) { scratch in
      for number in 0..<count {
        let directory = "\(scratch)/stores"
        let workload = Workload.all[number % Workload.all.count]
        let fixture = number % 5 == 4 ? fixtures.randomElement(using: &random) : nil
        // Most go on with what the one before has left; some begin with nothing, or with an earlier version.
        if fixture != nil || number % 4 == 0 { try? FileManager.default.removeItem(atPath: directory) }
        try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
        if let fixture { try copyFixture(fixture, to: directory) }
        // The state is read from a copy: opening the datastore would do what is to be interrupted.
        let copy = "\(scratch)/copy"
        try FileManager.default.copyItem(atPath: directory, toPath: copy)
        let base = try Self.state(in: copy)
        try FileManager.default.removeItem(atPath: copy)

        let seed = random.next()
        // The next ones go on with an encrypted datastore.
        let form = fixture == nil && number % 8 == 0 ? "encrypted" : "full"
        // Every other one has caches of ten pages.
        let acknowledged = try Self.kill(
          workload, seed: seed, form + (number / 2 % 2 == 0 ? "-small" : ""), in: directory, &random)
        var expected = Expectation(workload, seed: seed, from: base)
        let problems = problemsAfterCrash(in: directory, isIndexFileOld: fixture != nil) { found in
          try expected.problem(with: found, from: max(0, acknowledged), to: acknowledged + 1)
        }
        #expect(
          problems == [], "seed \(Torture.seed), kill \(number), \(workload), \(fixture ?? "no fixture")")
        let left = try FileManager.default.contentsOfDirectory(atPath: directory).filter {
          $0 != Session.name
        }
        #expect(left == [], "seed \(Torture.seed), kill \(number)")
        if number % 25 == 24 { Torture.progress("\(number + 1) of \(count) processes killed") }
      }
    }
  }
}
