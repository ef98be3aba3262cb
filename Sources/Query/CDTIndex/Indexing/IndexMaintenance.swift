import CDTDatastore

/// Repairs, builds, measures and checks the indexes: on the worker's thread, or on that of a caller who wants to see progress.
final class IndexMaintenance: Sendable {
  private let indexes: IndexManager
  private let design: DesignFollower
  private let expired: ExpiredDocuments
  private var recovery: IndexRecovery { indexes.recovery }

  init(_ indexes: IndexManager, _ design: DesignFollower, _ expired: ExpiredDocuments) {
    (self.indexes, self.design, self.expired) = (indexes, design, expired)
    indexes.worker.start { [weak self] fills in try self?.work(fills: fills) }
  }

  /// Deletes the documents that have expired, on the worker's thread.
  ///
  /// - Parameter fills: Whether it also repairs, builds and measures the indexes.
  func work(fills: Bool) throws {
    let worker = indexes.worker
    let deletion = Result { try expired.remove { !worker.isClosed } }
    guard fills else { return try deletion.get() }
    _ = try fill(only: nil) { _ in worker.mayFill }
    // An index may have become complete, and a rule may be new.
    try expired.remove { !worker.isClosed }
  }

  /// Builds the incomplete indexes, or the named one, on the calling thread. Only one build runs at a time across all
  /// processes; a second caller waits and then finds the work done.
  ///
  /// - Parameter shouldContinue: Called with the progress; returns whether to continue. Completed work is kept.
  /// - Returns: Whether all is done.
  @discardableResult
  func build(only name: String?, _ shouldContinue: @escaping (IndexProgress) -> Bool = { _ in true }) throws
    -> Bool
  {
    let isDone = try indexes.worker.withoutFilling { try fill(only: name, shouldContinue) }
    if isDone && name == nil {
      try expired.remove(isRequested: true) { shouldContinue(IndexProgress(done: 0, total: 0)) }
    }
    if isDone && name != nil { indexes.worker.wake() }
    return isDone
  }

  private func fill(only name: String?, _ shouldContinue: @escaping (IndexProgress) -> Bool) throws -> Bool {
    if name == nil { try design.follow() }
    let start = IndexProgress(done: 0, total: 0)
    guard try recovery.mayBeNeeded else {
      _ = shouldContinue(start)
      return true
    }
    return try indexes.withFile { file, store in
      try store.checkOpen()
      let lock = try IndexLock.whileBuilding(indexes.directory) {
        try store.checkOpen()
        return shouldContinue(start)
      }
      guard let lock else { return false }
      defer { _ = lock }
      return try IndexBuilder(store, file, shouldContinue: shouldContinue).run(only: name)
    }
  }

  // MARK: Checking

  /// The violations of every unique index, or of the named one, after it was brought up to date.
  func uniqueViolations(named name: String?) throws -> [UniqueViolation] {
    let definitions = try design.definitions()
    if let name, !definitions.contains(where: { $0.name.hasSameBytes(as: name) }) {
      throw QueryError.unknownIndex(name, known: definitions.map(\.name), at: "name")
    }
    let wanted = definitions.filter { $0.options.isUnique && (name.map($0.name.hasSameBytes) ?? true) }
    guard !wanted.isEmpty else { return [] }
    func list() throws -> [UniqueViolation] {
      if !indexes.isReadOnly { try build(only: name) }
      // Damage of the indexes is not damage of the documents, so its error passes through as it is.
      return try indexes.openStore().readWithoutExtensions { transaction in
        Result {
          try indexes.reading { file in
            try file.connection.transaction(.deferred) {
              let (state, catalog) = (try file.state(), try file.catalog())
              let entries = wanted.compactMap { catalog.entry(named: $0.name) }
              return try entries.flatMap {
                try UniqueListing($0, state, in: file, transaction.sees).violations()
              }
            }
          }
        }
      }.get()
    }
    do {
      return try list()
    } catch let error where IndexRecovery.isDamage(error) && !indexes.isReadOnly {
      recovery.noteDamage()
      return try list()
    }
  }

  /// The finding that the file was missing when the datastore was opened, once.
  func findingsOfOpening() -> [IntegrityFinding] {
    recovery.takeMissing() ? IndexFileCheck.missing.findings : []
  }

  /// Compares the indexes with the documents.
  func check(_ progress: (_ done: Int, _ total: Int) -> Void) throws -> IndexFileCheck {
    try indexes.checkAccess()
    guard try recovery.currentFile() != nil else {
      return try recovery.definitions.isEmpty ? IndexFileCheck() : .missing
    }
    return try IndexFileCheck(indexes.path, of: indexes.openStore(), recovery, progress: progress)
  }

  /// Rebuilds the indexes in which a check found problems.
  func repair(_ check: IndexFileCheck) throws {
    if !check.findings.isEmpty { try indexes.openStore().checkWritable() }
    if check.isFileDamaged {
      try recovery.replaceFile(check.file, for: indexes.openStore())
      try build(only: nil)
    }
    for name in check.indexes {
      try indexes.empty(named: name)
      try build(only: name)
    }
  }
}
