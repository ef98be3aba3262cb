import Dispatch

extension Datastore {
  /// The documents that have changed since a sequence, and then those that change, as they do.
  ///
  /// ```swift
  /// for try await changes in store.liveChanges(since: last) {
  ///   for change in changes.documents { print(change.id) }
  ///   last = changes.lastSequence
  /// }
  /// ```
  ///
  /// - Parameter sequence: The `lastSequence` of the changes that were read before; 0 gives every document first.
  ///
  /// Source: `docs/changes.md`, Listening.
  public func liveChanges(since sequence: Int64 = 0) -> LiveChanges {
    LiveChanges(store: self, sequence: sequence)
  }
}

/// A datastore's changes, without end: ``Datastore/liveChanges(since:)`` gives them.
///
/// Each element is what ``Datastore/changes(since:limit:)`` gives when it is asked for, so what was committed between two
/// elements is in one of them, each document once. Nothing is missed and nothing comes twice, whoever wrote it: writes
/// of this process are noticed at once, those of others within a second. Of a transaction with more than 1,000
/// documents, each element has 1,000 at most.
///
/// Nothing is kept for a consumer who takes his time: an element is read from the file when it is asked for. Several may
/// listen, each at his own pace, and each iterator begins anew at the sequence that was given.
///
/// The sequence ends when the datastore is closed or deleted, also by another process, and when its task is cancelled.
/// It throws a ``DatastoreError`` when the file can't be read, and is then over; a new one goes on from the last
/// `lastSequence`. No thread of Swift's pool is blocked.
public struct LiveChanges: AsyncSequence, Sendable {
  /// Some changes, and where to go on from them.
  public typealias Element = Changes

  let store: Datastore
  let sequence: Int64

  /// An iterator that begins at the sequence that was given.
  public func makeAsyncIterator() -> Iterator {
    Iterator(store: store, sequence: sequence)
  }

  /// Reads a datastore's changes, and waits for more when there are none.
  public struct Iterator: AsyncIteratorProtocol {
    private static var batch: Int { 1_000 }

    /// `nil` once the sequence is over.
    private var store: Datastore?
    private var listener: ChangeListener?
    private var sequence: Int64

    fileprivate init(store: Datastore, sequence: Int64) {
      self.store = store
      self.sequence = sequence
    }

    /// The changes since the last ones, when there are any; `nil` at the end.
    ///
    /// - Throws: ``DatastoreError`` when the file can't be read; the sequence is then over.
    public mutating func next(isolation: isolated (any Actor)? = #isolation) async throws -> Changes? {
      guard let store else { return nil }
      do {
        if let changes = try await changes(in: store) {
          sequence = changes.lastSequence
          return changes
        }
      } catch {
        end()
        throw error
      }
      end()
      return nil
    }

    private mutating func changes(
      in store: Datastore, isolation: isolated (any Actor)? = #isolation
    ) async throws -> Changes? {
      // It listens before it looks, so a commit after the look is heard.
      let listener = try self.listener ?? ChangeListener(to: store)
      self.listener = listener
      while !Task.isCancelled {
        let heard = listener.commits
        guard let changes = try await store.changesUnlessOver(since: sequence, limit: Self.batch) else {
          break
        }
        if !changes.documents.isEmpty { return changes }
        await listener.wait(since: heard)
      }
      return nil
    }

    private mutating func end() {
      store = nil
      listener = nil
    }
  }
}

extension Datastore {
  /// Some changes, read on a thread that may wait for the disk; `nil` when the datastore is closed or deleted.
  fileprivate func changesUnlessOver(
    since sequence: Int64, limit: Int, isolation: isolated (any Actor)? = #isolation
  ) async throws -> Changes? {
    try await withCheckedThrowingContinuation { continuation in
      DispatchQueue.global().async {
        continuation.resume(
          with: Result {
            do {
              // A file that was deleted elsewhere can still be read, but nothing more comes to it.
              return self.hasFile ? try self.changes(since: sequence, limit: limit) : nil
            } catch let error as DatastoreError where error.code == .closed {
              return nil
            }
          })
      }
    }
  }
}
