import CDTTestSupport
import Glibc
import Testing

/// A file system in memory, mounted for one test.
struct MountedDisk {
  let directory: String

  /// Why a test that needs one is not run.
  static let reason: Comment = "no file system can be mounted here, as root it can"

  /// Whether one can be mounted.
  static let isPossible: Bool = {
    guard let directory = try? temporaryDirectory() else { return false }
    defer { removeDirectory(directory) }
    guard mount("tmpfs", directory, "tmpfs", 0, "size=1m") == 0 else { return false }
    return umount2(directory, Int32(MNT_DETACH)) == 0
  }()

  /// Refuses writes from now on, or takes them again. No file may be open for writing.
  func setReadOnly(_ isReadOnly: Bool) throws {
    let flags = UInt(MS_REMOUNT) | (isReadOnly ? UInt(MS_RDONLY) : 0)
    try #require(mount("tmpfs", directory, "tmpfs", flags, nil) == 0, "errno \(errno)")
  }
}

/// Runs `body` with an empty file system, which is gone afterwards.
func withMountedDisk(bytes: Int, _ body: (_ disk: MountedDisk) throws -> Void) throws {
  try withTemporaryDirectory { directory in
    try #require(mount("tmpfs", directory, "tmpfs", 0, "size=\(bytes)") == 0)
    defer { umount2(directory, Int32(MNT_DETACH)) }
    try body(MountedDisk(directory: directory))
  }
}

/// Runs `body` with a second path of a directory, where nothing can be written.
func withReadOnlyView(of directory: String, _ body: (_ view: String) throws -> Void) throws {
  try withTemporaryDirectory { view in
    try #require(mount(directory, view, nil, UInt(MS_BIND), nil) == 0, "errno \(errno)")
    defer { umount2(view, Int32(MNT_DETACH)) }
    let flags = UInt(MS_BIND) | UInt(MS_REMOUNT) | UInt(MS_RDONLY)
    try #require(mount(nil, view, nil, flags, nil) == 0, "errno \(errno)")
    try body(view)
  }
}
