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
  /// A document's tree; `nil` if the document does not exist.
  package typealias KnownTree = (id: String, tree: DocumentTree?)

  private var open: Connection?
  /// The reader that runs the transaction; `nil` inside a write, and where each statement is its own transaction.
  private(set) var reader: StoreReader?
  private var progressChecks: [ObjectIdentifier: ProgressCheck] = [:]
  /// The tree that ``tree(ofDocument:)`` has read last.
  package var lastTree: KnownTree?
  /// The documents that are hidden, once they are known.
  var hidden: HiddenDocuments?
  /// The time at which documents are hidden, in seconds since 1970, once it is known.
  package var instant: Double?
  /// The states of extensions for this transaction. The next one has them, too, if it reads the same.
  package var extensionStates = ExtensionStates()
  /// The rules of the user who reads; `nil` if none are enforced.
  package internal(set) var rules: (any DocumentRules)? {
    didSet { (seen, known, lastTree) = (nil, nil, nil) }
  }
  /// Whether reads include documents that the user has seen until they were changed, for a replicator that sends this change.
  package var includesLeft = false
  /// The views of what the user sees, once they are known; the second optional is `nil` for everything.
  private var seen: SeenDocuments??
  /// The documents that the user sees, once they are known; the second optional is `nil` for everything.
  private var known: (any DocumentVisibility)??
  /// The memory for a sort before it spills to disk, in bytes.
  package let sortMemory: Int

  init(_ connection: Connection, of store: Datastore, sortMemory: Int, stop: StopSignal?) throws {
    self.store = store
    self.stop = stop
    // What is sorted elsewhere would not be encrypted there.
    self.sortMemory = store.keys == nil ? sortMemory : .max
    rules = store.options.rules
    open = connection
    if stop != nil { updateProgressCheck() }
  }

  /// Begins the transaction of a reader, with the snapshots of the extensions that are open.
  ///
  /// - Parameter isWhole: Whether an extension that is created later may begin again.
  func begin(on reader: StoreReader, with extensions: [any DatastoreExtension], isWhole: Bool) throws {
    self.reader = reader
    let isPrepared = rules == nil || reader.seenDocuments != nil
    if isPrepared, !isWhole || !extensions.isEmpty, let kept = reader.resume(with: extensions) {
      extensionStates = kept
      return
    }
    try reader.beginAnew()
    for each in extensions { try each.willBegin(on: reader) }
    if store.hiding != nil { try reader.prepareToHideDocuments() }
    if rules != nil { try reader.prepareToWithholdDocuments() }
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
    if case .some(.some(let views)) = seen { views.show(nil) }
    seen = nil
    reader = nil
    open?.setProgressCheck(nil)
    open = nil
    lastTree = nil
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

  /// The documents that the user sees; `nil` for all.
  package func visibility() throws -> (any DocumentVisibility)? {
    guard rules != nil else { return nil }
    if let known { return known }
    let visibility = try rules?.visibility(in: self)
    known = visibility
    return visibility
  }

  /// The views of the documents that the user sees; `nil` for everything.
  func seenDocuments() throws -> SeenDocuments? {
    guard rules != nil else { return nil }
    if let seen { return seen }
    guard let visibility = try visibility() else {
      seen = .some(nil)
      return nil
    }
    // A write has its own, as their creation ends with it.
    let views = try reader?.seenDocuments ?? use { try SeenDocuments(on: $0) }
    views.show(visibility)
    seen = views
    return views
  }

  /// The documents that are read: without those that are hidden, and those that the user does not see.
  func visibleDocuments() throws -> DocumentTable {
    let hidden = try hiddenDocuments()
    return try seenDocuments()?.table(hidesDocuments: !hidden.isEmpty, includesLeft) ?? hidden.visible
  }

  func reading<R>(_ body: (DocumentReading) throws -> R) throws -> R {
    let table = try visibleDocuments()
    return try use {
      try body(DocumentReading(connection: $0, table: table, files: store.attachmentFiles))
    }
  }

  /// Reads a document. If the file is damaged there, the error names the document.
  func reading<R>(_ id: String, _ body: (DocumentReading) throws -> R) throws -> R {
    try reading { documents in
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
