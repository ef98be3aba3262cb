import CDTTestSupport
import Foundation
import Glibc

/// A run on a pseudo-terminal: what the program takes for the terminal of a person.
final class TerminalRun {
  struct Failure: Error {
    let seen: String
  }

  private let terminal: Terminal
  private let process: SpawnedProcess
  private(set) var seen = ""
  private var isStuck = false

  /// - Parameter environment: Variables besides those of this process.
  init(
    _ arguments: [String], in directory: ServerDirectory, environment: [String: String] = [:]
  ) throws {
    terminal = try Terminal()
    let program = SpawnedProcess.Stream.descriptor(terminal.program)
    process = try SpawnedProcess(
      try ToolRun.program(), arguments, in: directory.path,
      environment: ProcessInfo.processInfo.environment.filter { $0.key != "CDTQUERY_PASSWORD" }
        .merging(environment) { $1 },
      input: program, output: program, errors: program)
    // Otherwise its end would not be seen.
    close(terminal.program)
  }

  deinit {
    close(terminal.person)
  }

  func type(_ text: String) {
    _ = Array(text.utf8).withUnsafeBytes { write(terminal.person, $0.baseAddress, $0.count) }
  }

  /// Interrupts the program, as Ctrl-C does.
  func interrupt() { process.send(SIGINT) }

  /// Waits until the text has been shown after what was seen before.
  func wait(for text: String) throws {
    let start = seen.endIndex
    while !seen[start...].contains(text) {
      guard readMore() else { throw Failure(seen: seen) }
    }
  }

  /// Waits for the end, and gives the status, or the signal that ended it as a negative number.
  func end() -> Int32 {
    while readMore() {}
    return status()
  }

  /// Waits for the end without reading what is shown.
  func status() -> Int32 {
    // One that does not end by itself would block the tests.
    if isStuck { process.send(SIGKILL) }
    return process.wait()
  }

  /// Keeps the terminal as the program leaves it while the closure runs.
  func keepingTerminal<R>(_ body: () throws -> R) rethrows -> R {
    let descriptor = open(terminal.path, O_RDWR | O_NOCTTY | O_CLOEXEC)
    defer { close(descriptor) }
    return try body()
  }

  /// Whether the terminal shows what is typed.
  var echoes: Bool {
    var settings = termios()
    return tcgetattr(terminal.person, &settings) == 0 && settings.c_lflag & tcflag_t(ECHO) != 0
  }

  /// `false` at the end. A program that says nothing for a minute is stuck.
  private func readMore() -> Bool {
    var wait = pollfd(fd: terminal.person, events: Int16(POLLIN), revents: 0)
    guard poll(&wait, 1, 60_000) > 0 else {
      isStuck = true
      return false
    }
    var chunk = [UInt8](repeating: 0, count: 4_096)
    let count = read(terminal.person, &chunk, chunk.count)
    guard count > 0 else { return false }
    seen += String(decoding: chunk[..<count], as: UTF8.self)
    return true
  }
}
