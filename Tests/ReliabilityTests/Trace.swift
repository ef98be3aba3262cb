import CDTTestSupport
import Foundation

/// A change of the files below a directory, or a mark, as the library `CDTFaults` has traced it.
enum FileChange {
  case create(String)
  case write(String, offset: Int, [UInt8])
  case truncate(String, size: Int)
  /// The content of a file, or the entries of a directory, were put on the disk.
  case sync(String)
  case remove(String)
  case rename(String, to: String)
  case makeDirectory(String)
  case removeDirectory(String)
  case mark(Int)
}

/// Reads the file of a trace. `Trace.c` writes it.
enum Trace {
  struct Damaged: Error {}

  /// - Parameter directory: The watched directory; paths are relative to it.
  static func read(_ path: String, below directory: String) throws -> [FileChange] {
    let bytes = [UInt8](try Data(contentsOf: URL(filePath: path)))
    var changes: [FileChange] = []
    var position = 0
    func take(_ count: Int) throws -> ArraySlice<UInt8> {
      guard position + count <= bytes.count else { throw Damaged() }
      defer { position += count }
      return bytes[position..<position + count]
    }
    func integer(_ count: Int) throws -> Int {
      Int(truncatingIfNeeded: try take(count).reversed().reduce(UInt64(0)) { $0 << 8 | UInt64($1) })
    }
    func name(_ count: Int) throws -> String {
      String(String(decoding: try take(count), as: UTF8.self).dropFirst(directory.count).drop { $0 == "/" })
    }
    while position < bytes.count {
      let kind = UnicodeScalar(UInt8(try integer(1)))
      let (pathLength, otherLength) = (try integer(2), try integer(2))
      let (number, length) = (try integer(8), try integer(4))
      let (path, other) = (try name(pathLength), try name(otherLength))
      let data = Array(try take(length))
      switch kind {
      case "C": changes.append(.create(path))
      case "W": changes.append(.write(path, offset: number, data))
      case "T": changes.append(.truncate(path, size: number))
      case "S": changes.append(.sync(path))
      case "U": changes.append(.remove(path))
      case "R": changes.append(.rename(path, to: other))
      case "M": changes.append(.makeDirectory(path))
      case "D": changes.append(.removeDirectory(path))
      case "K": changes.append(.mark(number))
      default: throw Damaged()
      }
    }
    return changes
  }
}
