import CDTCSQLite

/// The library of SQLite that the process has loaded.
package enum SQLiteLibrary {
  /// Its version, like `3.40.1`.
  package static var version: String { String(cString: sqlite3_libversion()) }

  /// Whether it loses commits if a connection makes a checkpoint without the write lock while another one commits: the WAL-reset
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
