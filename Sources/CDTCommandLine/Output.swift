import CDTPlatform
import Synchronization

/// Buffered standard output that reports every write error.
package final class Output: Sendable {
  package static let standard = Output(.standardOutput)

  package enum Failure: ReportedError, CustomStringConvertible {
    case closedPipe
    case system(String)

    package var exitStatus: ExitStatus { .io }

    package var description: String {
      switch self {
      case .closedPipe: "the output was closed"
      case .system(let reason): "can't write the output: \(reason); check its destination and try again"
      }
    }
  }

  private let file: OpenFile
  private let buffer = Mutex<[UInt8]>([])
  private static let capacity = 64 * 1024

  private init(_ file: OpenFile) {
    self.file = file
  }

  package func line(_ text: String) throws(Failure) {
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

  package func line(_ bytes: UnsafeRawBufferPointer) throws(Failure) {
    let isFull = buffer.withLock { buffer in
      buffer.append(contentsOf: bytes)
      buffer.append(UInt8(ascii: "\n"))
      return buffer.count >= Self.capacity
    }
    if isFull { try flush() }
  }

  /// Writes bytes unchanged.
  package func write(_ bytes: UnsafeRawBufferPointer) throws(Failure) {
    let isFull = buffer.withLock { buffer in
      buffer.append(contentsOf: bytes)
      return buffer.count >= Self.capacity
    }
    if isFull { try flush() }
  }

  package func flush() throws(Failure) {
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

  /// Writes to standard output for `-`, or to a file. A file is replaced as a whole when everything has been written and
  /// synced; after a failure it is as it was.
  package static func writing(to path: String, _ body: (Output) throws -> Void) throws {
    if path == "-" {
      try body(standard)
      return try standard.flush()
    }
    // A symbolic link stays, and the file that it leads to is replaced.
    let target = URL(filePath: path).resolvingSymlinksInPath().path
    let kind = try kind(of: target)
    guard kind ?? .file == .file else { return try writing(over: path, body) }
    // Nobody else can read the draft of a file that is private.
    let draft = try ToolError.perform("create", path) { () throws(SystemError) in
      try DraftFile(for: target, isPrivate: kind != nil)
    }
    let output = Output(draft.file)
    try body(output)
    try output.flush()
    try ToolError.perform("write", path) { () throws(SystemError) in try draft.file.synchronize() }
    try ToolError.perform("replace", path) { () throws(SystemError) in
      try draft.file.copyPermissions(of: target)
      try draft.publish()
    }
    // A directory that can't be read can't be synced.
    try? Files.synchronizeDirectory(of: target)
  }

  private static func kind(of path: String) throws(ToolError) -> FileStatus.Kind? {
    try ToolError.perform("read", path) { () throws(SystemError) in try Files.kind(of: path) }
  }

  /// Writes to what is not a regular file, such as a pipe.
  private static func writing(over path: String, _ body: (Output) throws -> Void) throws {
    let file = try ToolError.perform("create", path) { () throws(SystemError) in
      try OpenFile(path, for: .replacing)
    }
    let output = Output(file)
    try body(output)
    try output.flush()
  }
}

/// Messages on standard error.
package enum Message {
  /// Writes a line, without the passwords of URLs in it: an error may quote an argument.
  package static func write(_ text: String) {
    let text = withoutPasswords(text)
    raw(text.hasSuffix("\n") ? text : text + "\n")
  }

  /// The same text with `//ana:…@host` in place of `//ana:secret@host`.
  static func withoutPasswords(_ text: String) -> String {
    var rest = text[...]
    var result = ""
    while let slashes = rest.firstRange(of: "//") {
      result += rest[..<slashes.upperBound]
      rest = rest[slashes.upperBound...]
      let authority = rest.prefix { !$0.isWhitespace && !"/?#'\"".contains($0) }
      guard let at = authority.lastIndex(of: "@"), let colon = authority[..<at].firstIndex(of: ":") else {
        continue
      }
      result += rest[...colon] + "…"
      rest = rest[at...]
    }
    return result + rest
  }

  /// Writes without a line feed. A failure is ignored, as it can't be reported.
  package static func raw(_ text: String) {
    var text = text
    text.withUTF8 { try? OpenFile.standardError.write(UnsafeRawBufferPointer($0)) }
  }
}
