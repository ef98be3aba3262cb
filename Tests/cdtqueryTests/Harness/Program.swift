import FoundationEssentials
import Glibc

/// A run of a program that has begun.
struct Program {
  let pid: pid_t

  struct Failure: Error, CustomStringConvertible {
    let description: String
  }

  /// Where a standard stream of the program comes from or goes to.
  enum Stream {
    case file(String)
    case descriptor(Int32)
  }

  /// Starts a program. Its streams are the given ones, and nothing else of ours is open in it.
  ///
  static func start(
    _ path: String, _ arguments: [String], directory: String, environment: [String: String] = [:],
    input: Stream, output: Stream, errors: Stream
  ) throws -> Program {
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    for (number, stream, flags) in [
      (0, input, O_RDONLY), (1, output, O_WRONLY | O_CREAT | O_TRUNC),
      (2, errors, O_WRONLY | O_CREAT | O_TRUNC),
    ] {
      switch stream {
      case .file(let path):
        posix_spawn_file_actions_addopen(&actions, Int32(number), path, flags, 0o600)
      case .descriptor(let descriptor):
        posix_spawn_file_actions_adddup2(&actions, descriptor, Int32(number))
      }
    }

    // A test run in the background of a shell ignores interrupts, and threads of a pool block them; what a test
    // starts should do neither.
    var attributes = posix_spawnattr_t()
    posix_spawnattr_init(&attributes)
    defer { posix_spawnattr_destroy(&attributes) }
    var signals = sigset_t()
    sigfillset(&signals)
    posix_spawnattr_setsigdefault(&attributes, &signals)
    var mask = sigset_t()
    sigemptyset(&mask)
    posix_spawnattr_setsigmask(&attributes, &mask)
    posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK))

    var variables = ["PATH": "\(Built.directory):/usr/local/bin:/usr/bin:/bin", "LC_ALL": "C.UTF-8"]
    variables.merge(environment) { $1 }
    // A sanitizer of the tests is one of the program's, too, and so are the libraries that they load.
    for name in ["ASAN_OPTIONS", "LSAN_OPTIONS", "TSAN_OPTIONS", "LD_LIBRARY_PATH"] {
      variables[name] = ProcessInfo.processInfo.environment[name]
    }
    var pid = pid_t()
    let code = withCStrings(["env", "-C", directory, path] + arguments) { arguments in
      withCStrings(variables.map { "\($0.key)=\($0.value)" }) { variables in
        posix_spawn(&pid, "/usr/bin/env", &actions, &attributes, arguments, variables)
      }
    }
    guard code == 0 else {
      throw Failure(description: "can't start \(path): \(String(cString: strerror(code)))")
    }
    return Program(pid: pid)
  }

  /// How a program ended.
  enum Ending: Hashable {
    case exit(Int32)
    case signal(Int32)
  }

  /// Waits for the end.
  func wait() -> Ending {
    var status: Int32 = 0
    while waitpid(pid, &status, 0) < 0, errno == EINTR {}
    return status & 0x7F == 0 ? .exit((status >> 8) & 0xFF) : .signal(status & 0x7F)
  }

  private static func withCStrings<R>(
    _ strings: [String], _ body: ([UnsafeMutablePointer<CChar>?]) -> R
  ) -> R {
    let pointers: [UnsafeMutablePointer<CChar>?] = strings.map { strdup($0) }
    defer { for pointer in pointers { free(pointer) } }
    return body(pointers + [nil])
  }
}

/// What the build made, and what it was made from.
enum Built {
  /// The directory of the executables: the one that the test bundle lies in.
  static let directory: String = {
    var directory = URL(filePath: CommandLine.arguments[0]).deletingLastPathComponent()
    while directory.path.count > 1 {
      if FileManager.default.isExecutableFile(atPath: directory.appending(path: "cdtquery").path) {
        return directory.path
      }
      directory.deleteLastPathComponent()
    }
    return package + "/.build/debug"
  }()

  static let cdtquery = directory + "/cdtquery"

  /// The package's directory.
  static let package: String = {
    var directory = URL(filePath: #filePath)
    for _ in 0..<4 { directory.deleteLastPathComponent() }
    return directory.path.count > 1 && directory.path.hasSuffix("/")
      ? String(directory.path.dropLast()) : directory.path
  }()
}
