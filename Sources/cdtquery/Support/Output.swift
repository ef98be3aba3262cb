import CDTPlatform
import Synchronization

/// Standard output: written in large pieces, every failure noticed.
final class Output: Sendable {
  static let standard = Output(.standardOutput)

  enum Failure: Error, CustomStringConvertible {
    case closedPipe
    case system(String)

    var description: String {
      switch self {
      case .closedPipe: "the output was closed"
      case .system(let reason): "can't write the output: \(reason); see to where it goes, and run this again"
      }
    }
  }

  private let file: OpenFile
  private let buffer = Mutex<[UInt8]>([])
  private static let capacity = 64 * 1024

  private init(_ file: OpenFile) {
    self.file = file
  }

  func line(_ text: String) throws(Failure) {
    var text = text
    let result: Result<Void, Failure> = text.withUTF8 { bytes in
      do throws(Failure) {
        return .success(try line(UnsafeRawBufferPointer(bytes)))
      } catch {
        return .failure(error)
      }
    }
    try result.get()
  }

  func line(_ bytes: UnsafeRawBufferPointer) throws(Failure) {
    let isFull = buffer.withLock { buffer in
      buffer.append(contentsOf: bytes)
      buffer.append(UInt8(ascii: "\n"))
      return buffer.count >= Self.capacity
    }
    if isFull { try flush() }
  }

  /// Writes bytes as they are.
  func write(_ bytes: UnsafeRawBufferPointer) throws(Failure) {
    let isFull = buffer.withLock { buffer in
      buffer.append(contentsOf: bytes)
      return buffer.count >= Self.capacity
    }
    if isFull { try flush() }
  }

  func flush() throws(Failure) {
    let bytes = buffer.withLock { buffer in
      defer { buffer.removeAll(keepingCapacity: true) }
      return buffer
    }
    try write(bytes)
  }

  private func write(_ bytes: [UInt8]) throws(Failure) {
    do {
      try bytes.withUnsafeBufferPointer { bytes throws(SystemError) in
        try file.write(UnsafeRawBufferPointer(bytes))
      }
    } catch {
      throw error.isClosedPipe ? .closedPipe : .system(error.description)
    }
  }

  /// Standard output for `-`, or a file, which is replaced.
  static func writing(to file: String) throws(ToolError) -> Output {
    if file == "-" { return standard }
    do {
      return Output(try OpenFile(file, for: .replacing))
    } catch {
      throw ToolError(.cantCreate, "can't create \(file): \(error); check the path and its permissions")
    }
  }
}

/// What is said on standard error.
enum Message {
  static func write(_ text: String) {
    raw(text.hasSuffix("\n") ? text : text + "\n")
  }

  /// Writes without a line feed. Nobody can be told that standard error is closed.
  static func raw(_ text: String) {
    var text = text
    text.withUTF8 { try? OpenFile.standardError.write(UnsafeRawBufferPointer($0)) }
  }
}
