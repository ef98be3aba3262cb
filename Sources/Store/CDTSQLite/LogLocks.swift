import CDTCSQLite

/// The locks of the write-ahead log, as SQLite takes them.
///
/// In SQLite before 3.51.3, a checkpoint that has read the header of the log's index may go on while another connection
/// commits and restarts the log. It then notes that more frames were copied than the new log has. All connections ignore
/// that many frames, so later commits are lost without an error. Here, a connection with the lock of checkpoints also holds the
/// write lock until the checkpoint has ended, so nobody can commit meanwhile. See
/// `docs/decisions/34-checkpoints-hold-the-write-lock.md`.
///
/// Source: https://sqlite.org/walformat.html, WAL Locks.
extension CheckedFile {
  /// The reasons for which a file holds the write lock.
  struct WriteLockUses: OptionSet {
    let rawValue: UInt8
    /// SQLite has asked for it.
    static let requested = WriteLockUses(rawValue: 1)
    static let checkpoint = WriteLockUses(rawValue: 2)
  }

  private static let writeLock: Int32 = 0
  private static let checkpointLock: Int32 = 1

  /// Takes or releases locks of the log: `xShmLock`.
  func lockLog(_ first: Int32, _ count: Int32, _ flags: Int32) -> Int32 {
    guard methods.xShmLock != nil else { return SQLiteError.noSharedMemoryCode }
    let locks = first..<(first + count)
    let isWrite = locks.contains(Self.writeLock)
    let isCheckpoint = locks.contains(Self.checkpointLock)
    guard flags & SQLITE_SHM_EXCLUSIVE != 0, isWrite || isCheckpoint else {
      return methods.xShmLock(file, first, count, flags)
    }
    // SQLite takes each of the two by itself, or that of checkpoints together with those behind it.
    guard isWrite != isCheckpoint, !isWrite || count == 1 else { return SQLiteError.logLockCode }
    if flags & SQLITE_SHM_LOCK != 0 {
      return isWrite ? takeWriteLock(for: .requested) : takeCheckpointLock(first, count)
    }
    if isWrite { return releaseWriteLock(for: .requested) }
    noteWrongIndex()
    let code = methods.xShmLock(file, first, count, flags)
    return writeLockUses.contains(.checkpoint) ? releaseWriteLock(for: .checkpoint) : code
  }

  private func takeCheckpointLock(_ first: Int32, _ count: Int32) -> Int32 {
    let isLocked = !writeLockUses.isEmpty || isWriteLockLent
    if !isLocked, case let code = takeWriteLock(for: .checkpoint), code != SQLITE_OK { return code }
    let code = methods.xShmLock(file, first, count, SQLITE_SHM_LOCK | SQLITE_SHM_EXCLUSIVE)
    if code != SQLITE_OK, !isLocked { _ = releaseWriteLock(for: .checkpoint) }
    // Others may have written nonces since the last checkpoint.
    if code == SQLITE_OK { codec.noteOtherWriters() }
    return code
  }

  /// - Returns: ``SQLiteError/logLockCode`` if the index of the log is wrong: a commit would be lost.
  private func takeWriteLock(for use: WriteLockUses) -> Int32 {
    if writeLockUses.isEmpty {
      let code = methods.xShmLock(file, Self.writeLock, 1, SQLITE_SHM_LOCK | SQLITE_SHM_EXCLUSIVE)
      guard code == SQLITE_OK else { return code }
    }
    writeLockUses.insert(use)
    guard noteWrongIndex() else { return SQLITE_OK }
    _ = releaseWriteLock(for: use)
    return SQLiteError.logLockCode
  }

  private func releaseWriteLock(for use: WriteLockUses) -> Int32 {
    writeLockUses.remove(use)
    guard writeLockUses.isEmpty else { return SQLITE_OK }
    return methods.xShmLock(file, Self.writeLock, 1, SQLITE_SHM_UNLOCK | SQLITE_SHM_EXCLUSIVE)
  }

  /// Looks at the index of the log while nobody else can change it.
  ///
  /// - Returns: Whether it is wrong, which is noted.
  @discardableResult
  private func noteWrongIndex() -> Bool {
    guard let index = logIndex, csqlite_is_log_index_wrong(index) else { return false }
    isLogIndexWrong = true
    return true
  }
}
