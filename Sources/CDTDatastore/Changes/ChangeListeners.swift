import Synchronization

/// Those who wait for a datastore's commits.
///
/// While anybody listens, a ``DirectoryWatch`` tells when another process may have committed. A commit is only counted:
/// what it changed, each listener reads for himself, so nothing piles up for one who is slow.
final class ChangeListeners: Sendable {
  private struct State {
    /// How many commits were noticed: those of this object, and as often as the file was found to be changed.
    var commits: UInt64 = 0
    var listeners = 0
    var watch: DirectoryWatch?
    /// The newest sequence when the file was last looked at; `nil` when it could not be read, or was not looked at yet.
    var seen: Int64?
    var isClosed = false
    var lastKey: UInt64 = 0
    var waiting: [UInt64: CheckedContinuation<Void, Never>] = [:]
  }

  private let state = Mutex(State())

  /// How many listen.
  var count: Int { state.withLock { $0.listeners } }

  /// What looks out for others, while somebody listens.
  var watch: DirectoryWatch? { state.withLock { $0.watch } }

  /// Wakes all who wait: something was committed, or the datastore is over.
  func didCommit() {
    wake { _ in true }
  }

  /// Takes the newest sequence of the file, or `nil` when it can't be read, which those who wait find out by themselves.
  func didLook(_ sequence: Int64?) {
    wake { state in
      defer { state.seen = sequence }
      return sequence == nil || sequence != state.seen
    }
  }

  private func wake(if isChanged: (inout sending State) -> Bool) {
    let waiting = state.withLock { state in
      guard isChanged(&state) else { return [UInt64: CheckedContinuation<Void, Never>]() }
      state.commits &+= 1
      defer { state.waiting = [:] }
      return state.waiting
    }
    for each in waiting.values { each.resume() }
  }

  /// Ends the watch and wakes all who wait, for good.
  func close() {
    let watch = state.withLock { state in
      state.isClosed = true
      return state.watch.take()
    }
    watch?.end()
    didCommit()
  }

  fileprivate var commits: UInt64 { state.withLock { $0.commits } }

  fileprivate func enter(watch: () throws -> DirectoryWatch) throws {
    try state.withLock { state in
      if state.watch == nil, !state.isClosed { state.watch = try watch() }
      state.listeners += 1
    }
  }

  fileprivate func leave() {
    let watch = state.withLock { state in
      state.listeners -= 1
      return state.listeners == 0 ? state.watch.take() : nil
    }
    watch?.end()
  }

  /// Waits until more commits are noticed than there were, or the task is cancelled.
  fileprivate func wait(since commits: UInt64, isolation: isolated (any Actor)?) async {
    let key = state.withLock { state in
      state.lastKey &+= 1
      return state.lastKey
    }
    await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let isWaiting = state.withLock { state in
          // A task that is cancelled from here on finds its continuation.
          guard state.commits == commits, !Task.isCancelled else { return false }
          state.waiting[key] = continuation
          return true
        }
        if !isWaiting { continuation.resume() }
      }
    } onCancel: {
      state.withLock { $0.waiting.removeValue(forKey: key) }?.resume()
    }
  }
}

/// One who listens to a datastore, as long as the object lives.
final class ChangeListener: Sendable {
  private let listeners: ChangeListeners

  init(to store: Datastore) throws {
    let listeners = store.changeListeners
    try listeners.enter {
      try DirectoryWatch(store.directory) { [weak store] in store?.lookForCommits() }
    }
    self.listeners = listeners
  }

  deinit {
    listeners.leave()
  }

  var commits: UInt64 { listeners.commits }

  func wait(since commits: UInt64, isolation: isolated (any Actor)? = #isolation) async {
    await listeners.wait(since: commits, isolation: isolation)
  }
}

extension Datastore {
  /// Looks whether the file has changed.
  fileprivate func lookForCommits() {
    changeListeners.didLook(hasFile ? try? lastSequence : nil)
  }
}
