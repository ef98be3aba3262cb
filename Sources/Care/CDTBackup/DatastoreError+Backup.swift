import CDTDatastore
import CDTJSON

extension DatastoreError {
  static func damagedBackup(_ path: String, _ reason: String) -> DatastoreError {
    DatastoreError(
      .corrupt,
      "the backup \(path) is damaged: \(reason); restore an earlier state, and begin another backup in a new directory"
    )
  }

  static func newerBackup(_ path: String) -> DatastoreError {
    DatastoreError(.newerFormat, "\(path) was written by a newer version; use that version")
  }

  static func noBackup(_ directory: String, oldest: Backup.Increment?) -> DatastoreError {
    guard let oldest else {
      return DatastoreError(.notFound, "there is no backup in \(directory); check the path")
    }
    return DatastoreError(
      .notFound,
      "the backup in \(directory) begins at \(ISO8601.text(of: oldest.time) ?? ""), sequence \(oldest.sequence); name a later state"
    )
  }

  static func backupOfAnother(_ directory: String) -> DatastoreError {
    DatastoreError(
      .unknownSequence,
      "the backup in \(directory) is of another datastore, or of another history of this one; begin a backup in a new directory"
    )
  }

  static func notABackup(_ directory: String) -> DatastoreError {
    DatastoreError(.conflict, "\(directory) has other files and no backup; name an empty or a new directory")
  }

  static func backupInUse(_ directory: String) -> DatastoreError {
    DatastoreError(.busy, "another process is writing the backup in \(directory); wait for it")
  }

  static func notEmpty(_ name: String) -> DatastoreError {
    DatastoreError(.conflict, "the datastore \(name) has documents; restore into a new one")
  }
}
