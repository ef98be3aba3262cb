import CDTDatastore
import CDTJSON
import CDTPlatform
package import CDTSQLite

// All messages of the import of CDTDatastore 2.x files. A message says what is wrong and ends with the remedy.
extension TouchDBError {
  static func unreadable(_ path: String, _ reason: String) -> TouchDBError {
    TouchDBError(.unreadable, path, "the file can't be read: \(reason); check the path and its permissions")
  }

  static func encrypted(_ path: String) -> TouchDBError {
    TouchDBError(
      .encrypted, path,
      "the file is not a plain SQLite database and looks encrypted; decrypt it with SQLCipher's "
        + "sqlcipher_export and import the result")
  }

  static func noDatabase(_ path: String) -> TouchDBError {
    TouchDBError(.foreign, path, "the file is not an SQLite database; check the path")
  }

  static func otherDatabase(_ path: String, missing table: String) -> TouchDBError {
    TouchDBError(
      .foreign, path,
      "the file has no table \(table), so it is not a CDTDatastore file; check the path")
  }

  static func tooNew(_ path: String, _ version: Int64) -> TouchDBError {
    TouchDBError(
      .unsupportedVersion, path,
      "the file has version \(version), but versions up to \(TouchDBFile.versions.upperBound) are supported; use a later "
        + "version of this package")
  }

  static func tooOld(_ path: String, _ version: Int64) -> TouchDBError {
    TouchDBError(
      .unsupportedVersion, path,
      "the file has version \(version), which is older than CDTDatastore; open it once with CDTDatastore 2.x to upgrade "
        + "it")
  }

  static func damaged(_ path: String, _ what: String) -> TouchDBError {
    TouchDBError(
      .damaged, path,
      "the file is damaged: \(what); restore it from a backup, or recover what you can with the sqlite3 shell's .recover"
    )
  }

  static func changed(_ path: String) -> TouchDBError {
    TouchDBError(
      .changed, path, "the file was changed during the import; close the app that uses it and import again")
  }

  /// The error of a failed SQLite call on the imported file.
  package init(_ error: SQLiteError, path: String) {
    if error.isCorrupt || error.isUnknownName || error.isConstraint {
      self = .damaged(path, error.message)
    } else if error.isOutOfMemory {
      self.init(
        .unreadable, path, "there is not enough memory to read it; close other programs and try again")
    } else {
      self = .unreadable(path, error.message)
    }
  }

  // MARK: Documents

  static func invalidText(_ path: String, row: Int64, in table: String) -> TouchDBError {
    TouchDBError(
      .invalidDocument, path,
      "the id in row \(row) of \(table) is not valid UTF-8 text; correct it in a copy of the file with the sqlite3 shell"
    )
  }

  static func invalidRevision(_ path: String, _ id: String, _ text: String) -> TouchDBError {
    TouchDBError(
      .invalidDocument, path, documentID: id,
      "\(DatastoreError.quoted(text)) is not a revision id; correct it in a copy of the file with the sqlite3 shell, or skip the "
        + "document")
  }

  static func missingBody(_ path: String, _ id: String, _ revision: RevisionID) -> TouchDBError {
    TouchDBError(
      .invalidDocument, path, documentID: id,
      "revision \(revision) is a leaf but has no body; restore the file from a backup, or skip the document"
    )
  }

  static func invalidBody(
    _ path: String, _ id: String, _ revision: String?, _ reason: String
  ) -> TouchDBError {
    TouchDBError(
      .invalidDocument, path, documentID: id,
      "the body\(revision.map { " of revision \($0)" } ?? "") is invalid: \(reason); correct it in a copy of the file with the "
        + "sqlite3 shell, or skip the document")
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
      "the attachment \(DatastoreError.quoted(name)) \(reason); restore it from a backup, or skip the document"
    )
  }
}
