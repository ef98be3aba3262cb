import CDTPlatform
import CDTSQLite

extension Datastore {
  /// Reads one state of the datastore with any number of calls; concurrent writes are not visible.
  ///
  /// ```swift
  /// let (open, total) = try store.read { snapshot in
  ///   (try snapshot.count(Query(["completed": false])), try snapshot.documentCount())
  /// }
  /// ```
  ///
  /// The closure's errors are rethrown. Readers don't wait for writers, nor writers for readers. The write-ahead log
  /// can't restart while a state is read, so don't hold one longer than you need it.
  ///
  /// - Throws: ``DatastoreError``; the errors of the closure.
  ///
  /// See <doc:WorkingWithDocuments#Reading-one-state>.
  public func read<R>(_ body: (ReadTransaction) throws -> R) throws -> R {
    try readSnapshot(body)
  }

  /// Reads one state of the datastore on one of its threads.
  public func read<R: Sendable>(_ body: @escaping @Sendable (ReadTransaction) throws -> R) async throws -> R {
    try await WorkQueue.reads.run { stop in
      try self.readSnapshot(stop: stop, body)
    }
  }

  /// Runs several writes as one transaction: it is on disk when the call returns, and rolled back if the closure
  /// throws.
  ///
  /// The closure is synchronous, since nothing may suspend inside a transaction. Its errors are rethrown.
  ///
  /// - Throws: ``DatastoreError``: `.busy` if another process writes for too long, `.full`, `.nestedWrite` inside
  ///   another write of the same thread; `UniqueViolation` of the module CDTQuery if two documents would have the same key
  ///   in a unique index; and the errors of the closure.
  ///
  /// See <doc:WorkingWithDocuments#Transactions>.
  @discardableResult
  public func write<R>(_ body: (WriteTransaction) throws -> R) throws -> R {
    try write(stop: nil, body)
  }

  /// Runs several writes as one transaction, on one of the datastore's threads. If it is cancelled before the commit,
  /// nothing is saved.
  @discardableResult
  public func write<R: Sendable>(_ body: @escaping @Sendable (WriteTransaction) throws -> R) async throws -> R
  {
    try await writes.run { stop in try self.write(stop: stop, body) }
  }

  /// Runs synchronous calls on one of the datastore's threads, for calls that have no asynchronous form.
  ///
  /// ```swift
  /// let indexes = try await store.run { try $0.listIndexes() }
  /// ```
  ///
  /// If the task is cancelled, or its deadline passes, before the closure begins, the closure is not called. It is completed
  /// once it has begun; the closures of `read` and `write` stop earlier.
  ///
  /// - Throws: `CancellationError`; ``DatastoreError``; the errors of the closure.
  @discardableResult
  public func run<R: Sendable>(_ body: @escaping @Sendable (Datastore) throws -> R) async throws -> R {
    try await WorkQueue.long.run { _ in try body(self) }
  }

  /// Reads one state of the documents. A query in it would have no indexes.
  ///
  /// Extensions have a state in it only if documents may be hidden.
  package func readDocuments<R>(stop: StopSignal? = nil, _ body: (ReadTransaction) throws -> R) throws -> R {
    try openNewExtensions()
    return try hiding != nil
      ? readSnapshot(stop: stop, body) : readWithoutExtensions(stop: stop, body)
  }

  package func readDocuments<R: Sendable>(
    _ body: @escaping @Sendable (ReadTransaction) throws -> R
  ) async throws -> R {
    try await WorkQueue.reads.run { stop in try self.readDocuments(stop: stop, body) }
  }

  /// Reads one state of the documents that a user sees. A query in it would have no indexes.
  package func readDocuments<R: Sendable>(
    as rules: any DocumentRules, _ body: @escaping @Sendable (ReadTransaction) throws -> R
  ) async throws -> R {
    try await WorkQueue.reads.run { stop in
      try self.openNewExtensions()
      return try self.read(with: self.hiding != nil ? nil : [], as: rules, stop, body)
    }
  }

  /// Reads one state of the datastore as a user, on one of its threads.
  package func readSnapshot<R: Sendable>(
    as rules: any DocumentRules, _ body: @escaping @Sendable (ReadTransaction) throws -> R
  ) async throws -> R {
    try await WorkQueue.reads.run { stop in try self.read(with: nil, as: rules, stop, body) }
  }

  /// Reads one state of the documents, also those that are hidden.
  package func readWithoutExtensions<R>(
    stop: StopSignal? = nil, _ body: (ReadTransaction) throws -> R
  ) throws -> R {
    try read(with: [], stop, body)
  }

  package func readSnapshot<R>(stop: StopSignal? = nil, _ body: (ReadTransaction) throws -> R) throws -> R {
    try read(with: nil, stop, body)
  }

  /// Reads one state of the datastore as a user, who sees only some of the documents.
  ///
  /// - Parameter rules: The rules of the user, in place of those of the datastore.
  package func readSnapshot<R>(
    as rules: any DocumentRules, stop: StopSignal? = nil, _ body: (ReadTransaction) throws -> R
  ) throws -> R {
    try read(with: nil, as: rules, stop, body)
  }

  /// - Parameter extensions: `nil` for those that have data.
  private func read<R>(
    with extensions: [any DatastoreExtension]?, as rules: (any DocumentRules)? = nil, _ stop: StopSignal?,
    _ body: (ReadTransaction) throws -> R
  ) throws -> R {
    try withReader { reader in
      let state = try beginReading(reader, with: extensions, as: rules, stop: stop)
      do {
        let result = try body(state)
        reader.end(state)
        return result
      } catch {
        state.end()
        reader.letGo()
        throw error
      }
    }
  }

  package func readSnapshot<R: Sendable>(
    _ body: @escaping @Sendable (ReadTransaction) throws -> R
  ) async throws -> R {
    try await WorkQueue.reads.run { stop in try self.readSnapshot(stop: stop, body) }
  }

  /// Runs `body` on one of the reading threads.
  ///
  /// - Parameter signal: Set when the task is cancelled or its deadline passes.
  package func runReading<R: Sendable>(
    signal: StopSignal = StopSignal(), isolation: isolated (any Actor)? = #isolation,
    _ body: @escaping @Sendable (StopSignal) throws -> R
  ) async throws -> R {
    try await WorkQueue.reads.run(signal: signal, body)
  }

  /// Runs `body` on one of the threads for queries.
  ///
  /// - Parameter signal: Set when the task is cancelled or its deadline passes.
  package func runQuery<R: Sendable>(
    signal: StopSignal = StopSignal(), isolation: isolated (any Actor)? = #isolation,
    _ body: @escaping @Sendable (StopSignal) throws -> R
  ) async throws -> R {
    try await WorkQueue.queries.run(signal: signal, body)
  }

  /// Runs `body` on one of the threads for long operations.
  package func runLong<R: Sendable>(
    isolation: isolated (any Actor)? = #isolation, _ body: @escaping @Sendable (StopSignal) throws -> R
  ) async throws -> R {
    try await WorkQueue.long.run(body)
  }

  /// Runs an import that a client sends. A few run at the same time, and the others wait for them.
  package func runImport<R: Sendable>(
    isolation: isolated (any Actor)? = #isolation, _ body: @escaping @Sendable (StopSignal) throws -> R
  ) async throws -> R {
    try await WorkQueue.imports.run(body)
  }

  /// Runs a backup that a client asks for. A few run at the same time, and the others wait for them.
  package func runBackup<R: Sendable>(
    isolation: isolated (any Actor)? = #isolation, _ body: @escaping @Sendable (StopSignal) throws -> R
  ) async throws -> R {
    try await WorkQueue.backups.run(body)
  }

  /// Begins to read one state of the documents and of the data of extensions.
  ///
  /// - Parameter extensions: `nil` for those that have data.
  func beginReading(
    _ reader: StoreReader, with extensions: [any DatastoreExtension]? = nil,
    as rules: (any DocumentRules)? = nil, stop: StopSignal?
  ) throws -> ReadTransaction {
    let state = try ReadTransaction(reader.connection, of: self, sortMemory: reader.sortMemory, stop: stop)
    if let rules { state.view.enforce(rules) }
    do {
      try state.begin(on: reader, with: extensions ?? currentExtensions(), isWhole: extensions == nil)
      return state
    } catch {
      state.end()
      reader.letGo()
      throw error
    }
  }

  package func write<R>(stop: StopSignal?, _ body: (WriteTransaction) throws -> R) throws -> R {
    let extensions = try currentExtensions()
    let result = try withWriter(stop: stop) { writer in
      var cleanUp: (() -> Void)?
      defer { cleanUp?() }
      do {
        let (result, pending, arrivals) = try writer.transaction { connection in
          let transaction = try WriteTransaction(
            connection, of: self, sortMemory: memory.writerSortMemory, stop: stop)
          defer {
            cleanUp = transaction.cleanUp
            transaction.end()
          }
          transaction.arrivals = writer.arrivals
          let before = transaction.sequence
          let result = try body(transaction)
          try transaction.endArrivals()
          try transaction.checkIntact()
          try transaction.synchronizeFileNames()
          try stop?.check()
          try suspension.check()
          let pending = PendingWrite(
            connection: connection, previousSequence: before, lastSequence: transaction.sequence,
            replicatedSequences: transaction.replicatedSequences,
            changesDesignDocuments: transaction.lastDesignSequence != nil, sees: transaction.sees)
          for each in extensions { try each.willCommit(pending) }
          return (result, pending, transaction.arrivals)
        }
        writer.arrivals = arrivals
        // What idle readers keep is now an earlier state, which keeps the logs from restarting.
        endKeptStates()
        for each in extensions { each.didCommit(pending) }
        return result
      } catch {
        for each in extensions { each.didRollBack() }
        throw error
      }
    }
    changeListeners.didCommit()
    return result
  }
}
