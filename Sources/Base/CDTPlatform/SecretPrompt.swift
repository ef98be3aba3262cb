import CDTCLibrary

/// Reads a line from a terminal without showing it.
package enum SecretPrompt {
  /// The control character of Ctrl-C.
  private static let interrupt: UInt8 = 3

  /// Writes a prompt to standard error and reads a line from standard input, which is a terminal.
  ///
  /// Ctrl-C ends the process as always, but after the terminal shows its input again.
  ///
  /// - Parameter limit: The maximum number of bytes; the rest of a longer line is ignored.
  /// - Returns: The line without its line feed; `nil` at the end of the input.
  package static func read(_ prompt: String, limit: Int = 4_096) throws(SystemError) -> [UInt8]? {
    var before = termios()
    guard tcgetattr(STDIN_FILENO, &before) == 0 else { throw .last }
    var hidden = before
    // A signal would end the process while the input is hidden, so Ctrl-C ends the line instead.
    hidden.c_lflag &= ~tcflag_t(ECHO | ISIG)
    withUnsafeMutableBytes(of: &hidden.c_cc) { $0[Int(VEOL)] = interrupt }
    guard tcsetattr(STDIN_FILENO, TCSAFLUSH, &hidden) == 0 else { throw .last }
    let line: [UInt8]?
    do throws(SystemError) {
      try write(prompt)
      line = try readLine(limit: limit)
      try write("\n")
    } catch {
      tcsetattr(STDIN_FILENO, TCSAFLUSH, &before)
      throw error
    }
    tcsetattr(STDIN_FILENO, TCSAFLUSH, &before)
    if line?.last == interrupt {
      raise(SIGINT)
      // The process ignores or blocks the signal.
      throw SystemError(EINTR)
    }
    return line
  }

  private static func write(_ text: String) throws(SystemError) {
    try Array(text.utf8).withUnsafeBufferPointer { bytes throws(SystemError) in
      try OpenFile.standardError.write(UnsafeRawBufferPointer(bytes))
    }
  }

  private static func readLine(limit: Int) throws(SystemError) -> [UInt8]? {
    var line: [UInt8] = []
    while let byte = try OpenFile.standardInput.read(upTo: 1).first {
      if byte == UInt8(ascii: "\n") { return line }
      if byte == interrupt { return [interrupt] }
      if line.count < limit { line.append(byte) }
    }
    return line.isEmpty ? nil : line
  }
}
