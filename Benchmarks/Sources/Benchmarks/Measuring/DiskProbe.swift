import Glibc

/// A file in which 4 KiB are written and synced at a time, as SQLite writes its log: from the beginning again after 1,000.
final class DiskProbe {
  private let path: String
  private let file: Int32
  private let block = [UInt8](repeating: 1, count: 4_096)
  private var count = 0

  init(directory: String) throws {
    path = "\(directory)/sync"
    file = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
    guard file >= 0 else { throw BenchError("\(path) can't be written") }
  }

  deinit {
    close(file)
    unlink(path)
  }

  func sync() {
    _ = pwrite(file, block, block.count, off_t(count % 1_000 * block.count))
    fdatasync(file)
    count += 1
  }
}
