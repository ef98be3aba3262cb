import CDTDatastore
import CDTJSON
import CDTQuery

/// The asynchronous part of a process beside its ``StoreWorker``s: one task listens to the changes, one reads.
struct StoreListener: Sendable {
  private(set) var operations: [String: Int64] = [:]
  private(set) var failures: [String] = []

  /// Listens until the task is cancelled. If a worker closes the datastore, it goes on where it was.
  static func listen(to shared: SharedStore) async -> StoreListener {
    var listener = StoreListener()
    var last: Int64 = 0
    await listener.repeated { listener in
      for try await changes in try await shared.manager.datastore(named: shared.name).liveChanges(since: last)
      {
        for change in changes.documents {
          if change.sequence <= last { listener.failures.append("listen: \(change.sequence) after \(last)") }
          last = change.sequence
        }
        last = max(last, changes.lastSequence)
        listener.operations["heard", default: 0] += Int64(changes.documents.count)
      }
    }
    return listener
  }

  /// Reads the accounts until the task is cancelled.
  static func read(_ shared: SharedStore) async -> StoreListener {
    var listener = StoreListener()
    await listener.repeated { listener in
      let store = try await shared.manager.datastore(named: shared.name)
      var sum = 0
      for try await account in store.stream(try Query(["balance": ["$gte": -1_000_000]])) {
        sum += account.body["balance"]?.intValue ?? 0
      }
      if sum != 0, !Task.isCancelled { listener.failures.append("stream: the balances add up to \(sum)") }
      listener.operations["stream", default: 0] += 1
      // The workers are to have most of the time.
      try await Task.sleep(for: .milliseconds(20))
    }
    return listener
  }

  private mutating func repeated(_ body: (inout StoreListener) async throws -> Void) async {
    while !Task.isCancelled, failures.count < 5 {
      do {
        try await body(&self)
      } catch let error as DatastoreError where error.isOfSharing {
        operations[error.code.description, default: 0] += 1
      } catch is CancellationError {
        return
      } catch {
        failures.append("asynchronous: \(error)")
      }
    }
  }
}
