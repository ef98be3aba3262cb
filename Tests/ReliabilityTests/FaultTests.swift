import CDTTestSupport
import Foundation
import Testing

/// Wherever the system or SQLite's allocator fails, the error says so, nothing is lost, the next attempt works, and no file
/// stays open.
///
/// `cdt-crashtest faults` does every operation again and again, while another call of another kind fails each time. `make test-more`
/// tries some calls of each kind in each operation, `make torture` all of them.
@Suite(.timeLimit(.minutes(600))) struct FaultTests {
  @Test func `a failing call gives an error that says so, and nothing is lost`() throws {
    try run(["\(Torture.faults)"])
  }

  @Test(arguments: ["encrypted-faults", "encrypted-faults-small"])
  func `the same is true of an encrypted datastore, also if transactions are larger than the cache`(
    _ command: String
  ) throws {
    try run(["\(Torture.faults)"], command)
  }

  @Test(arguments: ["faults-small", "encrypted-faults-small"])
  func `a full disk is told also if SQLite writes pages in order to read others`(_ command: String) throws {
    try run(["1", "force insert", "write", "0"], command)
  }

  @Test(arguments: ["open", "find after opening"])
  func `every file that can't be opened is told with the reason`(_ operation: String) throws {
    try run(["1", operation, "open", "0"])
  }

  private func run(_ arguments: [String], _ command: String = "faults") throws {
    try withTemporaryDirectory(inMemory: true) { scratch in
      let program = try BuiltProgram(
        "cdt-crashtest", [command, scratch, "\(Torture.seed)"] + arguments,
        faults: .init(directory: "\(scratch)/work"))
      var (last, problems) = ("", [String]())
      while let line = program.line() {
        if line.hasPrefix("PROBLEM ") { problems.append(line) } else { last = line }
        Torture.progress(line)
      }
      #expect(try program.end().status == 0, "it ended in: \(last)")
      #expect(problems == [], "seed \(Torture.seed)")
      #expect(last.hasPrefix("tried "))
    }
  }
}
