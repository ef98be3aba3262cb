import CDTCSQLite
import CDTPlatform
import Synchronization

/// The VFS of the databases whose pages have checksums or are encrypted (``CheckedFile``). All other files, and all other calls,
/// are the default VFS's.
///
/// Source: https://sqlite.org/vfs.html
enum CheckedFileSystem {
  private static let registrations = Mutex<Set<Kind>>([])

  /// The protection of the pages.
  enum Kind: String, Hashable {
    /// Checksums, in the files that have them.
    case checked = "cdt-checked"
    /// Encryption. The log has another name than SQLite's: another program, which can't read it, would remove it.
    case encrypted = "cdt-encrypted"
  }

  private typealias FileSystem = UnsafeMutablePointer<sqlite3_vfs>

  /// The name under which SQLite knows it.
  ///
  /// - Throws: ``SQLiteError`` if SQLite has no memory. The next call tries again.
  static func registeredName(_ kind: Kind) throws(SQLiteError) -> String {
    try registrations.withLock { registrations throws(SQLiteError) in
      if !registrations.contains(kind) { try register(kind) }
      registrations.insert(kind)
    }
    return kind.rawValue
  }

  private static func register(_ kind: Kind) throws(SQLiteError) {
    guard let system = sqlite3_vfs_find(nil) else {
      throw .outOfMemory
    }
    let name = kind.rawValue
    // SQLite keeps both for good.
    let made = FileSystem.allocate(capacity: 1)
    made.initialize(to: methods(of: system))
    if kind == .encrypted { encrypt(&made.pointee) }
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
        return CheckedFileSystem.open(system, path, file, flags, result)
      }
      file.pointee.pMethods = nil
      let code = CheckedFileSystem.open(system, path, CheckedFile.system(file), flags, result)
      // Without methods there is nothing to close.
      if CheckedFile.system(file).pointee.pMethods != nil {
        CheckedFile.open(file, ChecksumCodec(path.flatMap { CopiedPages.ofOpenFile(String(cString: $0)) }))
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

  /// Changes the calls to those for encrypted files.
  private static func encrypt(_ methods: inout sqlite3_vfs) {
    methods.xOpen = { vfs, path, file, flags, result in
      guard let system = CheckedFileSystem.system(vfs), let file else { return SQLITE_MISUSE }
      file.pointee.pMethods = nil
      if flags & SQLITE_OPEN_MAIN_DB != 0 {
        let token = sqlite3_uri_int64(path, DatabaseCipher.parameter, -1)
        guard let path, let cipher = UInt64(exactly: token).flatMap(DatabaseCipher.registered) else {
          return SQLITE_MISUSE
        }
        let code = CheckedFileSystem.open(system, path, CheckedFile.system(file), flags, result)
        if CheckedFile.system(file).pointee.pMethods != nil {
          let isWritable = (result?.pointee ?? flags) & SQLITE_OPEN_READWRITE != 0
          if isWritable, !SealCodec.keepOthersOut(CheckedFile.system(file), at: String(cString: path)) {
            _ = CheckedFile.forward(file) { $1.xClose($0) }
            return SQLITE_CANTOPEN
          }
          CheckedFile.open(file, SealCodec(cipher, path: String(cString: path), isWritable: isWritable))
        }
        return code
      }
      guard flags & SQLITE_OPEN_WAL != 0, let path else {
        return CheckedFileSystem.open(system, path, file, flags, result)
      }
      guard let database = CheckedFile.of(sqlite3_database_file_object(path)),
        let cipher = (database.codec as? SealCodec)?.cipher,
        let name = CheckedFileSystem.withLogName(path, { sqlite3_create_filename($0, "", "", 0, nil) })
      else { return SQLITE_NOMEM }
      let code = CheckedFileSystem.open(system, name, CheckedFile.system(file), flags, result)
      guard CheckedFile.system(file).pointee.pMethods != nil else {
        sqlite3_free_filename(name)
        return code
      }
      SealedLogFile.open(file, of: database, name, SealedLog(cipher))
      return code
    }
    methods.xDelete = { vfs, path, syncs in
      CheckedFileSystem.withLogName(path) { path in
        CheckedFileSystem.forward(vfs) { $0.pointee.xDelete($0, path, syncs) }
      }
    }
    methods.xAccess = { vfs, path, flags, result in
      CheckedFileSystem.withLogName(path) { path in
        CheckedFileSystem.forward(vfs) { $0.pointee.xAccess($0, path, flags, result) }
      }
    }
  }

  /// Calls a closure with the name that a file has on disk: logs have other names than SQLite gives them.
  private static func withLogName<Result>(
    _ path: UnsafePointer<CChar>?, _ body: (UnsafePointer<CChar>?) -> Result
  ) -> Result {
    guard let path else { return body(path) }
    let text = String(cString: path)
    guard text.utf8.reversed().starts(with: LogFile.suffix.utf8.reversed()) else { return body(path) }
    return
      (String(decoding: text.utf8.dropLast(LogFile.suffix.utf8.count), as: UTF8.self)
      + LogFile.encryptedSuffix)
      .withCString(body)
  }

  /// Opens a file.
  ///
  /// The default VFS opens a file for reading if it can't be opened for writing, also if that is over in a moment. A log would then
  /// refuse writes until its connection is closed, so it is tried again.
  private static func open(
    _ system: FileSystem, _ path: UnsafePointer<CChar>?, _ file: CheckedFile.File, _ flags: Int32,
    _ result: UnsafeMutablePointer<Int32>?
  ) -> Int32 {
    var opened = flags
    var code = creating { system.pointee.xOpen(system, path, file, flags, &opened) }
    if code == SQLITE_OK, flags & SQLITE_OPEN_READWRITE != 0, opened & SQLITE_OPEN_READONLY != 0 {
      _ = file.pointee.pMethods.pointee.xClose(file)
      opened = flags
      code = creating { system.pointee.xOpen(system, path, file, flags, &opened) }
    }
    result?.pointee = opened
    return code
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
