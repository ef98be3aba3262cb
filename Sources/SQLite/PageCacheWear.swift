import CSQLite

/// Notices when a connection's page cache costs more than it serves.
///
/// Once another connection has committed, SQLite drops every page that a connection holds, and passes over its whole table
/// of pages to do so. The table grows with the pages and never shrinks. Where one has held very many, from a scan, and
/// another writes all the time, so that few pages are held between two commits, most of what a small query costs is
/// passing over empty places. A connection that is opened anew has a small table.
package struct PageCacheWear: Sendable {
  /// The most bytes that were held.
  private var most: Int32 = 0
  /// How many times in a row few were held.
  private var timesFew = 0

  /// A table for fewer bytes of pages is passed over in a microsecond or two.
  private static let small: Int32 = 8 << 20
  /// What part of the most is few.
  private static let few: Int32 = 8
  /// To open a connection costs about as much as passing over the table so many times.
  private static let timesToWear = 200

  package init() {}

  /// Notes that the connection is about to be used, and tells whether it should be opened anew. Then all begins again.
  package mutating func isWorn(_ connection: Connection) -> Bool {
    let held = connection.pageBytes
    most = max(most, held)
    guard most > Self.small, held < most / Self.few else {
      timesFew = 0
      return false
    }
    timesFew += 1
    guard timesFew >= Self.timesToWear else { return false }
    self = PageCacheWear()
    return true
  }
}

extension Connection {
  /// How many bytes the pages take that the connection holds.
  var pageBytes: Int32 {
    guard let handle else { return 0 }
    var (current, highest): (Int32, Int32) = (0, 0)
    let code = sqlite3_db_status(handle, SQLITE_DBSTATUS_CACHE_USED, &current, &highest, 0)
    return code == SQLITE_OK ? current : 0
  }
}
