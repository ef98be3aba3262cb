package import CDTSQLite

extension Datastore {
  /// Lets go of all files, so that the system can suspend the app: iOS ends an app that is suspended with a lock on a file that it
  /// shares with others, and a process that is stopped while it reads keeps the write-ahead log of all others from restarting.
  ///
  /// ```swift
  /// store.suspend()  // applicationDidEnterBackground
  /// store.resume()  // applicationWillEnterForeground
  /// ```
  ///
  /// Until ``resume()``, every read and write throws ``DatastoreError`` with the code `.suspended`, also if it was waiting for its
  /// turn. What is running ends:
  ///
  /// - Reads and index builds are interrupted, and throw `.suspended`. Builds go on after ``resume()``.
  /// - A write may go on for half of `time`. Then its next call throws `.suspended`, and it is rolled back.
  /// - A `ResultSet` or a stream of documents ends for good: later reads of it throw `.suspended`. So does an attachment that is
  ///   being transferred.
  /// - Live queries and ``liveChanges(since:)`` wait for ``resume()``, and then have what was written meanwhile, also by others.
  ///
  /// The call blocks its thread until all files are closed, at most for about `time`. The last process to close a datastore also copies
  /// its log into the database. Suspending a datastore again, or one that is closed, is harmless; one ``resume()`` ends any number of
  /// calls. Don't call it inside a transaction, which it can't end.
  ///
  /// - Parameter time: The time to wait for what is running.
  /// - Returns: Whether no file is open or locked. Otherwise a closure of a transaction is still running; its files are closed when it
  ///   makes its next call or returns.
  @discardableResult
  public func suspend(within time: Duration = .seconds(5)) -> Bool {
    let isDone = suspension.suspend(within: time, closeIdleFiles)
    if suspension.isSuspended { attachmentFiles.endUploads() }
    return isDone
  }

  /// Allows reads and writes again after ``suspend(within:)``. The next one opens the files.
  ///
  /// If the datastore was deleted or replaced in the meantime, it throws ``DatastoreError`` with the code `.closed`, as without a
  /// suspension. If the datastore is not suspended, nothing happens.
  public func resume() {
    guard suspension.resume() else { return }
    changeListeners.didCommit()
    for each in extensionObjects.all { each.resume() }
  }
}

extension DatastoreManager {
  /// Suspends every datastore that is open, as `Datastore.suspend(within:)` does.
  ///
  /// Until ``resume()``, opening, deleting and encrypting a datastore throws ``DatastoreError`` with the code `.suspended`. A running
  /// encryption is ended with this code, and leaves the datastore unchanged.
  ///
  /// - Parameter time: The time to wait for what is running, in all datastores.
  /// - Returns: Whether no file is open or locked.
  @discardableResult
  public func suspend(within time: Duration = .seconds(5)) -> Bool {
    let end = ContinuousClock.now + time
    suspension.begin()
    for store in openDatastores { store.suspension.begin() }
    var isDone = suspension.suspend(within: time) {}
    for store in openDatastores where !store.suspend(within: max(.zero, end - .now)) { isDone = false }
    return isDone
  }

  /// Allows datastores to be opened and used again after ``suspend(within:)``, also those that were suspended by themselves.
  public func resume() {
    _ = suspension.resume()
    for store in openDatastores { store.resume() }
  }
}

extension Suspension {
  /// - Throws: ``DatastoreError`` with the code `.suspended` if this thread may not use the files.
  func check() throws(DatastoreError) {
    if isDue { throw DatastoreError(error) }
  }

  /// - Throws: ``DatastoreError`` with the code `.suspended`.
  package func holdFiles() throws(DatastoreError) -> Hold {
    do { return try hold() } catch { throw DatastoreError(error) }
  }
}
