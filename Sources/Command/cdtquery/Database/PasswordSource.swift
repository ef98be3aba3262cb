import CDTPlatform

/// The source of a password: a file, the environment, a prompt on the terminal, or standard input. Never an argument,
/// which other users of the system can see.
struct PasswordSource {
  static let variable = "CDTQUERY_PASSWORD"
  private static let maximumLength = 4_096

  /// `-` is standard input; without a file, the variable comes first.
  let file: String?

  /// Whether the password comes from standard input that is not a terminal.
  var isStandardInput: Bool {
    if let file { return file == "-" }
    return ProcessInfo.processInfo.environment[Self.variable] == nil && !OpenFile.standardInput.isTerminal
  }

  /// - Parameter isNew: Whether the terminal asks for it twice.
  func read(for name: String, isNew: Bool = true) throws -> String {
    switch file {
    case "-": return try line(of: .standardInput, "standard input")
    case let file?: return try line(of: try Self.opened(file), file)
    case nil: break
    }
    if let password = ProcessInfo.processInfo.environment[Self.variable] { return password }
    guard OpenFile.standardInput.isTerminal else { return try line(of: .standardInput, "standard input") }
    let password = try prompt("Password of \(name): ")
    guard try !isNew || prompt("The same again: ") == password else {
      throw ToolError(.data, "the two passwords differ; try again")
    }
    return password
  }

  static func opened(_ path: String) throws(ToolError) -> OpenFile {
    do {
      return try OpenFile(path, for: .reading)
    } catch {
      throw ToolError(error.isMissing ? .missing : .io, "can't read \(path): \(error); check the path")
    }
  }

  /// The first line, without its end.
  private func line(of file: OpenFile, _ name: String) throws(ToolError) -> String {
    var bytes: [UInt8] = []
    do {
      while !bytes.contains(UInt8(ascii: "\n")), bytes.count <= Self.maximumLength {
        let chunk = try file.read(upTo: Self.maximumLength)
        if chunk.isEmpty { break }
        bytes += chunk
      }
    } catch {
      throw ToolError(.io, "can't read \(name): \(error); check it and try again")
    }
    guard !bytes.isEmpty else {
      throw ToolError(.data, "\(name) has no password; set \(Self.variable), or give --password-file")
    }
    var line = bytes.prefix { $0 != UInt8(ascii: "\n") }
    if line.last == UInt8(ascii: "\r") { line.removeLast() }
    // Some programs write a byte order mark at the start of UTF-8; it is not part of the password.
    if line.starts(with: [0xEF, 0xBB, 0xBF]) { line.removeFirst(3) }
    return try text(Array(line), name)
  }

  private func prompt(_ text: String) throws(ToolError) -> String {
    let line: [UInt8]?
    do {
      line = try SecretPrompt.read(text, limit: Self.maximumLength)
    } catch {
      throw ToolError(.io, "can't read the password: \(error); try again")
    }
    return try self.text(line ?? [], "the terminal")
  }

  private func text(_ bytes: [UInt8], _ name: String) throws(ToolError) -> String {
    guard let text = String(validating: bytes, as: UTF8.self) else {
      throw ToolError(.data, "the password from \(name) is not UTF-8; convert it to UTF-8")
    }
    return text
  }
}
