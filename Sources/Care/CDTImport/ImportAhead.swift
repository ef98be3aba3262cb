import CDTPlatform
import Dispatch

/// A batch that is read on another thread, while the one before it is written.
final class ImportAhead: @unchecked Sendable {
  // Sendable without a lock: between `begin` and the end of `wait` only the other thread uses the reader and the result.

  private var reader: ImportReader
  private var result = Result<Bool, any Error>.success(false)
  private let isDone = DispatchSemaphore(value: 0)

  init(_ reader: consuming ImportReader) {
    self.reader = reader
  }

  /// Begins to read.
  ///
  /// - Parameter read: Reads the batch, and returns whether there is one.
  /// - Returns: `false` if no thread can be started.
  func begin(_ read: @escaping @Sendable (inout ImportReader) throws -> Bool) -> Bool {
    do throws(SystemError) {
      try BlockingPool.run { [self] in
        result = Result { try read(&reader) }
        isDone.signal()
      }
      return true
    } catch {
      return false
    }
  }

  /// Waits for the batch. Call it once.
  func wait() -> Result<Bool, any Error> {
    isDone.wait()
    return result
  }

  /// Takes the reader out.
  func take() -> ImportReader {
    var taken = ImportReader([])
    swap(&taken, &reader)
    return taken
  }
}
