import CDTSQLite

/// The size of a document that SQLite can store: a row has at most 1,000,000,000 bytes, unless SQLite was built with
/// another limit.
enum DocumentSize {
  /// Room for the other columns of a row.
  private static let otherColumns = 1_000

  /// The maximum number of bytes of a document's id and body together.
  static func limit(on connection: Connection) -> Int { connection.maximumLength - otherColumns }

  /// - Throws: ``DatastoreError`` with the code `.invalidBody`.
  static func check(_ id: String, _ body: BodyText, on connection: Connection) throws(DatastoreError) {
    let (size, limit) = (id.utf8.count + body.text.count, limit(on: connection))
    guard size <= limit else { throw .documentTooLarge(id, size, limit: limit) }
  }
}
