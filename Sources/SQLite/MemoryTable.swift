import CSQLite

/// The table `memory_rows` of a connection: a virtual table of SQLite's, read from the first row to the last.
///
/// This is one of the few places with pointers. SQLite owns the two structures below between the calls that make and
/// free them, and hands them back to the callbacks; a cursor looks at ``source``, which ``Connection/run(_:reading:)``
/// sets for as long as its bytes are lent.
final class MemoryTable {
  struct Source {
    let rows: any MemoryRows
    let bytes: UnsafeRawBufferPointer
  }

  /// The rows to be read; none outside of ``Connection/run(_:reading:)``.
  var source: Source?

  static let columnCount = 128

  private static let declaration =
    "CREATE TABLE memory_rows (" + (0..<columnCount).map { "c\($0)" }.joined(separator: ", ") + ")"

  /// What SQLite knows as the table. SQLite's own part comes first, so the address is that of both.
  private struct Table {
    var base: sqlite3_vtab
    let memory: Unmanaged<MemoryTable>
  }

  /// What SQLite knows as a cursor.
  private struct Cursor {
    var base: sqlite3_vtab_cursor
    let memory: Unmanaged<MemoryTable>
    var row = 0
    var count = 0
    /// The bytes of the rows, lent for the run of the statement that reads them.
    var bytes = UnsafeRawBufferPointer(start: nil, count: 0)
    /// What the row has, once one of its columns was asked for.
    var values: [MemoryValue] = []
    var isRead = false
  }

  // SQLite keeps the address for as long as a connection has the module, and never writes there.
  nonisolated(unsafe) private static let module: UnsafeMutablePointer<sqlite3_module> = {
    let module = UnsafeMutablePointer<sqlite3_module>.allocate(capacity: 1)
    var callbacks = sqlite3_module()
    callbacks.xConnect = { database, context, _, _, table, _ in
      guard let database, let context else { return SQLITE_MISUSE }
      csqlite_vtab_direct_only(database)
      let code = sqlite3_declare_vtab(database, MemoryTable.declaration)
      guard code == SQLITE_OK else { return code }
      let made = UnsafeMutablePointer<Table>.allocate(capacity: 1)
      made.initialize(to: Table(base: sqlite3_vtab(), memory: .fromOpaque(context)))
      table?.pointee = UnsafeMutableRawPointer(made).assumingMemoryBound(to: sqlite3_vtab.self)
      return SQLITE_OK
    }
    callbacks.xDisconnect = { table in
      UnsafeMutableRawPointer(table)?.assumingMemoryBound(to: Table.self).deallocate()
      return SQLITE_OK
    }
    callbacks.xBestIndex = { _, _ in SQLITE_OK }
    callbacks.xOpen = { table, cursor in
      guard let table = UnsafeMutableRawPointer(table)?.assumingMemoryBound(to: Table.self) else {
        return SQLITE_MISUSE
      }
      let made = UnsafeMutablePointer<Cursor>.allocate(capacity: 1)
      made.initialize(to: Cursor(base: sqlite3_vtab_cursor(), memory: table.pointee.memory))
      cursor?.pointee = UnsafeMutableRawPointer(made).assumingMemoryBound(to: sqlite3_vtab_cursor.self)
      return SQLITE_OK
    }
    callbacks.xClose = { cursor in
      guard let cursor = UnsafeMutableRawPointer(cursor)?.assumingMemoryBound(to: Cursor.self) else {
        return SQLITE_MISUSE
      }
      cursor.deinitialize(count: 1)
      cursor.deallocate()
      return SQLITE_OK
    }
    callbacks.xFilter = { cursor, _, _, _, _ in
      guard let cursor = UnsafeMutableRawPointer(cursor)?.assumingMemoryBound(to: Cursor.self) else {
        return SQLITE_MISUSE
      }
      cursor.pointee.row = 0
      cursor.pointee.isRead = false
      let source = cursor.pointee.memory.takeUnretainedValue().source
      cursor.pointee.count = source?.rows.count ?? 0
      cursor.pointee.bytes = source?.bytes ?? UnsafeRawBufferPointer(start: nil, count: 0)
      return SQLITE_OK
    }
    callbacks.xNext = { cursor in
      guard let cursor = UnsafeMutableRawPointer(cursor)?.assumingMemoryBound(to: Cursor.self) else {
        return SQLITE_MISUSE
      }
      cursor.pointee.row += 1
      cursor.pointee.isRead = false
      return SQLITE_OK
    }
    callbacks.xEof = { cursor in
      guard let cursor = UnsafeMutableRawPointer(cursor)?.assumingMemoryBound(to: Cursor.self) else {
        return 1
      }
      return cursor.pointee.row < cursor.pointee.count ? 0 : 1
    }
    callbacks.xColumn = { cursor, context, column in
      guard let context, let cursor = UnsafeMutableRawPointer(cursor)?.assumingMemoryBound(to: Cursor.self)
      else { return SQLITE_MISUSE }
      if !cursor.pointee.isRead {
        guard cursor.pointee.memory._withUnsafeGuaranteedRef({ $0.read(&cursor.pointee) }) else {
          return SQLITE_MISUSE
        }
      }
      guard column < cursor.pointee.values.count else { return SQLITE_OK }
      MemoryTable.write(cursor.pointee.values[Int(column)], of: cursor.pointee.bytes, to: context)
      return SQLITE_OK
    }
    callbacks.xRowid = { cursor, row in
      guard let cursor = UnsafeMutableRawPointer(cursor)?.assumingMemoryBound(to: Cursor.self) else {
        return SQLITE_MISUSE
      }
      row?.pointee = Int64(cursor.pointee.row)
      return SQLITE_OK
    }
    module.initialize(to: callbacks)
    return module
  }()

  func register(on connection: OpaquePointer) -> Int32 {
    sqlite3_create_module_v2(
      connection, "memory_rows", Self.module, Unmanaged.passRetained(self).toOpaque(),
      { data in if let data { Unmanaged<MemoryTable>.fromOpaque(data).release() } })
  }

  /// Reads the values of the row that a cursor has come to.
  private func read(_ cursor: inout Cursor) -> Bool {
    guard let source else { return false }
    cursor.values.removeAll(keepingCapacity: true)
    source.rows.read(row: cursor.row, of: source.bytes, into: &cursor.values)
    cursor.isRead = true
    return true
  }

  /// Gives one value. Bytes stay where they are: they are lent until the statement has run.
  @inline(__always)
  private static func write(
    _ value: MemoryValue, of all: UnsafeRawBufferPointer, to context: OpaquePointer
  ) {
    switch value {
    case .int(let int): sqlite3_result_int64(context, int)
    case .double(let double): sqlite3_result_double(context, double)
    case .text(let range):
      let bytes = Self.bytes(range, of: all)
      guard let base = bytes.baseAddress, !bytes.isEmpty else {
        sqlite3_result_text64(context, csqlite_empty_text(), 0, csqlite_static(), UInt8(SQLITE_UTF8))
        break
      }
      sqlite3_result_text64(
        context, base.assumingMemoryBound(to: CChar.self), UInt64(bytes.count), csqlite_static(),
        UInt8(SQLITE_UTF8))
    case .blob(let range):
      let bytes = Self.bytes(range, of: all)
      guard let base = bytes.baseAddress, !bytes.isEmpty else {
        sqlite3_result_zeroblob(context, 0)
        break
      }
      sqlite3_result_blob64(context, base, UInt64(bytes.count), csqlite_static())
    }
  }

  private static func bytes(_ range: Range<Int>, of all: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer {
    UnsafeRawBufferPointer(rebasing: all[range.clamped(to: 0..<all.count)])
  }
}
