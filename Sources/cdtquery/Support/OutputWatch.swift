import CDTPlatform
import Dispatch

/// Notices that the reader of standard output is gone, for commands that may have nothing to write for long.
enum OutputWatch {
  /// Calls the closure when nobody can read the output any more. A file and a terminal are read for good.
  static func whenClosed(_ body: @escaping @Sendable () -> Void) {
    DispatchQueue.global().async {
      if OpenFile.standardOutput.waitUntilReaderIsGone() { body() }
    }
  }
}
