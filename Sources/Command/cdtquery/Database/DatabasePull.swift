#if Replication
  import CDTDatastore
  import CDTReplication

  /// Copies a database at a server into a store.
  struct DatabasePull: Sendable {
    let database: RemoteDatabase
    let store: Datastore
    let isQuiet: Bool

    init(from database: RemoteDatabase, to store: Datastore, isQuiet: Bool) {
      (self.database, self.store, self.isQuiet) = (database, store, isQuiet)
    }

    /// - Throws: `ToolError` if a revision could not be copied; what the replication throws.
    func run(isContinuous: Bool = false) async throws {
      var replication = Replication(.pull, with: database)
      replication.isContinuous = isContinuous
      let bar = ProgressBar(noun: "changes", isQuiet: isQuiet || isContinuous)
      defer { bar.clear() }
      for try await status in Replicator(replication, of: store).run() {
        bar.show(status.done, of: max(status.done, status.total))
        guard let rejected = status.result.rejected.first else { continue }
        throw ToolError(
          .data,
          "revision \(rejected.revision) of document \"\(rejected.id)\" can't be copied: \(rejected.reason)")
      }
    }
  }
#endif
