import CDTDatastore
import CDTTestSupport
import CDTWorkloads
import Foundation
import Testing

/// The power fails at any moment. With full durability everything that was acknowledged is there, and the write in progress
/// is there as a whole or not at all. With normal durability the last writes may be missing.
///
/// A process runs a workload, and what it changes on the disk is traced. From the trace, the files are made as a power
/// failure may leave them (``SimulatedDisk``), opened, and checked.
///
/// `make test-more` tries 1,000 crash points; `make torture POINTS=5000` tries more.
@Suite(.timeLimit(.minutes(120))) struct PowerLossTests {
  struct Case: Sendable, CustomTestStringConvertible {
    let workload: Workload
    let durability: DatastoreOptions.Durability
    var fixture: String?
    var isEncrypted = false
    /// Whether SQLite's caches have ten pages.
    var isSmall = false

    var testDescription: String {
      "\(fixture ?? "\(workload)"), \(durability)\(isEncrypted ? ", encrypted" : "")\(isSmall ? ", small caches" : "")"
    }

    /// For `cdt-crashtest`.
    var form: String {
      (isEncrypted ? "encrypted" : durability == .full ? "full" : "normal") + (isSmall ? "-small" : "")
    }
  }

  static let cases =
    Workload.all.flatMap { workload in
      [
        Case(workload: workload, durability: .full), Case(workload: workload, durability: .normal),
        Case(workload: workload, durability: .full, isEncrypted: true),
        Case(workload: workload, durability: .full, isEncrypted: true, isSmall: true),
      ]
    }
    + fixtures.map { Case(workload: .all[0], durability: .full, fixture: $0) }

  /// A run of a workload, to be cut off anywhere.
  private struct Run {
    let start: SimulatedDisk
    let changes: [FileChange]
    var expected: Expectation
    let steps: Int
  }

  private static let steps = 25

  private func run(_ c: Case, seed: UInt64, in scratch: String) throws -> Run {
    let directory = "\(scratch)/stores"
    try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
    if let fixture = c.fixture { try copyFixture(fixture, to: directory) }
    let start = try SimulatedDisk(directory)
    let replayed = try SimulatedDisk(directory)
    // The state that the workload begins with, of a copy, as opening it upgrades it.
    let copy = "\(scratch)/copy"
    try FileManager.default.copyItem(atPath: directory, toPath: copy)
    let session = try Session(copy)
    let base = try StoreModel(reading: session.store)
    try session.close()

    let trace = "\(scratch)/trace"
    let program = try BuiltProgram(
      "cdt-crashtest",
      [
        "work", directory, "\(c.workload)", "\(seed)", "\(Self.steps)", c.form,
      ],
      faults: .init(directory: directory, trace: trace))
    #expect(try program.end().status == 0)
    let changes = try Trace.read(trace, below: directory)
    // If a change were missing in the trace, the files would differ.
    for change in changes { try replayed.apply(change) }
    let files = try SimulatedDisk(directory).contents
    #expect(replayed.contents == files, "the trace is not complete")
    return Run(
      start: start, changes: changes, expected: Expectation(c.workload, seed: seed, from: base),
      steps: Self.steps)
  }

  /// The problems after a power failure now, if the store should have the state after one of some steps.
  private func problems(
    of run: inout Run, in steps: ClosedRange<Int>, losing loss: SimulatedDisk.Loss,
    isIndexFileOld: Bool = false,
    _ scratch: String, _ random: inout SeededGenerator
  ) throws -> [String] {
    let directory = "\(scratch)/crashed"
    try run.start.write(to: directory, losing: loss, &random)
    let problems = problemsAfterCrash(in: directory, isIndexFileOld: isIndexFileOld) { found in
      try run.expected.problem(with: found, from: steps.lowerBound, to: steps.upperBound)
    }
    try FileManager.default.removeItem(atPath: directory)
    return problems
  }

  @Test(arguments: cases) func `acknowledged documents are there after a power failure`(_ c: Case) throws {
    try withTemporaryDirectory(inMemory: true) { scratch in
      let seed = Torture.seed &+ UInt64(c.testDescription.utf8.reduce(0) { $0 &* 31 &+ Int($1) } & 0xFFFF)
      var random = SeededGenerator(seed: seed)
      var run = try run(c, seed: seed, in: scratch)
      let count = max(1, Torture.points / Self.cases.count + 1)
      let points = (0..<count).map { _ in Int.random(in: 0...run.changes.count, using: &random) }.sorted()
      var (applied, acknowledged) = (0, -1)
      for (number, point) in points.enumerated() {
        while applied < point {
          let change = run.changes[applied]
          if case .mark(let step) = change { acknowledged = step }
          try run.start.apply(change)
          applied += 1
        }
        let loss = SimulatedDisk.Loss.allCases[number % SimulatedDisk.Loss.allCases.count]
        let first = c.durability == .full ? max(0, acknowledged) : 0
        let problems = try problems(
          of: &run, in: first...min(run.steps, acknowledged + 1), losing: loss,
          isIndexFileOld: c.durability == .normal || c.fixture != nil, scratch, &random)
        #expect(
          problems == [], "seed \(Torture.seed), change \(point) of \(run.changes.count), losing \(loss)")
      }
      Torture.progress("\(c.testDescription): \(count) power failures")
    }
  }

  @Test func `a file is whole if the power fails after the renames that put it in its place`() throws {
    try withTemporaryDirectory(inMemory: true) { scratch in
      let workload = try #require(Workload.named("deletion"))
      var random = SeededGenerator(seed: Torture.seed)
      var run = try run(
        Case(workload: workload, durability: .full, isEncrypted: true), seed: 1, in: scratch)
      var (acknowledged, renames, untried) = (-1, 0, 0)
      for change in run.changes {
        if case .mark(let step) = change { acknowledged = step }
        try run.start.apply(change)
        if case .rename(_, let path) = change, path.hasSuffix("/indexes.sqlite") {
          (renames, untried) = (renames + 1, 6)
        }
        guard untried > 0 else { continue }
        untried -= 1
        for _ in 0..<4 {
          let problems = try problems(
            of: &run, in: max(0, acknowledged)...min(run.steps, acknowledged + 1), losing: .some, scratch,
            &random)
          #expect(problems == [], "seed \(Torture.seed), rename \(renames)")
        }
      }
      #expect(renames > 1)
    }
  }

  /// If this failed, the tests above would not notice a store that forgets to sync.
  @Test func `a write that was not synced is lost when all unsynced changes are`() throws {
    try withTemporaryDirectory(inMemory: true) { scratch in
      let c = Case(workload: .all[1], durability: .normal)
      var random = SeededGenerator(seed: 1)
      var run = try run(c, seed: 1, in: scratch)
      var lost = 0
      for change in run.changes {
        try run.start.apply(change)
        guard case .mark(let acknowledged) = change, acknowledged > 0 else { continue }
        let problems = try problems(
          of: &run, in: acknowledged...acknowledged, losing: .all, isIndexFileOld: true, scratch, &random)
        if !problems.isEmpty { lost += 1 }
      }
      #expect(lost > 5)
    }
  }
}
