package import Foundation
import Glibc

/// A program of this package, which lies beside the tests, in a process of its own.
package final class BuiltProgram: @unchecked Sendable {
  // Sendable without a lock: it is handed on, not shared.
  private let process: SpawnedProcess
  private let output = Pipe()
  /// The end of the output that was read, if it is not a whole line yet.
  private var rest = Data()

  /// The directory of the programs and libraries.
  package static func directory() throws -> URL {
    let tests = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
    return URL(filePath: tests).deletingLastPathComponent()
  }

  /// Starts the program; its errors are shown among those of the tests.
  ///
  /// - Parameters:
  ///   - faults: The settings of the library `CDTFaults` in the program; see its header.
  ///   - usesSystemSQLite: Whether the program has the system's SQLite, also if the tests have another.
  package init(
    _ name: String, _ arguments: [String], faults: Faults? = nil, hidesErrors: Bool = false,
    usesSystemSQLite: Bool = false
  ) throws {
    let directory = try Self.directory()
    var environment = ProcessInfo.processInfo.environment
    if usesSystemSQLite { environment["LD_LIBRARY_PATH"] = nil }
    if let faults {
      environment["LD_PRELOAD"] = try FaultLibrary.path()
      // The program that prints them would be loaded with the library, too.
      environment["SWIFT_BACKTRACE"] = "enable=no"
      environment["CDT_FAULTS_DIRECTORY"] = faults.directory
      environment["CDT_FAULTS_TRACE"] = faults.trace
      environment["CDT_FAULTS_KILL"] = faults.killedAtChange.map(String.init)
    }
    process = try SpawnedProcess(
      directory.appending(path: name).path, arguments, environment: environment,
      output: .descriptor(output.fileHandleForWriting.fileDescriptor),
      errors: hidesErrors ? .file("/dev/null") : .inherited)
    try output.fileHandleForWriting.close()
  }

  package struct Faults {
    /// The directory whose files the library sees.
    package var directory: String
    /// The file for its trace.
    package var trace: String?
    /// The number of the change before which the process is killed.
    package var killedAtChange: Int?

    package init(directory: String, trace: String? = nil, killedAtChange: Int? = nil) {
      self.directory = directory
      self.trace = trace
      self.killedAtChange = killedAtChange
    }
  }

  /// The next line of its output; `nil` when it has ended.
  package func line() -> String? {
    while true {
      if let end = rest.firstIndex(of: UInt8(ascii: "\n")) {
        defer { rest = Data(rest[(end + 1)...]) }
        return String(decoding: rest[..<end], as: UTF8.self)
      }
      let more = output.fileHandleForReading.availableData
      if more.isEmpty { return nil }
      rest.append(more)
    }
  }

  /// Kills it, and gives the last line that it wrote after those that were read.
  package func kill() -> String? {
    process.send(SIGKILL)
    var last: String?
    while let line = line() { last = line }
    _ = process.wait()
    return last
  }

  /// Waits for the end, and gives the status, or the signal that ended it as a negative number, and all output.
  package func end() throws -> (status: Int32, output: String) {
    let data = try output.fileHandleForReading.readToEnd() ?? Data()
    return (process.wait(), String(decoding: rest + data, as: UTF8.self))
  }

  /// Waits for the end, without a thread of Swift's pool.
  package func ended() async throws -> (status: Int32, output: String) {
    try await withCheckedThrowingContinuation { continuation in
      Thread { continuation.resume(with: Result { try self.end() }) }.start()
    }
  }
}
