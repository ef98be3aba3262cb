import CDTTestSupport
import FoundationEssentials
import Glibc

/// A temporary directory, which is removed with the object.
final class ServerDirectory: Sendable {
  let path: String

  init() throws {
    path = try temporaryDirectory()
  }

  deinit {
    removeDirectory(path)
  }

  func path(_ name: String) -> String { "\(path)/\(name)" }

  func write(_ text: String, to name: String, mode: mode_t = 0o600) throws {
    try Data(text.utf8).write(to: URL(filePath: path(name)))
    chmod(path(name), mode)
  }

  func text(_ name: String) throws -> String {
    String(decoding: try Data(contentsOf: URL(filePath: path(name))), as: UTF8.self)
  }

  /// The permissions of a file; `nil` if there is none.
  func mode(_ name: String) -> mode_t? {
    var status = stat()
    return lstat(path(name), &status) == 0 ? status.st_mode & 0o7777 : nil
  }

  func names() throws -> [String] { try FileManager.default.contentsOfDirectory(atPath: path).sorted() }
}
