import CDTDatastore
import CDTJSON
import CDTPlatform
import CDTSQLite
import Synchronization

/// The live queries of a datastore: reads each changed document once after a commit, and brings the results of the
/// queries that it concerns up to date.
///
/// | an observer is | since | a commit | its consumer |
/// |---|---|---|---|
/// | entered | `enter` | has no effect | runs the query |
/// | current | `run` | changes its rows (`apply`) | takes the rows |
/// | stale | `markStale`: the rows of its page are used up, the matcher has failed, it includes documents and one of these or a row has changed, the clock was set back, the rules of its reader may have changed, the datastore has another user, or only the datastore can answer it | has no effect | runs the query |
/// | ended | `leave`, `close` | has no effect; the next one removes it from the lists | gets the end |
///
/// A changed document concerns the queries that have it among their rows, and the queries whose selector it may satisfy
/// (``ObserverLists``); the matcher decides. A query that can't be answered by the changed documents is only marked: it
/// is run again when its consumer asks for the results.
///
/// Locks are taken in the order `state`, `members`, the observer's own. ``violations()`` says what must be true between turns.
package final class LiveQueries: KeptResults {
  private struct State {
    var observers = ObserverLists()
    /// The sequence after which changes are still to be read.
    var sequence: Int64 = 0
    /// The time until which the documents that have expired were taken from the results.
    var expired = -Double.infinity
    /// The generation of the rules of that time.
    var rules = 0
    /// Whether the scan of unindexed documents stopped at its limit.
    var isIncomplete = false
  }

  private struct Members {
    var observers: [ObjectIdentifier: LiveObserver] = [:]
    /// The observers that have left, with the numbers of their rows, until the next turn.
    var leaving: [(observer: LiveObserver, rows: [Int64])] = []
    var listener: ChangeListener?
    var reader: Task<Void, Never>?
    var isClosed = false
  }

  /// Held while changes are read and observers enter, always on a thread that may wait for the disk.
  private let state = Mutex(State())
  private let members = Mutex(Members())
  private let appliedCount = Atomic(0)
  private let runCount = Atomic(0)

  /// The number of changes of documents that were applied to the results of a query, and the number of times that
  /// queries were run.
  package var counts: (applied: Int, runs: Int) {
    (appliedCount.load(ordering: .relaxed), runCount.load(ordering: .relaxed))
  }

  /// The number of observers that take changes.
  package var observerCount: Int { state.withLock { $0.observers.all.count } }

  // MARK: Observers

  /// Adds an observer, whose query must be run first, and reads commits from now on.
  ///
  /// - Throws: `DatastoreError` if the datastore's directory can't be watched, or it is closed.
  func enter(_ observer: LiveObserver, _ store: Datastore) throws {
    try store.checkOpen()
    try members.withLock { members in
      guard !members.isClosed else {
        _ = observer.end(nil)
        return
      }
      let listener = try members.listener ?? ChangeListener(to: store)
      members.listener = listener
      members.observers[ObjectIdentifier(observer)] = observer
      if members.reader == nil {
        members.reader = Task.detached { [self] in await follow(store, listener) }
      }
    }
  }

  /// Removes an observer.
  func leave(_ observer: LiveObserver) {
    let rows = observer.end(nil)
    let isLast = members.withLock { members in
      guard members.observers.removeValue(forKey: ObjectIdentifier(observer)) != nil else { return false }
      members.leaving.append((observer, rows))
      guard members.observers.isEmpty else { return false }
      members.reader.take()?.cancel()
      members.listener = nil
      return true
    }
    // Release the memory, on a thread that may wait for a turn.
    if isLast { try? BlockingPool.run { [self] in state.withLock { removeLeaving(&$0) } } }
  }

  package func close() { close(nil) }

  /// Ends all queries.
  ///
  /// - Parameter error: The error that they throw, or `nil` if the datastore was closed.
  private func close(_ error: (any Error)?) {
    let observers = members.withLock { members in
      if error == nil { members.isClosed = true }
      members.reader.take()?.cancel()
      members.listener = nil
      defer { members.observers = [:] }
      return members.observers
    }
    let left = observers.values.map { ($0, $0.end(error)) }
    members.withLock { $0.leaving += left }
  }

  package func rulesDidChange() {
    let observers = members.withLock { $0.observers }
    for observer in observers.values where observer.rules == nil { observer.markStale() }
  }

  private func removeLeaving(_ state: inout State) {
    let leaving = members.withLock { members in
      defer { members.leaving = [] }
      return members.leaving
    }
    for (observer, rows) in leaving { state.observers.remove(observer, rows: rows) }
    if state.observers.isEmpty { state = State() }
  }

  /// Runs the query of an observer, whose results are then kept up to date.
  func run(_ observer: LiveObserver, _ store: Datastore, stop: StopSignal? = nil) throws {
    let listener = members.withLock { $0.listener }
    let heard = listener?.commits
    let plugin = try store.queryExtension()
    func run(_ transaction: ReadTransaction) throws -> (LiveObserver.Found, instant: Double) {
      (
        try observer.run(transaction),
        plugin.expiry.hasRules ? plugin.expired.instant(of: transaction) : .infinity
      )
    }
    let (found, instant) =
      try observer.rules.map { try store.readSnapshot(as: $0, stop: stop, run) }
      ?? store.readSnapshot(stop: stop, run)
    runCount.add(1, ordering: .relaxed)
    let isBehind = state.withLock { state in
      removeLeaving(&state)
      guard let (known, hasNewClause) = observer.take(found) else { return false }
      state.expired = min(state.expired, instant)
      let isBehind = found.sequence < state.sequence
      state.sequence = state.observers.isEmpty ? found.sequence : min(state.sequence, found.sequence)
      state.observers.insert(
        observer, replacing: known, with: found.rows.map(\.number), hasNewClause: hasNewClause)
      if isBehind, !observer.isIncremental { observer.markStale() }
      return isBehind
    }
    if observer.rules == nil, found.rules !== store.documentRules { observer.markStale() }
    // A commit since the results were read may have been passed over.
    if let listener, isBehind || listener.commits != heard { listener.wake() }
    // A document may have expired since.
    _ = try? plugin.expired.remove(deletes: false)
  }

  // MARK: Changes

  /// The time until commits are read again after some that concerned nobody.
  private static let pause = Duration.milliseconds(1)

  /// Follows the commits until the task is cancelled.
  private func follow(_ store: Datastore, _ listener: ChangeListener) async {
    while !Task.isCancelled {
      let heard = listener.commits
      do {
        let isQuiet = try await store.runReading { stop in try !self.update(store, stop: stop) }
        // A writer does not wake this task while it sleeps.
        if isQuiet { try await Task.sleep(for: Self.pause) }
      } catch is CancellationError {
        return
      } catch let error as DatastoreError where error.code == .closed {
        return close()
      } catch let error as DatastoreError where error.code == .suspended {
        await store.untilResumed()
        continue
      } catch {
        close(error)
      }
      await listener.wait(since: heard)
    }
  }

  /// Reads the changes of all commits since the last call, and applies them.
  ///
  /// - Returns: Whether a change concerns an observer.
  @discardableResult
  package func update(_ store: Datastore, stop: StopSignal? = nil) throws -> Bool {
    try state.withLock { state in
      removeLeaving(&state)
      guard !state.observers.isEmpty else { return false }
      var effects = Effects()
      let expiry = try store.queryExtension().expiry
      let now = expiry.now
      if expiry.hasRules { Self.noticeClock(at: now, &state) }
      var next: Double?
      let last = try store.readWithoutExtensions(stop: stop) { transaction in
        try transaction.use { connection in
          try Self.read(transaction, connection, expiry, at: now, after: state.sequence) { change in
            if let time = change.expires, !change.isDeleted { next = min(next ?? .infinity, time) }
            if change.row.isOfDesignDocument() {
              for (key, observer) in state.observers.all where observer.mayLack(change.sequence) {
                if observer.rules != nil || store.hasUser { effects.stale[key] = observer }
              }
            }
            try effects.add(change, in: transaction, state.observers)
          }
        }
      }
      expiry.wake(at: next)
      guard let last else {
        // The documents of a backup that was restored have lower sequences.
        let last = try store.readWithoutExtensions { try $0.lastSequence() }
        if last < state.sequence {
          state.sequence = last
          for observer in state.observers.all.values { observer.markStale() }
        }
        return false
      }
      state.sequence = last
      apply(effects, &state)
      return !effects.rows.isEmpty || !effects.stale.isEmpty
        || state.observers.dependent.values.contains { !$0.isIncremental }
    }
  }

  /// The differences between the lists of observers and the observers themselves; empty if there are none.
  ///
  /// Tests call it.
  func violations() -> [String] {
    state.withLock { state in
      removeLeaving(&state)
      return state.observers.violations()
    }
  }

  private func apply(_ effects: Effects, _ state: inout State) {
    appliedCount.add(effects.count, ordering: .relaxed)
    for (observer, rows) in effects.rows.values {
      let (added, removed) = observer.apply(rows)
      state.observers.update(observer, removing: removed, adding: added)
    }
    for observer in effects.stale.values { observer.markStale() }
    for observer in state.observers.dependent.values where !observer.isIncremental { observer.markStale() }
  }

  package func removeExpired(
    until time: Double, by rules: Int,
    _ expired: (_ since: Double) throws -> (numbers: [Int64], isComplete: Bool)
  ) throws {
    try state.withLock { state in
      guard !state.observers.isEmpty else { return }
      let isSame = !Self.noticeClock(at: time, &state) && rules == state.rules
      var (numbers, isComplete) = try expired(isSame ? state.expired : -.infinity)
      if isSame, isComplete, state.isIncomplete { (numbers, isComplete) = try expired(-.infinity) }
      (state.expired, state.rules, state.isIncomplete) = (time, rules, !isComplete)
      guard !numbers.isEmpty else { return }
      var effects = Effects()
      for number in numbers {
        for observer in state.observers.holding(number) { effects.add(nil, of: number, to: observer) }
      }
      effects.stale = state.observers.dependent.filter { $0.value.hasIncludes }
      apply(effects, &state)
    }
  }

  /// Marks all observers as stale if the clock was set back: documents that were left out may be there again.
  ///
  /// - Returns: Whether it was.
  @discardableResult
  private static func noticeClock(at time: Double, _ state: inout State) -> Bool {
    guard time < state.expired else { return false }
    state.expired = time
    for observer in state.observers.all.values { observer.markStale() }
    return true
  }

  /// Calls `body` with each document that changed after a sequence.
  ///
  /// - Returns: The last sequence; `nil` if nothing has changed.
  private static func read(
    _ transaction: ReadTransaction, _ connection: Connection, _ expiry: ExpirySchedule, at now: Double,
    after sequence: Int64, _ body: (LiveChange) throws -> Void
  ) throws -> Int64? {
    let statement = try connection.statement(
      """
      SELECT \(CandidateRow.columns), d.sequence, d.deleted FROM documents d
       WHERE d.sequence > ?1 ORDER BY d.sequence
      """)
    defer { statement.reset() }
    try statement.bind(sequence, at: 1)
    var last: Int64?
    let rows = CandidateRows(statement)
    while try rows.next() {
      try transaction.stop?.check()
      let row = CandidateRow(rows)
      let expires = expiry.hasRules ? expiry.time(of: row.bytes) : nil
      let change = LiveChange(
        row: row, sequence: statement.int64(6),
        isDeleted: statement.int64(7) != 0 || expires.map { $0 <= now } ?? false, expires: expires)
      last = change.sequence
      try body(change)
    }
    return last
  }

  /// The rows that each affected observer gains or loses.
  private struct Effects {
    /// The row of each changed document, if it has one now.
    var rows: [ObjectIdentifier: (observer: LiveObserver, rows: [Int64: LiveRow?])] = [:]
    /// The observers that must be run: their selector could not be decided, or they include documents.
    var stale: [ObjectIdentifier: LiveObserver] = [:]
    var count = 0

    /// Adds the row of a document among those of an observer, `nil` for none.
    mutating func add(_ row: LiveRow?, of number: Int64, to observer: LiveObserver) {
      rows[ObjectIdentifier(observer), default: (observer, [:])].rows[number] = .some(row)
      count += 1
    }

    mutating func add(
      _ change: LiveChange, in transaction: ReadTransaction, _ observers: ObserverLists
    ) throws {
      let number = change.row.number
      if !observers.dependent.isEmpty {
        let id = change.row.id
        for (key, observer) in observers.dependent
        where observer.hasIncludes && observer.mayLack(change.sequence) && observer.links(to: id) {
          stale[key] = observer
        }
      }
      var document: DocumentRevision?
      for observer in observers.candidates(for: change) {
        let key = ObjectIdentifier(observer)
        // A candidate may occur twice.
        if rows[key]?.rows[number] != nil || stale[key] != nil { continue }
        guard observer.mayLack(change.sequence), !observer.isStale else { continue }
        do {
          let row = try observer.row(for: change) {
            let whole = try document ?? change.row.document(in: transaction)
            document = whole
            return whole
          }
          guard row != nil || observers.isHeld(number, by: observer) else { continue }
          if observer.hasIncludes { stale[key] = observer } else { add(row, of: number, to: observer) }
        } catch is QueryError {
          stale[key] = observer
        }
      }
    }
  }
}

/// A changed document: the current row of a statement.
struct LiveChange {
  let row: CandidateRow
  let sequence: Int64
  /// Whether it has been deleted or has expired.
  let isDeleted: Bool
  /// The time at which it expires.
  let expires: Double?

  var bytes: DocumentBytes { row.bytes }
}

extension Datastore {
  /// The live queries of the datastore.
  package func liveQueries() throws -> LiveQueries { try queryExtension().kept.results { LiveQueries() } }
}
