import CDTPlatform

/// Detects that the reader of standard output is gone, for commands that may write nothing for a long time.
enum OutputWatch {
  /// Calls the closure when the output has no reader. It is never called for a file or a terminal.
  static func whenClosed(_ body: @escaping @Sendable () -> Void) {
    // Without a thread, the next write notices it.
    try? BlockingPool.run {
      if OpenFile.standardOutput.waitUntilReaderIsGone() { body() }
    }
  }
}
