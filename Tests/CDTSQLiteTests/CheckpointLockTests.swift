import CDTCSQLite
import CDTTestSupport
import Foundation
import Synchronization
import Testing

@testable import CDTSQLite

/// SQLite's WAL-reset bug, and that it can't happen here: a checkpoint that has read the header of the log's index is
/// stopped while another connection commits, which restarts the log.
@Suite(.serialized) struct CheckpointLockTests {
  /// What happens when the connection has read the header. Only one test at a time uses it.
  private static let interruption = Mutex<(@Sendable () -> Void)?>(nil)

  /// A VFS above another one, whose files run ``interruption`` once in a checkpoint.
  private static func register(_ name: String, above inner: String?) throws {
    guard sqlite3_vfs_find(name) == nil else { return }
    let innerSystem = try #require(sqlite3_vfs_find(inner))
    let system = UnsafeMutablePointer<sqlite3_vfs>.allocate(capacity: 1)
    system.initialize(to: innerSystem.pointee)
    system.pointee.zName = UnsafePointer(strdup(name))
    system.pointee.szOsFile = Int32(CheckedFile.size) + innerSystem.pointee.szOsFile
    if inner == nil {
      system.pointee.xOpen = { CheckpointLockTests.open(sqlite3_vfs_find(nil), $1, $2, $3, $4) }
    } else {
      system.pointee.xOpen = {
        CheckpointLockTests.open(sqlite3_vfs_find("cdt-checked"), $1, $2, $3, $4)
      }
    }
    try #require(sqlite3_vfs_register(system, 0) == SQLITE_OK)
  }

  private static func open(
    _ inner: UnsafeMutablePointer<sqlite3_vfs>?, _ path: UnsafePointer<CChar>?,
    _ file: UnsafeMutablePointer<sqlite3_file>?, _ flags: Int32, _ result: UnsafeMutablePointer<Int32>?
  ) -> Int32 {
    guard let inner, let file else { return SQLITE_MISUSE }
    guard flags & SQLITE_OPEN_MAIN_DB != 0 else {
      return inner.pointee.xOpen(inner, path, file, flags, result)
    }
    file.pointee.pMethods = nil
    let code = inner.pointee.xOpen(inner, path, CheckedFile.system(file), flags, result)
    if CheckedFile.system(file).pointee.pMethods != nil { file.pointee.pMethods = methods }
    return code
  }

  nonisolated(unsafe) private static let methods: UnsafePointer<sqlite3_io_methods> = {
    var methods = CheckedFile.forwardingMethods
    // SQLite gives a mapped page back, which there is none of, between reading the header and the copies.
    methods.iVersion = 3
    methods.xFetch = { _, _, _, page in
      page?.pointee = nil
      return SQLITE_OK
    }
    methods.xUnfetch = { _, _, page in
      if page == nil {
        let interrupt = CheckpointLockTests.interruption.withLock { interruption in
          defer { interruption = nil }
          return interruption
        }
        interrupt?()
      }
      return SQLITE_OK
    }
    return CheckedFile.allocate(methods)
  }()

  /// A connection through a VFS, for one thread at a time.
  private final class Handle: @unchecked Sendable {
    // The test and the closure that interrupts a checkpoint use it in turn on one thread.
    let handle: OpaquePointer

    init(_ path: String, _ system: String) throws {
      var opened: OpaquePointer?
      let flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE
      try #require(sqlite3_open_v2(path, &opened, flags, system) == SQLITE_OK)
      handle = try #require(opened)
      sqlite3_wal_autocheckpoint(handle, 0)
    }

    deinit { sqlite3_close_v2(handle) }

    @discardableResult
    func run(_ sql: String) -> Int32 { sqlite3_exec(handle, sql, nil, nil, nil) }

    @discardableResult
    func checkpoint() -> Int32 {
      sqlite3_wal_checkpoint_v2(handle, nil, SQLITE_CHECKPOINT_PASSIVE, nil, nil)
    }

    func count(_ sql: String) throws -> Int32 {
      var statement: OpaquePointer?
      try #require(sqlite3_prepare_v2(handle, sql, -1, &statement, nil) == SQLITE_OK)
      defer { sqlite3_finalize(statement) }
      try #require(sqlite3_step(statement) == SQLITE_ROW)
      return sqlite3_column_int(statement, 0)
    }
  }

  /// The number of 40 acknowledged commits that are there in the end.
  private static func commitsFound(_ system: String, in directory: String) throws -> Int32 {
    let path = "\(directory)/file"
    func opened() throws -> Handle { try Handle(path, system) }
    do {
      let writer = try opened()
      writer.run(
        """
        PRAGMA journal_mode = WAL; CREATE TABLE t (id INTEGER PRIMARY KEY, k TEXT, v TEXT); CREATE INDEX ik ON t (k);
        WITH RECURSIVE n(i) AS (VALUES(1) UNION ALL SELECT i + 1 FROM n WHERE i < 4000)
          INSERT INTO t SELECT i, hex(randomblob(16)), hex(randomblob(20)) FROM n
        """)
      let (copier, other) = (try opened(), try opened())
      for connection in [copier, other] { _ = try connection.count("SELECT count(*) FROM t") }
      writer.run("UPDATE t SET v = 'x' WHERE id = 4000")
      writer.checkpoint()
      interruption.withLock { $0 = { other.run("UPDATE t SET v = 'first' WHERE id = 1") } }
      copier.checkpoint()
      try #require(interruption.withLock { $0 == nil })
      for number in 0..<40 {
        let code = other.run("UPDATE t SET k = 'key \(number)', v = 'kept' WHERE id = \(100 + number * 90)")
        try #require(code == SQLITE_OK)
      }
      for number in 0..<700 { other.run("UPDATE t SET v = 'later \(number)' WHERE id = 2") }
      other.checkpoint()
      other.run("UPDATE t SET v = 'end' WHERE id = 3")
    }
    return try opened().count("SELECT count(*) FROM t NOT INDEXED WHERE v = 'kept'")
  }

  @Test func `commits that follow a checkpoint which was overtaken are kept`() throws {
    _ = try CheckedFileSystem.registeredName(.checked)
    try Self.register("test-above-checked", above: "cdt-checked")
    try withTemporaryDirectory { directory in
      let found = try Self.commitsFound("test-above-checked", in: directory)
      #expect(found == 40)
    }
  }

  @Test func `without the write lock, a SQLite that has the bug loses them`() throws {
    try Self.register("test-above-system", above: nil)
    try withTemporaryDirectory { directory in
      let found = try Self.commitsFound("test-above-system", in: directory)
      #expect(found == (SQLiteLibrary.losesCommits(sqlite3_libversion_number()) ? 0 : 40))
    }
  }

  @Test func `the versions that have the bug`() {
    for version: Int32 in [3_007_000, 3_040_001, 3_044_005, 3_045_000, 3_050_006, 3_051_002] {
      #expect(SQLiteLibrary.losesCommits(version), "\(version)")
    }
    for version: Int32 in [3_044_006, 3_050_007, 3_051_003, 3_052_000, 3_054_001] {
      #expect(!SQLiteLibrary.losesCommits(version), "\(version)")
    }
    let remedy = "if another program, such as sqlite3, also writes to a store"
    #expect(SQLiteLibrary.warning?.contains(remedy) ?? !SQLiteLibrary.losesCommits)
  }

  // MARK: Connections

  private static func withDatabase(
    cipher: DatabaseCipher? = nil, _ body: (_ path: String, _ connect: () throws -> Connection) throws -> Void
  ) throws {
    try withTemporaryDirectory { directory in
      let path = "\(directory)/file"
      func connect() throws -> Connection {
        try Connection(path: path, mode: .readWriteCreate, busyTimeout: .zero, cipher: cipher)
      }
      let connection = try connect()
      try connection.execute("PRAGMA journal_mode = WAL; CREATE TABLE t (x)")
      try body(path, connect)
      connection.close()
    }
  }

  @Test func `a checkpoint waits for writes of other connections, and copies within one that lends its lock`()
    throws
  {
    let cipher = DatabaseCipher(key: (0..<32).map { UInt8($0) })
    for cipher: DatabaseCipher? in [nil, cipher] {
      try Self.withDatabase(cipher: cipher) { _, connect in
        let (writer, other) = (try connect(), try connect())
        try writer.execute("INSERT INTO t VALUES (1)")
        try writer.begin(.immediate)
        #expect(try other.checkpointsWholeLog() == false)
        #expect(try other.checkpointsWholeLog(whileLockedBy: writer))
        // The lock is still the writer's.
        #expect(throws: SQLiteError.self) { try other.execute("INSERT INTO t VALUES (2)") }
        try writer.execute("INSERT INTO t VALUES (3)")
        try writer.commit()
        #expect(try other.checkpointsWholeLog())
        // The lock is free again.
        try other.execute("INSERT INTO t VALUES (4)")
        #expect(try writer.scalar("SELECT sum(x) FROM t") == 8)
      }
    }
  }

  @Test func `a connection can write after each kind of checkpoint, also of a log that has to be read again`()
    throws
  {
    try Self.withDatabase { path, connect in
      let (writer, other) = (try connect(), try connect())
      for (number, mode) in ["PASSIVE", "FULL", "RESTART", "TRUNCATE"].enumerated() {
        try writer.execute("INSERT INTO t VALUES (\(number)); PRAGMA wal_checkpoint(\(mode))")
        try other.execute("INSERT INTO t VALUES (\(number)); PRAGMA wal_checkpoint(\(mode))")
      }
      // What a process leaves that is killed while it changes the header of the index.
      let index = try FileHandle(forUpdating: URL(filePath: "\(path)-shm"))
      try index.write(contentsOf: Data(repeating: 1, count: 48))
      try index.close()
      #expect(try other.checkpointsWholeLog())
      try writer.execute("INSERT INTO t VALUES (9)")
      #expect(try other.scalar("SELECT count(*) FROM t") == 9)
    }
  }

  @Test
  func `a write is refused while the index of the log has lost count, and possible when the file was closed`()
    throws
  {
    try Self.withDatabase { path, connect in
      let writer = try connect()
      try writer.execute("INSERT INTO t VALUES (1)")
      // What a checkpoint by another program may leave: more frames copied than there are.
      let index = try FileHandle(forUpdating: URL(filePath: "\(path)-shm"))
      try index.seek(toOffset: 96)
      try index.write(contentsOf: Data([0, 1, 0, 0]))
      try index.close()
      let error = #expect(throws: SQLiteError.self) { try writer.execute("INSERT INTO t VALUES (2)") }
      #expect(error?.message.contains("the index of the write-ahead log of \(path) is wrong") == true)
      #expect(error?.isBusy == false)
      #expect(throws: SQLiteError.self) { try writer.cutLog() }
    }
  }
}
