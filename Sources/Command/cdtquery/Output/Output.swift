import CDTJSON
import CDTPlatform
import Synchronization

/// Buffered standard output, or a buffered file, that reports every write error.
final class Output: Sendable {
  static let standard = Output(.standardOutput)

  enum Failure: ReportedError, CustomStringConvertible {
    case closedPipe
    case system(String)

    var exitStatus: ExitStatus { .io }

    var description: String {
      switch self {
      case .closedPipe: "the output was closed"
      case .system(let reason): "can't write the output: \(reason); check its destination and try again"
      }
    }
  }

  private let file: OpenFile
  /// The file that takes its place at a path when everything has been written; `nil` for what is written in place.
  private let draft: (file: DraftFile, path: String, target: String)?
  private let buffer = Mutex<[UInt8]>([])
  private static let capacity = 64 * 1024

  private init(_ file: OpenFile) {
    self.file = file
    draft = nil
  }

  /// Opens a file for writing, or standard output for `-`. Nothing has happened to the file before ``finish()``, unless it
  /// is not a regular one, such as a pipe.
  static func opening(_ path: String) throws -> Output {
    path == "-" ? standard : try Output(path)
  }

  private init(_ path: String) throws {
    // A symbolic link stays, and the file that it leads to is replaced.
    let target = URL(filePath: path).resolvingSymlinksInPath().path
    let kind = try ToolError.perform("read", path) { () throws(SystemError) in try Files.kind(of: target) }
    if kind ?? .file == .file {
      // Nobody else can read the draft of a file that is private.
      let draft = try ToolError.perform("create", path) { () throws(SystemError) in
        try DraftFile(for: target, isPrivate: kind != nil)
      }
      file = draft.file
      self.draft = (draft, path, target)
    } else {
      file = try ToolError.perform("create", path) { () throws(SystemError) in
        try OpenFile(path, for: .replacing)
      }
      draft = nil
    }
  }

  /// Ends the output. A file is replaced as a whole when everything has been written and synced; after a failure it is as
  /// it was.
  ///
  /// - Parameter keepsFormer: Whether the file of before stays, beside the new one.
  /// - Returns: The path of the file of before, if it was kept.
  @discardableResult func finish(keepsFormer: Bool = false) throws -> String? {
    try flush()
    guard let (draft, path, target) = draft else { return nil }
    let former = "\(target).complete"
    try ToolError.perform("write", path) { () throws(SystemError) in try draft.file.synchronize() }
    try ToolError.perform("replace", path) { () throws(SystemError) in
      try draft.file.copyPermissions(of: target)
      if keepsFormer, try Files.kind(of: target) == .file, try Files.kind(of: former) == nil {
        try Files.rename(target, to: former)
      }
      try draft.publish()
    }
    // A directory that can't be read can't be synced.
    try? Files.synchronizeDirectory(of: target)
    return keepsFormer && (try? Files.kind(of: former)) == .file ? former : nil
  }

  /// Writes a line. On a terminal, characters that would control it are replaced.
  func line(_ text: String) throws(Failure) {
    var text = file === OpenFile.standardOutput && Terminal.isShown ? Terminal.printable(text) : text
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

  /// Writes JSON on a line: over several with indentation, and in colors on a terminal.
  func json(_ object: JSONObject, isPretty: Bool = false) throws(Failure) {
    try json(object.utf8Text, isPretty: isPretty)
  }

  func json(_ text: UnsafeRawBufferPointer) throws(Failure) {
    try json(Array(text), isPretty: false)
  }

  private func json(_ text: [UInt8], isPretty: Bool) throws(Failure) {
    let isShown = file === OpenFile.standardOutput && Terminal.isShown
    var text = isShown ? text.withUnsafeBytes(Terminal.printableJSON) : text
    if isPretty || isShown {
      var printer = JSONPrinter(isPretty: isPretty, isColored: isShown && Terminal.hasColors)
      text = text.withUnsafeBytes { printer.text(of: $0) }
    }
    let result: Result<Void, Failure> = text.withUnsafeBytes { bytes in
      do throws(Failure) {
        return .success(try line(bytes))
      } catch {
        return .failure(error)
      }
    }
    try result.get()
  }

  /// Writes bytes unchanged.
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
}

/// Messages on standard error.
enum Message {
  /// Writes a line, without the passwords of URLs in it: an error may quote an argument.
  static func write(_ text: String) {
    let text = Terminal.printable(withoutPasswords(text))
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
  static func raw(_ text: String) {
    var text = text
    text.withUTF8 { try? OpenFile.standardError.write(UnsafeRawBufferPointer($0)) }
  }
}
