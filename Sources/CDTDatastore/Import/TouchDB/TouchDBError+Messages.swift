import JSON
package import SQLite

// Every message of the import of CDTDatastore's files. A message says what is wrong and ends in the remedy.
extension TouchDBError {
  static func unreadable(_ path: String, _ reason: String) -> TouchDBError {
    TouchDBError(.unreadable, path, "it can't be read: \(reason); check the path and its permissions")
  }

  static func encrypted(_ path: String) -> TouchDBError {
    TouchDBError(
      .encrypted, path,
      "it is no plain SQLite database and looks encrypted; copy it into one without a key, as by SQLCipher's "
        + "sqlcipher_export, and import that")
  }

  static func noDatabase(_ path: String) -> TouchDBError {
    TouchDBError(.foreign, path, "it is no SQLite database; check the path")
  }

  static func otherDatabase(_ path: String, missing table: String) -> TouchDBError {
    TouchDBError(
      .foreign, path,
      "it has no table \(table), so CDTDatastore did not write it; check the path")
  }

  static func tooNew(_ path: String, _ version: Int64) -> TouchDBError {
    TouchDBError(
      .unsupportedVersion, path,
      "it has version \(version), and versions up to \(TouchDBFile.versions.upperBound) are known; use a later "
        + "version of this package")
  }

  static func tooOld(_ path: String, _ version: Int64) -> TouchDBError {
    TouchDBError(
      .unsupportedVersion, path,
      "it has version \(version), which is before CDTDatastore; open it once with CDTDatastore 2.x, which brings it "
        + "up to date")
  }

  static func damaged(_ path: String, _ what: String) -> TouchDBError {
    TouchDBError(
      .damaged, path,
      "it is damaged: \(what); restore it from a backup, or save what there is with the sqlite3 shell's .recover"
    )
  }

  static func changed(_ path: String) -> TouchDBError {
    TouchDBError(
      .changed, path, "it was written to while it was read; close the app that uses it, and import again")
  }

  /// What an error of SQLite says of the file that is read.
  package init(_ error: SQLiteError, path: String) {
    if error.isCorrupt || error.isUnknownName || error.isConstraint {
      self = .damaged(path, error.message)
    } else {
      self = .unreadable(path, error.message)
    }
  }

  // MARK: Documents

  static func invalidText(_ path: String, row: Int64, in table: String) -> TouchDBError {
    TouchDBError(
      .invalidDocument, path,
      "the id in row \(row) of \(table) is no text in UTF-8; correct it with the sqlite3 shell, in a copy")
  }

  static func invalidRevision(_ path: String, _ id: String, _ text: String) -> TouchDBError {
    TouchDBError(
      .invalidDocument, path, documentID: id,
      "\(DatastoreError.quoted(text)) is no revision id; correct it with the sqlite3 shell, in a copy, or leave the "
        + "document out")
  }

  static func missingBody(_ path: String, _ id: String, _ revision: RevisionID) -> TouchDBError {
    TouchDBError(
      .invalidDocument, path, documentID: id,
      "revision \(revision) is current and has no body; restore the file from a backup, or leave the document out"
    )
  }

  static func invalidBody(
    _ path: String, _ id: String, _ revision: String?, _ reason: String
  ) -> TouchDBError {
    TouchDBError(
      .invalidDocument, path, documentID: id,
      "the body\(revision.map { " of revision \($0)" } ?? "") can't be taken: \(reason); correct it with the sqlite3 "
        + "shell, in a copy, or leave the document out")
  }

  static func refused(_ path: String, _ id: String, _ error: DatastoreError) -> TouchDBError {
    TouchDBError(.invalidDocument, path, documentID: id, error.message)
  }

  // MARK: Attachments

  static func invalidAttachment(_ path: String, _ id: String, _ name: String, _ reason: String)
    -> TouchDBError
  {
    TouchDBError(
      .invalidAttachment, path, documentID: id,
      "the attachment \(DatastoreError.quoted(name)) \(reason); restore it from a backup, or leave the document out"
    )
  }
}
