import FoundationEssentials
import Glibc

/// The directory in which the stores lie while they are measured.
struct Scratch {
  let path: String

  /// Takes a directory that is missing, or is left over from a run that was cut short.
  init(_ directory: String) throws {
    path = "\(directory)/scratch"
    try empty(path)
  }

  /// Makes a directory, or removes what is in it.
  func empty(_ directory: String) throws {
    try? FileManager.default.removeItem(atPath: directory)
    try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
  }

  func write(_ bytes: [UInt8], _ name: String) throws -> String {
    try Data(bytes).write(to: URL(filePath: "\(path)/\(name)"))
    return "\(path)/\(name)"
  }

  func remove() throws {
    try FileManager.default.removeItem(atPath: path)
  }

  static func size(ofFile path: String) throws -> Int {
    var status = stat()
    guard lstat(path, &status) == 0 else { throw BenchError("\(path) can't be looked at") }
    return Int(status.st_size)
  }

  /// The bytes of every file below a directory.
  static func size(of directory: String) throws -> Int {
    var total = 0
    for name in try FileManager.default.contentsOfDirectory(atPath: directory) {
      let path = "\(directory)/\(name)"
      total += isDirectory(path) ? try size(of: path) : try size(ofFile: path)
    }
    return total
  }

  private static func isDirectory(_ path: String) -> Bool {
    var status = stat()
    return lstat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFDIR
  }
}
