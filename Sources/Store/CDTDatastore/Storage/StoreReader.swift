package import CDTSQLite

/// A connection that reads a datastore, lent to one user at a time.
///
/// Its transaction goes on after the user has ended, while nothing is committed: the next user reads the same state, and neither
/// locks nor reads what the first has read of it. A ``ConnectionPool`` ends it when nobody comes.
package final class StoreReader: PooledReader, @unchecked Sendable {
  // Sendable without a lock: a ConnectionPool, which has one, lends it to one user at a time, and its lease can't be
  // copied.

  package let connection: Connection
  /// The states of extensions for this connection.
  package var extensionStates = ExtensionStates()
  /// Whether the connection has the view of ``HiddenDocuments``.
  private(set) var canHideDocuments = false
  /// The views of what users see, once one with rules has come.
  private(set) var seenDocuments: SeenDocuments?
  private let budget: MemoryBudget
  private var share = 0
  /// The name of another attached database, which gets an eighth of the memory.
  private var attachedSchema: String?
  /// The states of the databases before the last transaction began: of the documents and of what is attached.
  private var before: (documents: LogState?, attached: LogState?)
  /// The states of extensions for the transaction that goes on, if one does.
  private var kept: ExtensionStates?
  /// The time at which a commit was last noticed. Soon afterwards no transaction goes on: a store that is written to often gains
  /// nothing, and the log of the writer grows.
  private var changed: ContinuousClock.Instant?

  init(_ connection: Connection, budget: MemoryBudget) {
    self.connection = connection
    self.budget = budget
    budget.addReader()
  }

  package func close() {
    letGo()
    // A state keeps what belongs to its file open, also after the connection is closed.
    before = (nil, nil)
    connection.close()
    budget.removeReader(share)
  }

  package var isUsable: Bool { !connection.isClosed }

  // MARK: Transactions

  /// Ends the transaction of the last user, if it goes on.
  ///
  /// - Throws: ``SQLiteError`` if there is no memory for it.
  func beginAnew() throws(SQLiteError) {
    letGo()
    guard isUsable else { throw .outOfMemory }
  }

  /// Begins a transaction, whose state is that of its first statement.
  func begin() throws(SQLiteError) {
    before = (connection.logState(), attachedSchema.flatMap { connection.logState(of: $0) })
    try connection.begin(.deferred)
  }

  /// Continues the transaction of the last user if a new one would read the same.
  ///
  /// - Returns: The states of the extensions in it.
  func resume(with extensions: [any DatastoreExtension]) -> ExtensionStates? {
    guard let kept = kept.take() else { return nil }
    guard before.documents?.isCurrent == true else {
      changed = .now
      return nil
    }
    return extensions.allSatisfy { $0.isCurrent(kept, on: self) } ? kept : nil
  }

  /// Whether the attached database has not changed since before the transaction began, and is read by it.
  package var isAttachedCurrent: Bool {
    guard let attachedSchema else { return false }
    return before.attached?.isCurrent == true && connection.isOnlyReading(attachedSchema)
  }

  /// Ends a transaction for its user.
  func end(_ transaction: ReadTransaction) {
    let states = transaction.extensionStates
    transaction.end()
    guard connection.isOnlyReading(), mayKeepState else { return letGo() }
    kept = states
  }

  private var mayKeepState: Bool {
    guard before.documents?.isCurrent == true else {
      changed = .now
      return false
    }
    guard let changed else { return true }
    guard ContinuousClock.now - changed > .microseconds(readerRest) else { return false }
    self.changed = nil
    return true
  }

  package var keepsState: Bool { kept != nil }

  /// Ends the transaction. If that fails, as it may without memory, the connection is closed.
  package func letGo() {
    kept = nil
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

  /// Creates the views of ``SeenDocuments`` before a transaction begins.
  func prepareToWithholdDocuments() throws(SQLiteError) {
    if seenDocuments == nil { seenDocuments = try SeenDocuments(on: connection) }
  }

  // MARK: Memory

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
