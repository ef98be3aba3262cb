package import CDTSQLite

/// A connection that reads a datastore, lent to one user at a time.
package final class StoreReader: @unchecked Sendable {
  // Sendable without a lock: a ConnectionPool, which has one, lends it to one user at a time, and its lease can't be
  // copied.

  package let connection: Connection
  /// The states of extensions for this connection.
  package var extensionStates = ExtensionStates()
  /// Whether the connection has the view of ``HiddenDocuments``.
  private(set) var canHideDocuments = false
  private let budget: MemoryBudget
  private var share = 0
  /// The name of another attached database, which gets an eighth of the memory.
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

  /// Ends a read transaction. If that fails, as it may without memory, the connection is closed.
  func endTransaction() {
    connection.rollBack()
    if connection.isInTransaction { connection.close() }
  }

  /// Creates the view of ``HiddenDocuments`` before a transaction begins. The end of a read transaction would remove one
  /// that was created in it, and SQLite would prepare every statement again.
  func prepareToHideDocuments() throws(SQLiteError) {
    if canHideDocuments { return }
    try HiddenDocuments.createView(on: connection)
    canHideDocuments = true
  }

  /// Takes the reader's current share of memory. Call it before each use.
  func prepare() throws(SQLiteError) {
    let now = budget.trade(share)
    guard now != share else { return }
    share = now
    try divideShare()
  }

  /// Shares the memory with a database attached under a name; `nil` after it is detached.
  package func setAttachedSchema(_ schema: String?) throws(SQLiteError) {
    attachedSchema = schema
    try divideShare()
  }

  private func divideShare() throws(SQLiteError) {
    let pages = share - share / 16
    guard let attachedSchema else { return try connection.setCacheSize(pages) }
    try connection.setCacheSize(pages / 8, of: attachedSchema)
    try connection.setCacheSize(pages - pages / 8)
  }

  /// The memory for a sort before it spills to disk, in bytes; its temporary pages may take as much again.
  package var sortMemory: Int { max(64 * 1024, share / 32) }
}
