public import CDTDatastore

/// The findings of `check` of a datastore.
public struct StoreCheck: Sendable, Hashable {
  /// The problems of the documents, the attachments and the file.
  public let problems: [IntegrityFinding]
  /// The indexes that disagree with the documents. A datastore that can't be read has none, as they are not compared.
  public let indexes: [IntegrityFinding]
  /// Notes beside the damage: design documents with parts that are never used, documents that never expire, equal keys in unique
  /// indexes.
  public let notes: [IntegrityFinding]
}

extension Datastore {
  /// Checks the whole store, as `cdtquery check` does: `checkIntegrity`, `checkIndexes`, and notes.
  ///
  /// ```swift
  /// for finding in try store.check().problems { print(finding) }
  /// ```
  ///
  /// - Parameters:
  ///   - repair: Whether to rebuild damaged indexes and to write missing checksums; nothing else is changed.
  ///   - progress: Called with the number of documents checked and the total, from the beginning again for the indexes.
  /// - Returns: The findings, including those that were repaired.
  /// - Throws: `DatastoreError` if the file can't be read at all.
  /// - Complexity: O(*n* log *n*) in the number of documents, for each index.
  ///
  /// Source: `docs/cli.md`, Check.
  public func check(
    repair: Bool = false, progress: (_ done: Int, _ total: Int) -> Void = { _, _ in }
  ) throws -> StoreCheck {
    try check(repair: repair, nil, progress)
  }

  /// Checks the whole store on one of the datastore's threads.
  public func check(
    repair: Bool = false, progress: @escaping @Sendable (_ done: Int, _ total: Int) -> Void = { _, _ in }
  ) async throws -> StoreCheck {
    try await runLong { try self.check(repair: repair, $0, progress) }
  }

  private func check(
    repair: Bool, _ stop: StopSignal?, _ progress: (_ done: Int, _ total: Int) -> Void
  ) throws -> StoreCheck {
    let problems = try checkIntegrity(repair: repair, stop: stop, progress)
    try stop?.check()
    // Indexes can only be checked if the documents are readable.
    guard !problems.contains(where: { $0.kind == .database }) else {
      return StoreCheck(problems: problems, indexes: [], notes: [])
    }
    var indexes = try checkIndexes(repair: repair, progress: progress)
    // It may have been made again since the datastore was opened.
    let findings = try queryExtension().maintenance.findingsOfOpening()
    if indexes.isEmpty { indexes = findings }
    var notes = try checkDesignDocuments()
    notes += try documentsThatNeverExpire().map {
      IntegrityFinding(.expiry, documentID: $0.documentIDs.first, $0.description)
    }
    // Keys are read from the indexes.
    if indexes.isEmpty || repair {
      notes += try uniqueViolations().map {
        IntegrityFinding(.unique, documentID: $0.documentIDs.first, $0.description)
      }
    }
    return StoreCheck(problems: problems, indexes: indexes, notes: notes)
  }
}
