import Foundation

/// Makes a new directory.
///
/// - Parameter inMemory: Whether it is in memory, where the system has a place for that: what need not last need not wait for a
///   disk.
package func temporaryDirectory(inMemory: Bool = false) throws -> String {
  let memory = "/dev/shm"
  let parent =
    inMemory && FileManager.default.isWritableFile(atPath: memory)
    ? URL(filePath: memory) : FileManager.default.temporaryDirectory.resolvingSymlinksInPath()
  let path = parent.appending(path: "cdt-\(UUID().uuidString)").path
  try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
  return path
}

/// Removes a directory, if it is still there.
package func removeDirectory(_ path: String) {
  try? FileManager.default.removeItem(atPath: path)
}

/// Runs `body` with a new directory, which is removed afterwards.
package func withTemporaryDirectory<R>(
  inMemory: Bool = false, _ body: (String) throws -> R
) throws -> R {
  let path = try temporaryDirectory(inMemory: inMemory)
  defer { removeDirectory(path) }
  return try body(path)
}

/// Makes a temporary directory for an asynchronous test.
package func withTemporaryDirectory<R>(
  inMemory: Bool = false, _ body: (String) async throws -> R
) async throws -> R {
  let path = try temporaryDirectory(inMemory: inMemory)
  defer { removeDirectory(path) }
  return try await body(path)
}
