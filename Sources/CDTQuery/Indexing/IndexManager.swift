package import CDTDatastore
import CDTPlatform
import JSON
import Synchronization

/// A datastore's indexes: the file that holds them, and who writes to it.
///
/// The file lies in the datastore's extension directory and goes with it. Definitions are also kept as JSON beside it, so
/// that a file that is lost, damaged or of another version is made again from the documents (``IndexRecovery``).
package final class IndexManager: DatastoreExtension {
  package static let extensionName = "com.cloudant.sync.query"

  /// The path of the index file.
  package let path: String
  let recovery: IndexRecovery
  private let directory: String
  private let store: WeakReference<Datastore>
  /// What brings the indexes up to date with each write, once there are any.
  private let turn = Mutex(Turn())
  /// What fills indexes that nobody waits for.
  let worker = IndexWorker()
  /// How many callers are filling indexes and wait for it.
  private let callersBuilding = Atomic(0)

  private struct Turn: @unchecked Sendable {
    // Sendable without a lock of its own: it lies under the Mutex above.
    var current: IndexTurn?
  }

  package init(of store: Datastore, directory: String) {
    self.store = WeakReference(store)
    self.directory = directory
    path = "\(directory)/\(IndexFile.name)"
    recovery = IndexRecovery(path: path, directory: directory)
    // What an earlier process has left undone is done now.
    if recovery.mayBeNeeded { wakeWorker() }
  }

  // MARK: DatastoreExtension

  package func close() {
    worker.close()
    turn.withLock { turn in
      turn.current?.close()
      turn.current = nil
    }
  }

  package func willCommit(_ write: PendingWrite) {
    guard write.lastSequence > write.previousSequence else { return }
    let isBehind = turn.withLock { turn -> Bool in
      do {
        guard let current = try self.current(&turn) else { return recovery.hasDefinitions }
        return try current.prepare(write)
      } catch {
        // The documents are saved whatever becomes of the indexes, which then lack them and are caught up later.
        turn.current?.rollBack()
        if IndexRecovery.isDamage(error) {
          turn.current?.close()
          turn.current = nil
        }
        return true
      }
    }
    if isBehind { wakeWorker() }
  }

  package func didCommit() {
    let isDue = turn.withLock { turn -> Bool in
      do {
        try turn.current?.commit()
        return turn.current?.isMeasuringDue ?? false
      } catch {
        turn.current?.rollBack()
        return true
      }
    }
    if isDue { wakeWorker() }
  }

  package func didRollBack() {
    turn.withLock { $0.current?.rollBack() }
  }

  /// What writes to the file as it is now; `nil` where there is none.
  private func current(_ turn: inout Turn) throws -> IndexTurn? {
    let identity = FileIdentity(path)
    if let current = turn.current, current.file.identity == identity { return current }
    turn.current?.close()
    turn.current = nil
    guard identity != nil else { return nil }
    turn.current = try IndexTurn(path: path, of: openStore())
    return turn.current
  }

  // MARK: Work that nobody waits for

  /// Has the indexes repaired, filled and measured in the background.
  func wakeWorker() {
    worker.wake { [weak self] isClosing in
      _ = try self?.fill(only: nil) { _ in
        !isClosing() && self?.callersBuilding.load(ordering: .relaxed) == 0
      }
    }
  }

  // MARK: Changing

  /// Runs `body` with the file, made if it is missing and again if it is damaged.
  private func withFile<R>(_ body: (IndexConnection, Datastore) throws -> R) throws -> R {
    let store = try openStore()
    return try recovery.recovering(for: store) {
      let file = try IndexConnection(path: path, of: store)
      defer { file.close() }
      return try body(file, store)
    }
  }

  private func openStore() throws -> Datastore {
    guard let store = store.value else { throw QueryError.resultSetClosed }
    return store
  }

  /// Fills the indexes that are not complete, or the one named, on the calling thread. Only one builds at a time, in all
  /// processes; another one waits and finds the work done.
  ///
  /// - Parameter goesOn: Is told how far the work is, and says whether to go on. What is done stays.
  /// - Returns: Whether all is done.
  @discardableResult
  func build(only name: String?, _ goesOn: @escaping (IndexProgress) -> Bool = { _ in true }) throws -> Bool {
    // The worker stops for a caller, who wants to see progress, and goes on with what the caller leaves.
    callersBuilding.add(1, ordering: .relaxed)
    let isDone: Bool
    do {
      defer { callersBuilding.subtract(1, ordering: .relaxed) }
      isDone = try fill(only: name, goesOn)
    }
    if isDone && name != nil { wakeWorker() }
    return isDone
  }

  private func fill(only name: String?, _ goesOn: @escaping (IndexProgress) -> Bool) throws -> Bool {
    guard recovery.mayBeNeeded else {
      _ = goesOn(IndexProgress(done: 0, total: 0))
      return true
    }
    return try withFile { file, store in
      try store.checkOpen()
      let lock = try IndexLock.whileBuilding(directory) { goesOn(IndexProgress(done: 0, total: 0)) }
      guard lock != nil else { return false }
      return try IndexBuilder(store, file, goesOn: goesOn).run(only: name)
    }
  }

  package func listIndexes() throws -> [IndexInfo] {
    guard recovery.mayBeNeeded else { return [] }
    return try withFile { file, _ in try IndexInfo.all(in: file) }
  }

  /// Creates or confirms an index and fills it.
  package func ensure(_ definition: IndexDefinition, isNamed: Bool) throws -> String {
    let name = try declare(definition, isNamed: isNamed)
    _ = try build(only: name)
    return name
  }

  /// Creates or confirms an index, and leaves it to be filled.
  package func declare(_ definition: IndexDefinition, isNamed: Bool) throws -> String {
    try withFile { file, _ in
      try recovery.changingDefinitions {
        let catalog = try file.catalog()
        if let existing = catalog.entry(named: definition.name) {
          guard existing.definition.isSame(as: definition) else {
            throw QueryError.indexConflict(definition.name, existing: existing.definition)
          }
          return definition.name
        }
        if !isNamed, let same = catalog.entries.first(where: { $0.definition.isSame(as: definition) }) {
          return same.definition.name
        }
        if definition.type == .text, let other = catalog.text {
          throw QueryError.secondTextIndex(other.definition.name)
        }
        try file.create(definition)
        try recovery.save(file.catalog().entries.map(\.definition))
        return definition.name
      }
    }
  }

  package func delete(named name: String) throws {
    try withFile { file, _ in
      try recovery.changingDefinitions {
        let catalog = try file.catalog()
        let entry = try catalog.entry(wanted: name, at: "name")
        try recovery.save(catalog.entries.map(\.definition).filter { $0 != entry.definition })
        try file.delete(entry)
      }
    }
  }

  /// Empties every index, or the one named, and leaves it to be filled.
  func empty(named name: String?) throws {
    try withFile { file, _ in
      let catalog = try file.catalog()
      let entries = try name.map { [try catalog.entry(wanted: $0, at: "name")] } ?? catalog.entries
      for entry in entries { try file.empty(entry) }
    }
  }

  /// Empties every index, or the one named, and fills it again.
  package func rebuild(named name: String?) throws {
    try empty(named: name)
    _ = try build(only: name)
  }

  // MARK: Checking

  /// Compares the indexes with the documents.
  func check(_ progress: (_ done: Int, _ total: Int) -> Void) throws -> IndexFileCheck {
    let wanted = try recovery.definitions
    guard FileIdentity(path) != nil else {
      return wanted.isEmpty ? IndexFileCheck() : IndexFileCheck(missing: "the index file is missing")
    }
    return try IndexFileCheck(path, of: openStore(), wanted, progress: progress)
  }

  /// Makes anew what a check has found wrong.
  func repair(_ check: IndexFileCheck) throws {
    if check.isFileDamaged {
      try recovery.replaceFile(check.file, for: openStore())
      _ = try build(only: nil)
    }
    for name in check.indexes { try rebuild(named: name) }
  }
}
