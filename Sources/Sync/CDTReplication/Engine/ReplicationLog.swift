import CDTDatastore
import CDTJSON
import Logging

/// The lines that a replication writes to its log. They have no credentials: URLs are without them, and nothing of headers and
/// bodies is logged.
struct ReplicationLog: Sendable {
  private var logger: Logger

  init(_ replication: Replication, of store: Datastore) {
    logger = replication.logger
    logger[metadataKey: "store"] = "\(store.name)"
    logger[metadataKey: "peer"] = "\(replication.peer.shownName)"
  }

  /// The same log for the lines of one direction.
  func ofDirection(isPush: Bool) -> ReplicationLog {
    var log = self
    log.logger[metadataKey: "direction"] = isPush ? "push" : "pull"
    return log
  }

  /// A batch whose checkpoint is saved.
  ///
  /// - Parameters:
  ///   - counts: The counts after the batch, and before it.
  ///   - sequence: That of the checkpoint.
  func batch(
    _ documents: Int, _ counts: (after: ReplicationResult.Counts, before: ReplicationResult.Counts),
    sequence: String, since start: ContinuousClock.Instant
  ) {
    let (after, before) = counts
    logger.info(
      "batch",
      metadata: [
        "documents": .stringConvertible(documents),
        "written": .stringConvertible(after.revisionsWritten - before.revisionsWritten),
        "rejected": .stringConvertible(after.rejectedCount - before.rejectedCount),
        "bytes": .stringConvertible(Int(clamping: after.bytes - before.bytes)), "sequence": "\(sequence)",
        "milliseconds": .stringConvertible(
          ((ContinuousClock.now - start) / .microseconds(1)).rounded() / 1_000),
      ])
  }

  /// A step that is repeated after a pause.
  func retry(after failures: Int, _ reason: String, pause: Duration) {
    logger.notice(
      "retry",
      metadata: [
        "failures": .stringConvertible(failures), "reason": "\(reason)",
        "pause": .stringConvertible(pause / .seconds(1)),
      ])
  }

  /// The end of a run.
  func end(_ result: ReplicationResult, _ error: (any Error)?) {
    let (pulled, pushed) = (result.pulled, result.pushed)
    var metadata: Logger.Metadata = [
      "pulled": .stringConvertible(pulled.revisionsWritten),
      "pushed": .stringConvertible(pushed.revisionsWritten),
      "rejected": .stringConvertible(pulled.rejectedCount + pushed.rejectedCount),
      "retries": .stringConvertible(pulled.retries + pushed.retries),
    ]
    if let error { metadata["error"] = "\(error)" }
    logger.info("end", metadata: metadata)
  }
}

extension Replication.Peer {
  /// The URL without credentials, or the name of the store.
  package var shownName: String {
    switch self {
    case .remote(let database): database.url
    case .store(let store): store.name
    }
  }
}
