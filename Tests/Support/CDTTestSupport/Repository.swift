package import Foundation

/// The location of the sources of this package, for tests that read them.
package enum Repository {
  package static let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent().deletingLastPathComponent()

  /// A page of the documentation.
  package static func page(_ name: String) throws -> String {
    try String(contentsOf: root.appending(path: "docs/\(name)"), encoding: .utf8)
  }

  /// The output of a command of the shell, in the root.
  package static func output(of command: String) throws -> Data {
    let process = Process()
    process.executableURL = URL(filePath: "/bin/sh")
    process.currentDirectoryURL = root
    process.arguments = ["-c", command]
    let output = Pipe()
    process.standardOutput = output
    try process.run()
    defer { process.waitUntilExit() }
    return try output.fileHandleForReading.readToEnd() ?? Data()
  }
}
