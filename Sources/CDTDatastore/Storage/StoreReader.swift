package import SQLite

/// A connection that reads a datastore, lent to one user at a time.
package final class StoreReader: @unchecked Sendable {
  // Sendable without a lock of its own: a ConnectionPool, which has one, lends it to one user at a time, and its lease
  // can't be copied.

  package let connection: Connection
  /// What an extension keeps with the connection.
  package var extensionState: AnyObject?
  private let budget: MemoryBudget
  private var share = 0
  /// The name of another database that is attached, which is given a quarter of the memory.
  private var attachedSchema: String?

  init(_ connection: Connection, budget: MemoryBudget) {
    self.connection = connection
    self.budget = budget
    budget.addReader()
  }

  func close() {
    connection.close()
    budget.removeReader(share)
  }

  /// Takes the share of memory that a reader has now. To be called before each use.
  func prepare() throws(SQLiteError) {
    let now = budget.trade(share)
    guard now != share else { return }
    share = now
    try divideShare()
  }

  /// Shares the memory with a database that is attached under a name; `nil` when it no longer is.
  package func setAttachedSchema(_ schema: String?) throws(SQLiteError) {
    attachedSchema = schema
    try divideShare()
  }

  private func divideShare() throws(SQLiteError) {
    let pages = share - share / 8
    guard let attachedSchema else { return try connection.setCacheSize(pages) }
    try connection.setCacheSize(pages / 4, of: attachedSchema)
    try connection.setCacheSize(pages - pages / 4)
  }

  /// How much memory a sort may take before it goes to the disk, in bytes; then the disk's pages may take as much.
  package var sortMemory: Int { max(64 * 1024, share / 16) }
}
