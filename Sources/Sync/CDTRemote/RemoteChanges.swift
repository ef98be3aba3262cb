public import CDTDatastore
import CDTJSON
import CDTPlatform
import CDTReplication
import CouchDB

/// A changed document at a server.
public struct RemoteChange: Sendable, Hashable {
  /// The sequence of the document's latest change, which only the server understands.
  public let sequence: String
  /// The document's id.
  public let id: String
  /// The winner.
  public let revisionID: RevisionID
  /// Whether the document is deleted.
  public let isDeleted: Bool
}

/// Changes at a server, and the sequence from which to continue.
public struct RemoteChanges: Sendable, Hashable {
  /// The changed documents, each once.
  public let documents: [RemoteChange]
  /// The `since` for the next call.
  public let lastSequence: String
}

/// The changes at a server as they happen.
///
/// ```swift
/// for try await changes in tasks.liveChanges() {
///   for change in changes.documents { print(change.id) }
/// }
/// ```
///
/// A request waits for the next change; the server sends heartbeats meanwhile. The sequence ends when its task is
/// cancelled, or with a `ReplicationError`.
public struct LiveRemoteChanges: AsyncSequence, Sendable {
  /// Its connections end with it.
  let database: RemoteDatastore
  let sequence: String?

  /// Begins to read.
  public func makeAsyncIterator() -> Iterator { Iterator(changes: self, sequence: sequence) }

  /// Reads the changes.
  public struct Iterator: AsyncIteratorProtocol {
    fileprivate let changes: LiveRemoteChanges
    fileprivate var sequence: String?

    /// The next changes, at least one.
    public mutating func next() async throws -> RemoteChanges? {
      while !Task.isCancelled {
        let since = sequence
        let next: RemoteChanges
        do {
          next = try await changes.database.retries.run {
            try await changes.database.connection.changes(since: since, limit: 1_000, waits: true)
          }
        } catch is CancellationError where Task.isCancelled {
          return nil
        }
        sequence = next.lastSequence
        if !next.documents.isEmpty { return next }
      }
      return nil
    }
  }
}

extension RemoteConnection {
  func changes(since sequence: String?, limit: Int, waits: Bool) async throws -> RemoteChanges {
    var path = "/_changes?limit=\(max(1, limit))"
    if let sequence { path += "&since=\(PercentCoding.encode(sequence))" }
    if waits { path += "&feed=longpoll&heartbeat=\(max(1, (database.timeout / 2).milliseconds))" }
    let json = try await send(.init(path), expecting: 200).json()
    guard let rows = json["results"]?.arrayValue, let last = json["last_seq"] else {
      throw ReplicationError(.invalidReply, "the reply of _changes has no results or no last_seq")
    }
    return RemoteChanges(
      documents: try rows.map { try RemoteChange($0) }, lastSequence: last.stringValue ?? last.text)
  }
}

extension RemoteChange {
  fileprivate init(_ row: JSONValue) throws(ReplicationError) {
    guard let id = row["id"]?.stringValue, let sequence = row["seq"],
      let revision = row["changes"]?.arrayValue?.first?["rev"]?.stringValue.flatMap({ RevisionID($0) })
    else {
      throw ReplicationError(.invalidReply, "a row of _changes has no valid id, seq or rev")
    }
    self.id = id
    self.sequence = sequence.stringValue ?? sequence.text
    revisionID = revision
    isDeleted = row["deleted"] == true
  }
}
