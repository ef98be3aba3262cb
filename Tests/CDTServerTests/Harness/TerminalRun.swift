import Foundation
import Glibc

/// A run on a pseudo-terminal: what the program takes for the terminal of a person.
final class TerminalRun {
  struct Failure: Error {
    let seen: String
  }

  private let person: Int32
  private let process: pid_t
  /// The program's end of the terminal.
  private let path: String
  private(set) var seen = ""
  private var isStuck = false

  // TIOCSPTLCK and TIOCGPTN, which are macros that Swift does not see.
  private static let setLock: UInt = 0x4004_5431
  private static let getNumber: UInt = 0x8004_5430

  init(_ arguments: [String], in directory: ServerDirectory) throws {
    person = open("/dev/ptmx", O_RDWR | O_NOCTTY | O_CLOEXEC)
    var locked: Int32 = 0
    var number: Int32 = 0
    guard person >= 0, ioctl(person, Self.setLock, &locked) == 0, ioctl(person, Self.getNumber, &number) == 0
    else { throw Failure(seen: "no pseudo-terminal") }
    path = "/dev/pts/\(number)"
    process = try Self.spawn(arguments, in: directory, terminal: path)
  }

  /// Starts the program with its signals as a shell leaves them: threads of the tests block them.
  private static func spawn(
    _ arguments: [String], in directory: ServerDirectory, terminal: String
  ) throws -> pid_t {
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    for descriptor in 0..<3 as Range<Int32> {
      posix_spawn_file_actions_addopen(&actions, descriptor, terminal, O_RDWR | O_NOCTTY, 0)
    }
    var attributes = posix_spawnattr_t()
    posix_spawnattr_init(&attributes)
    defer { posix_spawnattr_destroy(&attributes) }
    var signals = sigset_t()
    sigfillset(&signals)
    posix_spawnattr_setsigdefault(&attributes, &signals)
    sigemptyset(&signals)
    posix_spawnattr_setsigmask(&attributes, &signals)
    posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK))
    let words = ["env", "-u", "CDTQUERY_PASSWORD", "-C", directory.path, try ToolRun.program()] + arguments
    let pointers: [UnsafeMutablePointer<CChar>?] = words.map { strdup($0) }
    defer { for pointer in pointers { free(pointer) } }
    var process = pid_t()
    guard posix_spawn(&process, "/usr/bin/env", &actions, &attributes, pointers + [nil], environ) == 0 else {
      throw Failure(seen: "can't start the program")
    }
    return process
  }

  deinit {
    close(person)
  }

  func type(_ text: String) {
    _ = Array(text.utf8).withUnsafeBytes { write(person, $0.baseAddress, $0.count) }
  }

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
    var status: Int32 = 0
    if isStuck { kill(process, SIGKILL) }
    while waitpid(process, &status, 0) < 0, errno == EINTR {}
    return status & 0x7F == 0 ? (status >> 8) & 0xFF : -(status & 0x7F)
  }

  /// Keeps the terminal as the program leaves it while the closure runs.
  func keepingTerminal<R>(_ body: () throws -> R) rethrows -> R {
    let descriptor = open(path, O_RDWR | O_NOCTTY | O_CLOEXEC)
    defer { close(descriptor) }
    return try body()
  }

  /// Whether the terminal shows what is typed.
  var echoes: Bool {
    var settings = termios()
    return tcgetattr(person, &settings) == 0 && settings.c_lflag & tcflag_t(ECHO) != 0
  }

  /// `false` at the end. A program that says nothing for a minute is stuck.
  private func readMore() -> Bool {
    var wait = pollfd(fd: person, events: Int16(POLLIN), revents: 0)
    guard poll(&wait, 1, 60_000) > 0 else {
      isStuck = true
      return false
    }
    var chunk = [UInt8](repeating: 0, count: 4_096)
    let count = read(person, &chunk, chunk.count)
    guard count > 0 else { return false }
    seen += String(decoding: chunk[..<count], as: UTF8.self)
    return true
  }
}
