import CDTCSQLite
import CDTPlatform
import Synchronization

/// The VFS of the databases whose pages have checksums (``CheckedFile``). All other files, and all other calls, are
/// the default VFS's.
///
/// Source: https://sqlite.org/vfs.html
enum CheckedFileSystem {
  private static let name = "cdt-checked"
  private static let isRegistered = Mutex(false)

  private typealias FileSystem = UnsafeMutablePointer<sqlite3_vfs>

  /// The name under which SQLite knows it.
  ///
  /// - Throws: ``SQLiteError`` if SQLite has no memory. The next call tries again.
  static func registeredName() throws(SQLiteError) -> String {
    try isRegistered.withLock { isRegistered throws(SQLiteError) in
      if !isRegistered { try register() }
      isRegistered = true
    }
    return name
  }

  private static func register() throws(SQLiteError) {
    guard let system = sqlite3_vfs_find(nil) else {
      throw SQLiteError(extendedCode: SQLITE_NOMEM, message: "SQLite could not be initialized")
    }
    // SQLite keeps both for good.
    let made = FileSystem.allocate(capacity: 1)
    made.initialize(to: methods(of: system))
    let nameCopy = UnsafeMutablePointer<CChar>.allocate(capacity: name.utf8.count + 1)
    name.withCString { nameCopy.initialize(from: $0, count: name.utf8.count + 1) }
    made.pointee.zName = UnsafePointer(nameCopy)
    let code = sqlite3_vfs_register(made, 0)
    guard code == SQLITE_OK else {
      made.deallocate()
      nameCopy.deallocate()
      throw SQLiteError(extendedCode: code, message: "SQLite could not be initialized")
    }
  }

  private static func methods(of system: FileSystem) -> sqlite3_vfs {
    var methods = sqlite3_vfs()
    methods.iVersion = 2
    methods.szOsFile = Int32(CheckedFile.size) + system.pointee.szOsFile
    methods.mxPathname = system.pointee.mxPathname
    methods.pAppData = UnsafeMutableRawPointer(system)
    methods.xOpen = { vfs, path, file, flags, result in
      guard let system = CheckedFileSystem.system(vfs), let file else { return SQLITE_MISUSE }
      guard flags & SQLITE_OPEN_MAIN_DB != 0 else {
        return CheckedFileSystem.creating { system.pointee.xOpen(system, path, file, flags, result) }
      }
      file.pointee.pMethods = nil
      let code = CheckedFileSystem.creating {
        system.pointee.xOpen(system, path, CheckedFile.system(file), flags, result)
      }
      // Without methods there is nothing to close.
      if CheckedFile.system(file).pointee.pMethods != nil {
        CheckedFile.open(file, copiedPages: path.flatMap { CopiedPages.ofOpenFile(String(cString: $0)) })
      }
      return code
    }
    methods.xDelete = { vfs, path, syncs in
      CheckedFileSystem.forward(vfs) { $0.pointee.xDelete($0, path, syncs) }
    }
    methods.xAccess = { vfs, path, flags, result in
      CheckedFileSystem.forward(vfs) { $0.pointee.xAccess($0, path, flags, result) }
    }
    methods.xFullPathname = { vfs, path, count, result in
      CheckedFileSystem.forward(vfs) { $0.pointee.xFullPathname($0, path, count, result) }
    }
    methods.xRandomness = { vfs, count, result in
      CheckedFileSystem.forward(vfs) { $0.pointee.xRandomness($0, count, result) }
    }
    methods.xSleep = { vfs, microseconds in
      CheckedFileSystem.forward(vfs) { $0.pointee.xSleep($0, microseconds) }
    }
    methods.xCurrentTime = { vfs, result in
      CheckedFileSystem.forward(vfs) { $0.pointee.xCurrentTime($0, result) }
    }
    methods.xCurrentTimeInt64 = { vfs, result in
      CheckedFileSystem.forward(vfs) { $0.pointee.xCurrentTimeInt64($0, result) }
    }
    methods.xGetLastError = { vfs, count, result in
      CheckedFileSystem.forward(vfs) { $0.pointee.xGetLastError($0, count, result) }
    }
    return methods
  }

  /// Opens a file, and tries again if the error is that there is none.
  ///
  /// The default VFS opens a file that it can't create once more, for reading. If it could not create it for a moment only,
  /// as there was no file descriptor left, the second error hides the first.
  static func creating(_ open: () -> Int32) -> Int32 {
    var code = SQLITE_OK
    for _ in 0..<3 {
      code = open()
      guard code & 0xFF == SQLITE_CANTOPEN, SystemError.last.isMissing else { break }
    }
    return code
  }

  private static func system(_ vfs: FileSystem?) -> FileSystem? {
    vfs?.pointee.pAppData?.assumingMemoryBound(to: sqlite3_vfs.self)
  }

  private static func forward(_ vfs: FileSystem?, _ call: (FileSystem) -> Int32) -> Int32 {
    system(vfs).map(call) ?? SQLITE_MISUSE
  }
}
