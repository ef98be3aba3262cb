import Glibc

/// `cdtquery` in a process of its own, at a free port.
final class ServerProcess {
  let address: ServerAddress

  private let process: pid_t

  /// Runs `body` with a server for the stores of a directory, and ends it as a service is ended.
  static func run<R>(
    _ program: Program, directory: String, _ body: (ServerProcess) throws -> R
  ) throws -> R {
    let server = try ServerProcess(program, directory: directory)
    defer {
      kill(server.process, SIGTERM)
      waitpid(server.process, nil, 0)
    }
    return try body(server)
  }

  /// Starts it, and waits until it listens.
  private init(_ program: Program, directory: String) throws {
    var ends: [Int32] = [0, 0]
    guard pipe(&ends) == 0 else { throw BenchError("no pipe") }
    for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
    defer { close(ends[0]) }
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    posix_spawn_file_actions_adddup2(&actions, ends[1], 2)
    // Also pages may use it, for PouchDB.
    let arguments = [program.path, "serve", directory, "--bind", "127.0.0.1:0", "--cors", "*", "--insecure"]
    var words = arguments.map { strdup($0) } + [nil]
    defer { for word in words { free(word) } }
    var process = pid_t()
    let status = posix_spawn(&process, program.path, &actions, nil, &words, environ)
    close(ends[1])
    guard status == 0 else { throw BenchError("\(program.path) can't be started") }
    self.process = process
    // The first line is `cdtquery: serving DIRECTORY at http://127.0.0.1:PORT`.
    let line = Self.line(of: ends[0])
    guard let port = line.split(separator: ":").last.flatMap({ UInt16($0) }) else {
      kill(process, SIGKILL)
      waitpid(process, nil, 0)
      throw BenchError("\(program.path): \(line)")
    }
    address = ServerAddress(host: "127.0.0.1", port: port)
  }

  private static func line(of file: Int32) -> String {
    var line: [UInt8] = []
    var byte: UInt8 = 0
    while read(file, &byte, 1) == 1, byte != UInt8(ascii: "\n") { line.append(byte) }
    return String(decoding: line, as: UTF8.self)
  }

  // MARK: What it takes

  /// The memory that is resident now, the files included that it maps.
  func residentBytes() throws -> Int { try Self.bytes("VmRSS:", of: process) }

  /// The most memory that was resident at once.
  func peakBytes() throws -> Int { try Self.bytes("VmHWM:", of: process) }

  private static func bytes(_ name: String, of process: pid_t) throws -> Int {
    let lines = Machine.text("/proc/\(process)/status")?.split(separator: "\n") ?? []
    guard let line = lines.first(where: { $0.hasPrefix(name) }),
      let kibibytes = line.split(whereSeparator: \.isWhitespace).dropFirst().first.flatMap({ Int($0) })
    else { throw BenchError("the system does not tell the memory of the server") }
    return kibibytes * 1_024
  }

  /// The time of all its threads on a processor, in nanoseconds.
  func processorTime() throws -> Int {
    var clock = clockid_t()
    var time = timespec()
    guard clock_getcpuclockid(process, &clock) == 0, clock_gettime(clock, &time) == 0 else {
      throw BenchError("the system does not tell the processor time of the server")
    }
    return time.tv_sec * 1_000_000_000 + time.tv_nsec
  }
}
