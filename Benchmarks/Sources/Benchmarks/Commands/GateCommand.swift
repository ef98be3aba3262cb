import ArgumentParser
import CSQLiteYardstick
import FoundationEssentials
import Glibc

struct GateCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "gate",
    abstract: "Count the instructions of operations, and fail if they differ from the accepted numbers.",
    discussion: """
      Each operation runs under valgrind in a process of its own, on 10,000 documents. Only the instructions of the thread \
      that asks are counted, SQLite's included. They depend on the compiler and on the version of SQLite.
      """)

  /// The operations, each with a request often enough that the first ones don't count.
  static let operations: [Operation] = [.q1, .q2, .q3, .q5, .q8, .update, .index]
  /// The difference that is still accepted, in percent.
  private static let tolerance = 3.0

  @Option(help: "The file of the accepted numbers.")
  var numbers = "Benchmarks/instructions.txt"
  @Flag(help: "Accept the numbers that are counted.")
  var accept = false
  @Option(help: "How many documents; the accepted numbers are of 10,000.")
  var documents = 10_000
  @OptionGroup var options: MeasuringOptions

  func run() throws {
    guard let valgrind = Program.installed("valgrind"), let strip = Program.installed("strip") else {
      throw BenchError("valgrind or strip is not installed")
    }
    // Dictionaries are laid out alike in each run.
    setenv("SWIFT_DETERMINISTIC_HASHING", "1", 1)
    // The C library has other functions for other processors. Source: the GNU C Library's manual, Hardware Capability Tunables.
    setenv("GLIBC_TUNABLES", "glibc.cpu.hwcaps=-AVX2,-ERMS,-FSRM,-BMI2", 1)
    let scratch = try Scratch(options.directory)
    defer { try? scratch.remove() }
    try CountedCommand.makeStores(documents, in: scratch)
    // Old versions of valgrind can't read the debugging information.
    _ = try strip.run(
      [
        "--strip-debug", FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe"), "-o",
        Self.program(in: scratch),
      ], output: "\(scratch.path)/output")
    let accepted = try accept ? [:] : read()
    var (failed, lines) = (false, "")
    print("operation", "accepted", "counted", "difference", separator: "\t")
    for operation in Self.operations {
      let counted = try count(operation, valgrind, scratch)
      lines += "\(operation.rawValue) \(counted)\n"
      let difference = accepted[operation.rawValue].map { 100 * (Double(counted) / Double($0) - 1) }
      let percent = difference.map { "\(($0 * 10).rounded() / 10) %" } ?? "-"
      let before = accepted[operation.rawValue].map(String.init) ?? "-"
      print(operation.rawValue, before, counted, percent, separator: "\t")
      if !accept, !(abs(difference ?? .infinity) <= Self.tolerance) { failed = true }
    }
    if accept { try Data(lines.utf8).write(to: URL(filePath: numbers)) }
    guard !failed else {
      throw BenchError(
        "the numbers differ by more than \(Self.tolerance) %; `make bench-gate ACCEPT=1` accepts them")
    }
  }

  private static func program(in scratch: Scratch) -> String { "\(scratch.path)/Benchmarks" }

  private func read() throws -> [String: Int] {
    var accepted: [String: Int] = [:]
    for line in try String(contentsOf: URL(filePath: numbers), encoding: .utf8).split(separator: "\n") {
      let words = line.split(separator: " ")
      guard words.count == 2, let number = Int(words[1]), number > 0 else {
        throw BenchError("\(numbers) has the line \(line)")
      }
      accepted[String(words[0])] = number
    }
    return accepted
  }

  /// The instructions of one request.
  private func count(_ operation: Operation, _ valgrind: Program, _ scratch: Scratch) throws -> Int {
    let profile = "\(scratch.path)/callgrind.out"
    _ = try valgrind.run(
      [
        "--quiet", "--tool=callgrind", "--toggle-collect=counted_region", "--callgrind-out-file=\(profile)",
        Self.program(in: scratch), CountedCommand.configuration.commandName ?? "", operation.rawValue,
        scratch.path,
        "--documents", String(documents),
      ], output: "\(scratch.path)/output")
    let lines = try String(contentsOf: URL(filePath: profile), encoding: .utf8).split(separator: "\n")
    guard let total = lines.last(where: { $0.hasPrefix("totals: ") }), let number = Int(total.dropFirst(8))
    else { throw BenchError("\(profile) has no total") }
    return number / CountedCommand.requests(of: operation)
  }
}

/// The command that ``GateCommand`` runs under valgrind.
struct CountedCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "counted", abstract: "Run the requests of an operation.", shouldDisplay: false)

  @Argument var operation: Operation
  @Argument var directory: String
  @Option var documents = 10_000

  static func requests(of operation: Operation) -> Int {
    switch operation {
    case .q8, .q3: 10
    case .index: 1
    default: 300
    }
  }

  /// Makes a store for the queries and one to be indexed.
  static func makeStores(_ documents: Int, in scratch: Scratch) throws {
    let lines = Workload(count: documents).documents
    let file = try scratch.write(lines.text, "docs.jsonl")
    for store in ["indexed", "bare"] {
      try scratch.empty("\(scratch.path)/\(store)")
      let ours = try Ours(directory: "\(scratch.path)/\(store)")
      if store == "indexed" { try ours.fill(lines, file: file) } else { try ours.load(lines, file: file) }
      ours.close()
    }
  }

  func run() throws {
    let ours = try Ours(directory: "\(directory)/\(operation == .index ? "bare" : "indexed")")
    defer { ours.close() }
    let count = Self.requests(of: operation)
    switch operation {
    case .index: try counted { try ours.createIndexes() }
    case .update:
      let updates = Workload(count: documents).updates
      func update(_ numbers: Range<Int>) throws {
        for number in numbers { try ours.replace(number..<number + 1, of: updates) }
      }
      // A process that has indexes uses them; without this, the updates would not touch them.
      try ours.settle()
      try update(count..<count + 50)
      try counted { try update(0..<count) }
    default:
      let distinct = Workload.parameters(count: documents).requests(of: operation)
      func ask() throws {
        for number in 0..<count { try ours.count(distinct[number % distinct.count]) }
      }
      // A process that queries also reads the state of the indexes with each document.
      try ours.count(.documents(limit: 1))
      try ask()
      try counted(ask)
    }
  }

  private func counted(_ body: () throws -> Void) throws {
    var result = Result<Void, any Error>.success(())
    withoutActuallyEscaping(body) { body in
      var run = { result = Result { try body() } }
      withUnsafeMutablePointer(to: &run) { run in
        counted_region({ $0?.assumingMemoryBound(to: (() -> Void).self).pointee() }, run)
      }
    }
    try result.get()
  }
}

extension Operation: ExpressibleByArgument {}
