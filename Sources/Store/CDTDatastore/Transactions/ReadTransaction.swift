package import CDTSQLite

/// One state of a datastore, for several related reads.
///
/// ```swift
/// let (open, total) = try store.read { snapshot in
///   (try snapshot.count(Query(["completed": false])), try snapshot.documentCount())
/// }
/// ```
///
/// The first read takes the state; later writes are not visible in it. The transaction ends when its closure returns; later use
/// throws `.closed`. The transaction of a write has the same methods and also sees its own writes.
///
/// See <doc:WorkingWithDocuments#Reading-one-state>.
public class ReadTransaction {
  /// The datastore.
  package let store: Datastore
  package let stop: StopSignal?
  /// The part of its state that the transaction shows.
  package var view: View

  private var open: Connection?
  /// The reader that runs the transaction; `nil` inside a write, and where each statement is its own transaction.
  private(set) var reader: StoreReader?
  private var progressChecks: [ObjectIdentifier: ProgressCheck] = [:]
  /// The states of extensions for this transaction. The next one has them, too, if it reads the same.
  package var extensionStates = ExtensionStates()
  /// The memory for a sort before it spills to disk, in bytes.
  package let sortMemory: Int

  init(_ connection: Connection, of store: Datastore, sortMemory: Int, stop: StopSignal?) throws {
    self.store = store
    self.stop = stop
    // What is sorted elsewhere would not be encrypted there.
    self.sortMemory = store.keys == nil ? sortMemory : .max
    view = View(rules: store.documentRules)
    open = connection
    if stop != nil { updateProgressCheck() }
  }

  /// Begins the transaction of a reader, with the snapshots of the extensions that are open.
  ///
  /// - Parameter isWhole: Whether an extension that is created later may begin again.
  func begin(on reader: StoreReader, with extensions: [any DatastoreExtension], isWhole: Bool) throws {
    self.reader = reader
    let isPrepared = view.rules == nil || reader.seenDocuments != nil
    if isPrepared, !isWhole || !extensions.isEmpty, let kept = reader.resume(with: extensions) {
      extensionStates = kept
      return
    }
    try reader.beginAnew()
    for each in extensions { try each.willBegin(on: reader) }
    if store.hiding != nil { try reader.prepareToHideDocuments() }
    if view.rules != nil { try reader.prepareToWithholdDocuments() }
    try reader.begin()
    for each in extensions { try each.didBegin(self, on: reader) }
  }

  /// Begins again for an extension that was created after the transaction began.
  ///
  /// - Returns: Whether the extension has its snapshot; `false` if the state has been read, since another state could differ.
  package func beginAgain(with extension: some DatastoreExtension) throws -> Bool {
    guard let reader, !reader.connection.isReading else { return false }
    // The extension may attach a file and detach it again, which a transaction that has read it prevents.
    try reader.beginAnew()
    do {
      try begin(on: reader, with: [`extension`], isWhole: true)
    } catch {
      // Without a transaction, later reads would not see one state.
      if !reader.connection.isInTransaction { end() }
      throw error
    }
    return true
  }

  func end() {
    view.end()
    reader = nil
    open?.setProgressCheck(nil)
    open = nil
    extensionStates = ExtensionStates()
  }

  /// Runs `body` with the connection; SQLite errors become ``DatastoreError``.
  package func use<R>(_ body: (Connection) throws -> R) throws -> R {
    let connection = try connection()
    do {
      return try body(connection)
    } catch let error as SQLiteError {
      try stop?.check()
      throw DatastoreError(error, path: store.databasePath)
    }
  }

  /// The connection, while the transaction is open.
  package func connection() throws -> Connection {
    guard let open else { throw DatastoreError(.closed(store.name)) }
    try store.suspension.check()
    return open
  }

  /// - Parameter table: The documents that are read; `nil` for those that are visible.
  func reading<R>(in table: DocumentTable? = nil, _ body: (DocumentReading) throws -> R) throws -> R {
    let table = try table ?? visibleDocuments()
    return try use {
      try body(DocumentReading(connection: $0, table: table, files: store.attachmentFiles))
    }
  }

  /// Reads a document. If the file is damaged there, the error names the document.
  func reading<R>(
    _ id: String, in table: DocumentTable? = nil, _ body: (DocumentReading) throws -> R
  ) throws -> R {
    try reading(in: table) { documents in
      do {
        return try body(documents)
      } catch let error as SQLiteError where error.isCorrupt {
        let damage = DatastoreError(error, path: store.databasePath)
        throw DatastoreError(.unreadableDocument(id, damage.message))
      }
    }
  }

  /// The winner of a document.
  ///
  /// - Throws: ``DatastoreError`` with the code `.notFound` if the document does not exist or is deleted.
  /// - Complexity: O(log *n*).
  public func document(withID id: String) throws -> DocumentRevision {
    try reading(id) { try $0.document(withID: id) }
  }

  // MARK: Stopping

  /// A registered check that can interrupt statements.
  package final class ProgressCheck {
    fileprivate let shouldContinue: () -> Bool

    fileprivate init(_ shouldContinue: @escaping () -> Bool) {
      self.shouldContinue = shouldContinue
    }
  }

  /// Interrupts statements when a closure returns `false`, in addition to the transaction's own checks.
  package func addProgressCheck(_ shouldContinue: @escaping () -> Bool) -> ProgressCheck {
    let check = ProgressCheck(shouldContinue)
    progressChecks[ObjectIdentifier(check)] = check
    updateProgressCheck()
    return check
  }

  package func removeProgressCheck(_ check: ProgressCheck) {
    progressChecks[ObjectIdentifier(check)] = nil
    updateProgressCheck()
  }

  private func updateProgressCheck() {
    guard stop != nil || !progressChecks.isEmpty else {
      open?.setProgressCheck(nil)
      return
    }
    open?.setProgressCheck { [stop, checks = Array(progressChecks.values)] in
      stop?.isSet != true && checks.allSatisfy { $0.shouldContinue() }
    }
  }
}
