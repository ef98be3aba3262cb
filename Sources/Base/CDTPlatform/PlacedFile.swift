import CDTCPlatform
import Synchronization

/// A file that may be removed, or replaced by another file, while it is in use. It is asked before each use.
///
/// On Linux it holds a descriptor that names the file without opening it, as closing a file would release the locks of this process:
/// `fstat` tells within 0.3 µs whether a name of the file was removed, where `stat` of a path takes 1 µs. The path is looked
/// up as well if that was not done for 100 ms, so that a file that was moved away is noticed.
package final class PlacedFile: Sendable {
  /// The time for which the path is not looked up, in nanoseconds.
  private static let interval: Int64 = 100_000_000

  private let path: String
  package let identity: FileIdentity
  /// The number of names that the file had.
  private let links: UInt64
  /// Negative if there is none.
  private let descriptor: Atomic<Int32>
  /// The time at which the path was last looked up, in nanoseconds.
  private let checked: Atomic<Int64>

  /// The file at a path; `nil` if there is none, or the system can't tell.
  package init?(_ path: String) {
    guard (try? SystemError.checkPath(path)) != nil else { return nil }
    let time = cdt_coarse_time()
    let descriptor = cdt_name_file(path)
    let status = descriptor < 0 ? try? FileStatus(path) : try? FileStatus(descriptor: descriptor)
    guard let status else {
      cdt_close(descriptor)
      return nil
    }
    self.path = path
    (identity, links) = (status.identity, status.links)
    self.descriptor = Atomic(descriptor)
    checked = Atomic(time)
  }

  deinit { close() }

  /// Closes the descriptor. From now on the path is always looked up.
  package func close() { cdt_close(descriptor.exchange(-1, ordering: .relaxed)) }

  /// Whether the file is at its path.
  ///
  /// - Throws: ``SystemError`` if the system can't tell.
  package func isInPlace() throws(SystemError) -> Bool {
    let (now, descriptor) = (cdt_coarse_time(), descriptor.load(ordering: .relaxed))
    if descriptor >= 0, now - checked.load(ordering: .relaxed) < Self.interval,
      (try? FileStatus(descriptor: descriptor).links) == links
    {
      return true
    }
    guard try FileStatus.ofFile(at: path)?.identity == identity else { return false }
    checked.store(now, ordering: .relaxed)
    return true
  }
}
