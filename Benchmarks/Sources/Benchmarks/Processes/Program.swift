import Glibc

/// A program that is run as a user runs it, as a process of its own.
struct Program {
  let path: String

  /// The cost of a run of a program.
  struct Cost: Codable {
    /// Time on a processor, in nanoseconds.
    let processor: Int
    /// Time on the wall, in nanoseconds.
    let wall: Int
    /// The most memory that was resident at once, or `nil` where that was less than this process has: Linux counts that of
    /// the process that starts another process, too.
    let peakBytes: Int?
  }

  init(_ path: String) throws {
    guard access(path, X_OK) == 0 else { throw BenchError("\(path) is no program; build it first") }
    self.path = path
  }

  /// A program found by its name, if it is installed.
  static func installed(_ name: String) -> Program? {
    ["/usr/bin", "/usr/local/bin", "/bin"].lazy.compactMap { try? Program("\($0)/\(name)") }.first
  }

  /// Starts the program, its output in a file.
  private func start(_ arguments: [String], output: String) throws -> pid_t {
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
    posix_spawn_file_actions_addopen(&actions, 1, output, O_WRONLY | O_CREAT | O_TRUNC, 0o600)
    var words = ([path] + arguments).map { strdup($0) } + [nil]
    defer { for word in words { free(word) } }
    var child = pid_t()
    guard posix_spawn(&child, path, &actions, nil, &words, environ) == 0 else {
      throw BenchError("\(path) can't be started")
    }
    return child
  }

  /// Runs `body` while the program runs, which is interrupted then.
  func run<R>(_ arguments: [String], output: String, during body: () throws -> R) throws -> R {
    let child = try start(arguments, output: output)
    defer {
      kill(child, SIGINT)
      waitpid(child, nil, 0)
    }
    return try body()
  }

  /// Runs the program to its end, its output in a file.
  func run(_ arguments: [String], output: String) throws -> Cost {
    let start = Clock.monotonic.now
    let child = try self.start(arguments, output: output)
    var (status, usage) = (Int32(), rusage())
    guard wait4(child, &status, 0, &usage) == child, status == 0 else {
      throw BenchError("\(path) \(arguments.joined(separator: " ")) ended with status \(status)")
    }
    let wall = Clock.monotonic.now - start
    var own = rusage()
    getrusage(RUSAGE_SELF.rawValue, &own)
    let peak = usage.ru_maxrss > own.ru_maxrss ? Int(usage.ru_maxrss) * 1_024 : nil
    return Cost(
      processor: Self.nanoseconds(usage.ru_utime) + Self.nanoseconds(usage.ru_stime), wall: Int(wall),
      peakBytes: peak)
  }

  private static func nanoseconds(_ time: timeval) -> Int {
    Int(time.tv_sec) * 1_000_000_000 + Int(time.tv_usec) * 1_000
  }
}
