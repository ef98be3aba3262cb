import CDTDatastore
import CDTJSON
import CouchDB

/// Transfers what one database has and another lacks.
///
/// A batch of changes travels in these steps:
///
/// ```
/// changes      which documents changed, with their leaves          source
/// missing      which of these revisions the target lacks           target
/// read, write  those revisions, in several requests at a time      source, target
/// durable      wait until the target has them on disk              target
/// checkpoint   note how far the replication has come               both
/// ```
///
/// While a batch is read and written, the first two steps of the next one run. While the last two run, the next batch
/// is read, but it is not written before they are done: after an interruption at most one batch is repeated.
struct OneWayReplication: Sendable {
  let source: any ReplicationSource
  let target: any ReplicationTarget
  let options: Replication
  let progress: ReplicationProgress.DirectionProgress
  let stop: ReplicationStop
  let log: ReplicationLog
  /// The filter that is applied on the way, if the source can't filter.
  let lateFilter: @Sendable () throws -> CompiledFilter?

  /// Another database has taken the place of one of the two.
  private struct DatabaseReplaced: Error {}

  /// The times at which the two databases were created, where they say so.
  private struct Instances {
    let source: String?
    let target: String?
  }

  /// A batch of changes, and what the target lacks of it.
  private struct Batch: Sendable {
    /// The sequence before it.
    let since: JSONValue
    let changes: ChangeBatch
    var missing: [RevisionDifference]
  }

  /// The state that a transfer depends on and adds to, besides its revisions.
  private struct Turn: Sendable {
    /// The end of the batch before, after which revisions are written.
    let previous: BatchCompletion
    let rejections: RejectionList
    /// The sequence before the revisions.
    let since: JSONValue
  }

  private static let maximumReplacements = 5

  func run() async throws {
    var replacements = 0
    while options.isContinuous || replacements < Self.maximumReplacements {
      do {
        return try await runSession()
      } catch is DatabaseReplaced {
        // The checkpoints of the new database lead to its beginning.
        replacements += 1
      } catch is CancellationError where stop.isSet && !Task.isCancelled {
        // It was told to stop during the pause before another attempt.
        return
      }
    }
    throw ReplicationError(.unreachable, "\(target.identity): the database is replaced again and again")
  }

  // MARK: A session

  private func runSession() async throws {
    let id = options.checkpointID(from: source.identity, to: target.identity, as: source.reader)
    let creates = options.createsDatabase
    let instances = try await retrying {
      // The other direction writes to it.
      async let source = source.open(creating: creates && options.direction == .both)
      async let target = target.open(creating: creates)
      return try await Instances(source: source, target: target)
    }
    let known = try await retrying {
      async let source = checkpointOfSource(id)
      async let target = target.checkpoint(id)
      return try await (source: source, target: target)
    }
    let resumption = Checkpoint.resumption(known.source, known.target)
    progress.begin(at: resumption.sequence)
    if resumption.sequence == 0, case .selector = options.filter {
      try await retrying { if try await target.isNew() { try await source.beginFilling() } }
    }
    let run = Checkpoint.Run(from: resumption)
    let rejections = RejectionList()
    if let record = resumption.rejections { try await transfer(record, rejections) }
    try await replicateBatches(from: resumption, instances, rejections) { sequence, counts, rejections in
      let checkpoint = Checkpoint(run, sequence: sequence, counts: counts, rejections: rejections)
      try await save(checkpoint, id)
    }
  }

  private typealias SaveCheckpoint =
    @Sendable (JSONValue, ReplicationResult.Counts, RejectionList.Record?) async throws -> Void

  private func replicateBatches(
    from start: Checkpoint.Resumption, _ instances: Instances, _ rejections: RejectionList,
    save: @escaping SaveCheckpoint
  ) async throws {
    var (recorded, recordedRejections) = (start.sequence, start.rejections)
    var previous = BatchCompletion {}
    do {
      var batch = try await next(since: start.sequence, waits: false)
      while true {
        let (changes, begin, before) = (batch.changes, ContinuousClock.now, progress.counts)
        async let following = changes.isLast ? nil : next(since: changes.last, waits: false)
        let turn = Turn(previous: previous, rejections: rejections, since: batch.since)
        let transferred = try await previous.during { [batch] in try await transfer(batch, turn) }
        try await previous.wait()
        let rejected = rejections.record
        if !changes.documents.isEmpty || (options.filter != nil && changes.last != recorded)
          || rejected != recordedRejections
        {
          let (sequence, counts) = (rejections.checkpoint(after: changes.last), progress.counts)
          previous = BatchCompletion {
            try await checkIdentities(instances)
            try await save(sequence, counts, rejected)
            let shown = sequence.shownSequence
            progress.count { $0.lastSequence = shown }
            log.batch(changes.documents.count, (counts, before), sequence: shown, since: begin)
          }
          (recorded, recordedRejections) = (changes.last, rejected)
        }
        if !stop.isSet, let following = try await following {
          batch = following
          // A document that was changed between two batches is among the changes of both, with all its leaves.
          batch.missing = batch.missing.without(transferred)
          continue
        }
        try await previous.wait()
        guard options.isContinuous, !stop.isSet else { return }
        progress.become(.idle)
        guard let next = try await stop.interruptible({ try await next(since: changes.last, waits: true) })
        else {
          return
        }
        progress.become(.running)
        batch = next
      }
    } catch {
      // If the batch before could not be ended, that is why this one was not written.
      try await previous.wait()
      throw error
    }
  }

  private func checkIdentities(_ instances: Instances) async throws {
    let now = try await retrying {
      async let source = source.open(creating: false)
      async let target = target.makeDurable()
      return try await (source: source, target: target)
    }
    for (before, after) in [(instances.source, now.source), (instances.target, now.target)] {
      if let before, let after, before != after { throw DatabaseReplaced() }
    }
  }

  private func checkpointOfSource(_ id: String) async throws -> Checkpoint? {
    do {
      return try await source.checkpoint(id)
    } catch let error as ReplicationError where error.isRefusal {
      return nil
    }
  }

  private func save(_ checkpoint: Checkpoint, _ id: String) async throws {
    try await retrying { try await target.save(checkpoint, id) }
    // Without the checkpoint of the source, the next run compares all revisions again.
    guard source.isWritable else { return }
    do {
      try await retrying { try await source.save(checkpoint, id) }
    } catch let error as ReplicationError where error.isRefusal {}
  }

  private func next(since sequence: JSONValue, waits: Bool) async throws -> Batch {
    var waits = waits
    let changes = try await retrying {
      // After a failure, an answer at once shows that the source can be reached again.
      defer { waits = false }
      return try await source.changes(since: sequence, limit: max(1, options.batchSize), waits: waits)
    }
    let missing = try await missing(changes.documents)
    return Batch(since: sequence, changes: changes, missing: missing)
  }

  private func missing(_ documents: [ChangedDocument]) async throws -> [RevisionDifference] {
    let documents = documents.filter { !$0.revisions.isEmpty && !$0.isRemoved }
    if documents.isEmpty { return [] }
    return try await retrying {
      let leftFilter = try await self.leftFilter(documents)
      let wanted = documents.filter { $0.leftFilter.isEmpty || leftFilter.contains(KeyBytes($0.id)) }
      return try await target.missing(wanted).marked(leftFilter)
    }
  }

  /// The documents that have left the filter and of which the target has a revision that was in it.
  private func leftFilter(_ documents: [ChangedDocument]) async throws -> Set<KeyBytes> {
    let leftFilter = documents.filter { !$0.leftFilter.isEmpty }
    if leftFilter.isEmpty { return [] }
    let lacking = try await target.missing(
      leftFilter.map { ChangedDocument(id: $0.id, revisions: $0.leftFilter) })
    let lacked = Dictionary(
      lacking.map { (KeyBytes($0.id), $0.missing.count) }, uniquingKeysWith: { $1 })
    return Set(
      leftFilter.filter { lacked[KeyBytes($0.id), default: 0] < $0.leftFilter.count }.map { KeyBytes($0.id) })
  }

  // MARK: Rejected documents

  /// Transfers what earlier runs could not, as far as it still is a leaf of the source. The leaves that have taken the
  /// place of others are among the changes.
  private func transfer(_ record: RejectionList.Record, _ rejections: RejectionList) async throws {
    let documents = record.documents
    let leaves = try await retrying { try await source.leaves(of: documents.map(\.id)) }
    let wanted = leaves.map { record.documents(among: $0) } ?? documents
    let turn = Turn(previous: BatchCompletion {}, rejections: rejections, since: record.since)
    rejectInvalid(wanted, turn)
    let missing = try await missing(wanted)
    let keys = Set(missing.flatMap { document in document.missing.map { RevisionKey(document.id, $0) } })
    // The source sends descendants instead of what is no longer a leaf.
    _ = try await transfer(missing, turn) { keys.contains($0.key) }
  }

  private func reject(_ revisions: [RejectedRevision], _ turn: Turn) {
    progress.reject(revisions)
    turn.rejections.add(revisions, since: turn.since)
  }

  private func rejectInvalid(_ documents: [ChangedDocument], _ turn: Turn) {
    let rejected = documents.flatMap { document in
      document.invalid.map {
        RejectedRevision(
          id: document.id, revision: $0, reason: "a datastore can't have the id of this revision")
      }
    }
    reject(rejected, turn)
  }

  // MARK: A batch

  private func transfer(_ batch: Batch, _ turn: Turn) async throws -> Set<RevisionKey> {
    let changes = batch.changes
    progress.count(pending: changes.pending + changes.documents.count) { _ in }
    rejectInvalid(changes.documents, turn)
    // Whether the target has them is known only after the batch before.
    let removed = changes.documents.filter { $0.isRemoved && !$0.revisions.isEmpty }
    let unknown = removed.filter(\.known.isEmpty)
    let wanted = unknown.isEmpty ? [] : try await retrying { try await target.missing(unknown) }
    var transferred = try await transfer(batch.missing + wanted, turn) { _ in true }
    try await retrying {
      try await remove(
        removed.filter { !$0.known.isEmpty }
          .map { RemovedDocument(id: $0.id, revision: $0.revisions[0], known: $0.known) }, turn)
    }
    transferred.formUnion(
      removed.flatMap { document in document.revisions.map { RevisionKey(document.id, $0) } })
    progress.count(pending: changes.pending) { $0.changes += changes.documents.count }
    return transferred
  }

  /// Transfers revisions in several requests at a time.
  ///
  /// - Parameter isWanted: Whether a revision is written that the source sends.
  private func transfer(
    _ missing: [RevisionDifference], _ turn: Turn,
    where isWanted: @escaping @Sendable (TransferredRevision) -> Bool
  ) async throws -> Set<RevisionKey> {
    progress.count { $0.missing += missing.reduce(0) { $0 + $1.missing.count } }
    let jobs = max(1, options.concurrentRequests)
    let size = min(1_000, max(50, missing.count / jobs + 1))
    return try await withThrowingTaskGroup(of: Set<RevisionKey>.self) { group in
      var transferred: Set<RevisionKey> = []
      for (number, start) in stride(from: 0, to: missing.count, by: size).enumerated() {
        if number >= jobs, let part = try await group.next() { transferred.formUnion(part) }
        let part = Array(missing[start..<min(missing.count, start + size)])
        group.addTask { try await transferPart(part, turn, where: isWanted) }
      }
      for try await part in group { transferred.formUnion(part) }
      return transferred
    }
  }

  /// Transfers some documents. After an error, what has arrived is not sent again.
  private func transferPart(
    _ documents: [RevisionDifference], _ turn: Turn, where isWanted: (TransferredRevision) -> Bool
  ) async throws -> Set<RevisionKey> {
    var wanted = documents
    // The source may send descendants instead.
    var transferred = Set(
      wanted.flatMap { document in document.missing.map { RevisionKey(document.id, $0) } })
    let lateFilter = try lateFilter()
    let leftFilter = Set(documents.filter(\.hasLeftFilter).map { KeyBytes($0.id) })
    let removed = Set(documents.filter(\.isRemoved).map { KeyBytes($0.id) })
    var isRepeated = false
    try await retrying {
      if isRepeated {
        wanted = try await target.missing(
          wanted.map {
            ChangedDocument(
              id: $0.id, revisions: $0.missing, isRemoved: removed.contains(KeyBytes($0.id)))
          }
        ).marked(leftFilter)
      }
      isRepeated = true
      var writing = WriteBuffer()
      var withheld: [RemovedDocument] = []
      let unreadable = try await source.read(wanted) { revision in
        guard isWanted(revision) else { return }
        if let known = revision.removedHistory {
          transferred.insert(revision.key)
          return withheld.append(
            RemovedDocument(id: revision.id, revision: revision.revision, known: known))
        }
        guard try lateFilter?.accepts(revision, revision.input()) ?? true else { return }
        let hasLeftFilter = revision.hasLeftFilter || leftFilter.contains(KeyBytes(revision.id))
        progress.count { counts in
          counts.revisionsRead += 1
          if hasLeftFilter { counts.leftFilter += 1 }
        }
        transferred.insert(revision.key)
        writing.add(revision)
        if writing.isFull { try await write(writing.take(), turn) }
      }
      try await write(writing.take(), turn)
      try await remove(withheld, turn)
      reject(unreadable, turn)
    }
    return transferred
  }

  private func remove(_ documents: [RemovedDocument], _ turn: Turn) async throws {
    guard !documents.isEmpty else { return }
    guard await turn.previous.hasSucceeded else { throw CancellationError() }
    let (count, kept) = try await target.remove(documents)
    progress.count { $0.removed += count }
    reject(kept, turn)
  }

  private func write(_ revisions: [TransferredRevision], _ turn: Turn) async throws {
    guard !revisions.isEmpty else { return }
    guard await turn.previous.hasSucceeded else { throw CancellationError() }
    var outcome = try await target.write(revisions)
    let waiting = Set(outcome.needsAttachments.map(\.revision.key))
    var sent = revisions.filter { !waiting.contains($0.key) }
    for (revision, _) in outcome.needsAttachments {
      var wanted = RevisionDifference(id: revision.id, missing: [revision.revision])
      wanted.hasLeftFilter = revision.hasLeftFilter
      outcome.rejected += try await source.read([wanted]) { revision in
        sent.append(revision)
        let again = try await target.write([revision])
        outcome.rejected += again.rejected
        outcome.rejected += again.needsAttachments.map { $0.revision.rejected($0.reason) }
      }
    }
    let written = revisions.count - outcome.rejected.count
    progress.count { counts in
      counts.revisionsWritten += written
      counts.attachments += sent.reduce(0) { $0 + $1.attachmentCount }
      counts.bytes = sent.reduce(counts.bytes) { $0.addingSaturated($1.length) }
    }
    reject(outcome.rejected, turn)
  }

  // MARK: Errors

  /// Runs a step again after an error that may not occur again.
  private func retrying<R>(_ body: () async throws -> R) async throws -> R {
    var failures = 0
    while true {
      do {
        let result = try await body()
        if failures > 0 { progress.become(.running) }
        return result
      } catch let error as ReplicationError where error.isTransient {
        failures += 1
        try await pause(after: failures, error, requested: error.pause, error.message)
      } catch let error as DatastoreError where [.busy, .suspended].contains(error.code) {
        failures += 1
        try await pause(after: failures, error, error.message)
      }
    }
  }

  /// Waits for the next attempt.
  ///
  /// - Throws: The error, if there was one attempt too many.
  private func pause(
    after failures: Int, _ error: any Error, requested: Duration? = nil, _ reason: String
  ) async throws {
    guard options.isContinuous || failures < options.retries.maximumAttempts else { throw error }
    let pause = options.retries.pause(afterFailures: failures, requested: requested)
    log.retry(after: failures, reason, pause: pause)
    progress.wait(for: pause, reason: reason)
    guard try await stop.interruptible({ try await Task.sleep(for: pause) }) != nil else {
      throw CancellationError()
    }
  }
}

/// The last steps of a batch, which go on while the next one is read.
private struct BatchCompletion: Sendable {
  private let task: Task<Void, any Error>

  init(_ body: @escaping @Sendable () async throws -> Void) {
    task = Task { try await body() }
  }

  /// Waits for the end.
  func wait() async throws { try await during { try await task.value } }

  /// Whether it has succeeded, after waiting for it. A part that is cancelled because another part has failed waits, too.
  var hasSucceeded: Bool {
    get async {
      if case .success = await task.result { true } else { false }
    }
  }

  /// Runs the next batch. What cancels it cancels the end as well.
  func during<R>(
    isolation: isolated (any Actor)? = #isolation, _ body: () async throws -> R
  ) async rethrows -> R {
    try await withTaskCancellationHandler(operation: body, onCancel: { task.cancel() })
  }
}

/// Revisions that were read and are to be written together.
private struct WriteBuffer {
  private var revisions: [TransferredRevision] = []
  private var length = 0

  var isFull: Bool { revisions.count >= 1_000 || length >= 1024 * 1024 }

  mutating func add(_ revision: TransferredRevision) {
    revisions.append(revision)
    length += revision.textLength
  }

  mutating func take() -> [TransferredRevision] {
    defer { (revisions, length) = ([], 0) }
    return revisions
  }
}
