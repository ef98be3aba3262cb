import Synchronization

/// The listeners that wait for a datastore's commits.
///
/// While there are listeners, a ``DirectoryWatch`` reports possible commits of other processes. Commits are only
/// counted: each listener reads the changes itself, so nothing is buffered for a slow one.
final class ChangeListeners: Sendable {
  private struct State {
    var listeners = 0
    var watch: DirectoryWatch?
    /// The newest sequence at the last check of the file; `nil` if it could not be read or was not checked yet.
    var seen: Int64?
    var isClosed = false
  }

  private let state = Mutex(State())
  /// The commits noticed: those of this object, and each observed change of the file.
  fileprivate let commits = EventCount()

  /// The number of listeners.
  var count: Int { state.withLock { $0.listeners } }

  /// The watch for commits of other processes, while there are listeners.
  var watch: DirectoryWatch? { state.withLock { $0.watch } }

  /// Wakes all waiting listeners after a commit, or when the datastore closes.
  func didCommit() {
    commits.increment()
  }

  /// Takes the newest sequence of the file; `nil` if it can't be read, which the listeners find out when they read.
  func didLook(_ sequence: Int64?) {
    let isChanged = state.withLock { state in
      defer { state.seen = sequence }
      return sequence == nil || sequence != state.seen
    }
    if isChanged { commits.increment() }
  }

  /// Ends the watch and wakes all waiting listeners permanently.
  func close() {
    let watch = state.withLock { state in
      state.isClosed = true
      return state.watch.take()
    }
    watch?.end()
    didCommit()
  }

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
}

/// A listener of a datastore, for the lifetime of the object.
package final class ChangeListener: Sendable {
  private let listeners: ChangeListeners

  /// - Throws: ``DatastoreError`` if the datastore's directory can't be watched for commits of other processes.
  package init(to store: Datastore) throws {
    let listeners = store.changeListeners
    try listeners.enter {
      try DirectoryWatch(store.directory) { [weak store] in
        if let store, !store.isSuspended { store.lookForCommits() }
      }
    }
    self.listeners = listeners
  }

  deinit {
    listeners.leave()
  }

  /// The number of commits heard. Take it before a read, and wait for more after it.
  package var commits: UInt64 { listeners.commits.value }

  /// Waits until more commits are heard, the datastore is closed, or the task is cancelled.
  package func wait(since commits: UInt64, isolation: isolated (any Actor)? = #isolation) async {
    await listeners.commits.wait(since: commits, isolation: isolation)
  }

  /// Wakes all listeners to read again, as after a commit.
  package func wake() {
    listeners.didCommit()
  }
}

extension Datastore {
  /// Waits until the datastore is not suspended, or the task is cancelled.
  package func untilResumed(isolation: isolated (any Actor)? = #isolation) async {
    while true {
      let heard = changeListeners.commits.value
      guard isSuspended, !Task.isCancelled else { return }
      await changeListeners.commits.wait(since: heard, isolation: isolation)
    }
  }

  /// Checks whether the file has changed.
  fileprivate func lookForCommits() {
    changeListeners.didLook(
      (try? hasFile()) == true ? try? readWithoutExtensions { try $0.lastSequence() } : nil)
  }
}
