import Foundation

/// A program of this package, which lies beside the tests.
package struct BuiltProgram: Sendable {
  private let process = Process()
  private let output = Pipe()

  /// Starts the program; its errors are shown among those of the tests.
  package init(_ name: String, _ arguments: [String]) throws {
    let tests = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
    process.executableURL = URL(filePath: tests).deletingLastPathComponent().appending(path: name)
    process.arguments = arguments
    process.standardOutput = output
    try process.run()
  }

  /// Waits for the end, without a thread of Swift's pool, and gives the status and all output.
  package func ended() async throws -> (status: Int32, output: String) {
    try await withCheckedThrowingContinuation { continuation in
      Thread {
        continuation.resume(
          with: Result {
            let data = try output.fileHandleForReading.readToEnd() ?? Data()
            process.waitUntilExit()
            return (process.terminationStatus, String(decoding: data, as: UTF8.self))
          })
      }.start()
    }
  }
}
