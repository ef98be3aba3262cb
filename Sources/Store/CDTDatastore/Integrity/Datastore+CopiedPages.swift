import CDTJSON
import CDTPlatform
package import CDTSQLite

/// Pages of `db.sync` that another program has copied there from the log. They have no checksums.
extension Datastore {
  /// The finding of `check` about such pages, whose content was verified; `nil` if there are none.
  func copiedPageFinding(_ connection: Connection) throws -> IntegrityFinding? {
    let pages = try FileSystem.reading(databasePath) {
      guard try connection.hasPageChecksums() else { return Set<Int64>() }
      return try RawDatabase.pagesWithoutChecksum(in: databasePath, exceptInLog: true)
    }
    guard !pages.isEmpty else { return nil }
    let (all, right) = try digests(on: pages, connection)
    let verified =
      all == right
      ? "all of the \(all) revisions on them have the digest of their content"
      : "\(right) of the \(all) revisions on them have the digest of their content, and those of other programs can't be computed"
    return IntegrityFinding(
      .checksum,
      "\(pages.count) pages of \(databasePath) have no checksums, as another program, such as sqlite3, has copied them from the "
        + "log; nothing in them is damaged, and \(verified)")
  }

  /// The number of revisions with a body whose rows are on some pages, and the number of those whose ids are the digests of
  /// their content.
  private func digests(on pages: Set<Int64>, _ connection: Connection) throws -> (all: Int, right: Int) {
    var (all, right) = (0, 0)
    try FileSystem.reading(databasePath) {
      let database = try RawDatabase(
        databasePath, versionsWithChecksums: DatabaseFile.versionsWithChecksums, cipher: keys?.documents)
      try database?.forEachRow { row in
        guard pages.contains(row.location.page), let revision = StoredRevision(row) else { return }
        let attachments = try AttachmentRow.find(
          document: revision.document, revision: revision.id, on: connection)
        all += 1
        if revision.isDigest(of: attachments) { right += 1 }
      }
    }
    return (all, right)
  }

  /// Writes the checksums of the pages, whose content was verified: at the beginning of a checkpoint, as nothing else writes
  /// to the file then.
  func sealCopiedPages(_ stop: StopSignal?) throws {
    let deadline = ContinuousClock.now + options.busyTimeout
    while true {
      let isDone = try withWriter(stop: stop) { writer in
        let hasPages = try FileSystem.reading(databasePath) {
          try writer.connection.copiedPages?.sealAtNextCheckpoint()
        }
        guard hasPages == true else { return true }
        // A checkpoint of an empty log does nothing.
        try writer.connection.execute("PRAGMA user_version = \(DatabaseFile.version)")
        _ = try writer.connection.checkpointsWholeLog()
        return false
      }
      if isDone { return }
      guard ContinuousClock.now < deadline else { throw DatastoreError(.readersPreventRepair(name)) }
      try stop?.check()
      Sleep.microseconds(10_000)
    }
  }
}

/// A revision with a body, as a row of `documents` or `revisions`.
private struct StoredRevision {
  let document: Int64
  let id: RevisionID
  private let parent: RevisionID?
  private let isDeleted: Bool
  private let body: [UInt8]

  init?(_ row: RawRow) {
    let values = row.values
    let isWinner = values.count > 9
    guard values.count >= 9, let number = isWinner ? row.rowID : values[0].integer,
      let id = isWinner ? row.winner : values[2].revision, let body = row.storedBody?.text
    else { return nil }
    (document, self.id, self.body) = (number, id, body)
    parent = values[isWinner ? 4 : 3].revision
    isDeleted = values[isWinner ? 7 : 6].integer == 1
  }

  func isDigest(of attachments: [AttachmentRow]) -> Bool {
    let computed = try? RevisionDigest.revision(
      after: parent, isDeleted: isDeleted, attachments: attachments.map(\.key),
      canonicalBody: BodyText(stored: body).canonical)
    return computed == id
  }
}

extension RawRow {
  /// Whether it is a row of `documents` with a text, and not with a body, as up to version 6.
  private var hasText: Bool { values.count == 11 }

  /// The winner's id in a row of `documents`.
  package var winner: RevisionID? {
    if let stored = values[3].revision { return stored }
    guard hasText, case .text(let text) = values[10] else { return nil }
    return text.withUnsafeBytes { StoredText($0).revision.flatMap { RevisionID(utf8: $0) } }
  }

  /// The body in a row of `documents` or `revisions`.
  package var storedBody: StoredBody? {
    guard case .text(let text)? = values.last else { return nil }
    return text.withUnsafeBytes { StoredBody(hasText ? StoredText($0).body : $0) }
  }
}

extension RawRow.Value {
  package var integer: Int64? {
    if case .integer(let value) = self { value } else { nil }
  }

  package var string: String? {
    if case .text(let bytes) = self { String(validating: bytes, as: UTF8.self) } else { nil }
  }

  package var revision: RevisionID? { string.flatMap { RevisionID($0) } }
}
