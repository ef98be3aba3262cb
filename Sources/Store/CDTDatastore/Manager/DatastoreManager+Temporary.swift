import CDTPlatform

extension DatastoreManager {
  /// Creates a manager whose datastores are kept in memory, and are gone with it and the datastores that you hold. It is for tests and
  /// previews.
  ///
  /// ```swift
  /// let manager = try DatastoreManager.inMemory()
  /// let tasks = try manager.datastore(named: "tasks")
  /// ```
  ///
  /// The datastores behave like those on disk: they have the same files, in a directory of their own in the system's file system in
  /// memory (`/dev/shm`), which only the user can access. A write does not wait for a disk, and the memory is what that file system
  /// allows, in containers often 64 MB. Where there is no such file system, this is ``temporary(options:)``. The directory of a
  /// process that was killed is removed by the next one that calls this.
  ///
  /// - Throws: ``DatastoreError`` with the code `.io` if the directory can't be created.
  public static func inMemory(options: DatastoreOptions = .init()) throws(DatastoreError) -> DatastoreManager
  {
    try temporary(inMemory: true, options)
  }

  /// Creates a manager of a new directory in the system's directory for temporary files, which is gone with the manager and the datastores
  /// that you hold.
  ///
  /// - Throws: ``DatastoreError`` with the code `.io` if the directory can't be created.
  public static func temporary(options: DatastoreOptions = .init()) throws(DatastoreError) -> DatastoreManager
  {
    try temporary(inMemory: false, options)
  }

  /// A file system in memory, which Linux has.
  private static let memory = "/dev/shm"

  private static func temporary(
    inMemory: Bool, _ options: DatastoreOptions
  ) throws(DatastoreError) -> DatastoreManager {
    let parent =
      inMemory && Files.isWritable(memory) ? memory : FileManager.default.temporaryDirectory.path
    let made = try FileSystem.perform(
      "create a temporary directory in", parent, TemporaryDirectory(in: parent, named: "cdtdatastore-"))
    return DatastoreManager(prepared: made.path, options: options, temporary: made)
  }
}
