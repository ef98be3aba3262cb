import CDTTestSupport
import FoundationEssentials

/// Starts programs with an environment that does not depend on the one of the tests.
enum Program {
  static func start(
    _ path: String, _ arguments: [String], directory: String, environment: [String: String] = [:],
    input: SpawnedProcess.Stream, output: SpawnedProcess.Stream, errors: SpawnedProcess.Stream
  ) throws -> SpawnedProcess {
    var variables = ["PATH": "\(Built.directory):/usr/local/bin:/usr/bin:/bin", "LC_ALL": "C.UTF-8"]
    variables.merge(environment) { $1 }
    // A sanitizer of the tests is one of the program's, too, and so are the libraries that they load.
    for name in ["ASAN_OPTIONS", "LSAN_OPTIONS", "TSAN_OPTIONS", "LD_LIBRARY_PATH"] {
      variables[name] = ProcessInfo.processInfo.environment[name]
    }
    return try SpawnedProcess(
      path, arguments, in: directory, environment: variables, input: input, output: output, errors: errors)
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
