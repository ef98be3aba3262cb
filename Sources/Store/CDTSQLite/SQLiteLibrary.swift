import CDTCSQLite

/// The library of SQLite that the process has loaded.
package enum SQLiteLibrary {
  /// Its version, like `3.40.1`.
  package static var version: String { String(cString: sqlite3_libversion()) }

  /// Whether it has FTS5, which text indexes need.
  package static let hasFullText = hasOption("ENABLE_FTS5")

  /// Whether it has DBSTAT, which measures tables.
  package static let hasSizes = hasOption("ENABLE_DBSTAT_VTAB")

  /// Whether it was built with an option, named without `SQLITE_`.
  package static func hasOption(_ name: String) -> Bool { sqlite3_compileoption_used(name) != 0 }

  /// The options with which a database can't be used.
  static func unusableOptions(isEncrypted: Bool) -> [String] {
    // With TEMP_STORE=0, what SQLite sorts is in files, which are not encrypted.
    ["THREADSAFE=0", "OMIT_WAL", "OMIT_AUTOVACUUM"] + (isEncrypted ? ["TEMP_STORE=0"] : [])
  }

  /// Whether it loses commits if a connection makes a checkpoint without the write lock while another connection commits: the WAL-reset
  /// bug. Connections of this package are not affected (``CheckedFile/lockLog(_:_:_:)``), other programs are.
  ///
  /// Source: https://sqlite.org/wal.html, The WAL-Reset Bug.
  package static var losesCommits: Bool { losesCommits(sqlite3_libversion_number()) }

  /// The warning about the bug, without a full stop; `nil` if the library does not have it.
  package static var warning: String? {
    losesCommits
      ? "SQLite \(version) has the WAL-reset bug: if another program, such as sqlite3, also writes to a store, commits can be lost; "
        + "let only this program write, or use SQLite 3.51.3 (docs/reliability.md)"
      : nil
  }

  static func losesCommits(_ version: Int32) -> Bool {
    switch version {
    case 3_051_003..., 3_050_007..<3_051_000, 3_044_006..<3_045_000: false
    default: version >= 3_007_000
    }
  }
}
