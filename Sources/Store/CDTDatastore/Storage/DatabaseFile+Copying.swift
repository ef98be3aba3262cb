import CDTPlatform
import CDTSQLite

extension DatabaseFile {
  /// Writes the content of a database into a new file that is encrypted in another way. Sequences, sessions and the store's id stay.
  ///
  /// - Parameters:
  ///   - source: The directory of the datastore, which nobody can open meanwhile.
  ///   - target: The directory of the new file.
  ///   - old: The keys of the database, if it is encrypted.
  ///   - new: The keys of the new one, if it is to be encrypted.
  ///   - progress: Called with the number of documents copied, their total, and the number of contents of attachments.
  /// - Returns: The contents of attachments that the documents refer to.
  /// - Throws: ``DatastoreError``: `.busy` if the database is open elsewhere, `.corrupt`, `.full`, `.io`.
  static func copy(
    from source: String, _ old: DatabaseCipher?, to target: String, _ new: DatabaseCipher?,
    options: DatastoreOptions, stop: StopSignal?,
    _ progress: (_ documents: Int, _ total: Int, _ contents: Int) -> Void
  ) throws -> [AttachmentRow] {
    let (source, path) = (Self.path(in: source), Self.path(in: target))
    for file in [""] + LogFile.suffixes {
      try FileSystem.perform("remove", path + file, LogFile.remove(path + file))
    }
    return try FileSystem.reading(source) {
      let connection = try Connection(
        path: path, mode: .readWriteCreate, busyTimeout: options.busyTimeout, cipher: new)
      defer { connection.close() }
      if let stop { connection.setProgressCheck { !stop.isSet } }
      // After a crash the file is made again. The first page, which says how the others are protected, is written before them.
      try connection.execute(
        """
        PRAGMA journal_mode = MEMORY; PRAGMA synchronous = OFF; PRAGMA auto_vacuum = INCREMENTAL;
        PRAGMA application_id = \(applicationID)
        """)
      try connection.setCacheSize(options.memoryBudget / 2)
      try connection.transaction(.deferred) { try connection.execute(layout) }
      try connection.attach(path: source, as: "source", cipher: old)
      try hold("source", on: connection)
      return try copyRows(on: connection, stop, progress)
    }
  }

  /// Locks a database until the connection is closed.
  ///
  /// - Throws: ``SQLiteError``; busy if another connection has it open.
  private static func hold(_ schema: String, on connection: Connection) throws {
    try connection.execute("PRAGMA \(schema).locking_mode = EXCLUSIVE")
    // The lock is taken by the next write.
    try connection.transaction(.immediate) {}
  }

  private static func copyRows(
    on connection: Connection, _ stop: StopSignal?,
    _ progress: (_ documents: Int, _ total: Int, _ contents: Int) -> Void
  ) throws -> [AttachmentRow] {
    let contents = try self.contents("source", on: connection)
    let total = Int(try connection.scalar("SELECT count(*) FROM source.documents"))
    var (last, done) = (Int64.min, 0)
    while done < total {
      try stop?.check()
      let statement = try connection.statement(
        """
        INSERT INTO main.documents (\(documentColumns)) SELECT \(documentColumns) FROM source.documents
         WHERE number > ?1 ORDER BY number LIMIT 1000
        """
      )
      try statement.bind(last, at: 1)
      try statement.run()
      guard connection.changes > 0 else { break }
      done += connection.changes
      last = try connection.scalar("SELECT max(number) FROM main.documents")
      progress(done, total, contents.count)
    }
    for table in ["revisions", "attachments", "local_documents", "sessions", "meta"] {
      try connection.execute("INSERT INTO main.\(table) SELECT * FROM source.\(table)")
    }
    // This write waits until everything is on the disk.
    try connection.execute(
      "PRAGMA main.synchronous = FULL; PRAGMA main.user_version = \(version); PRAGMA main.journal_mode = WAL")
    return contents
  }

  /// The contents of attachments, as rows of which only the key and the length count.
  private static func contents(_ schema: String, on connection: Connection) throws -> [AttachmentRow] {
    let statement = try connection.statement(
      "SELECT hex(key), key, '', max(length), 0 FROM \(schema).attachments GROUP BY key")
    defer { statement.reset() }
    var rows: [AttachmentRow] = []
    while try statement.step() { rows.append(AttachmentRow(statement)) }
    return rows
  }
}
