import CDTDigest
package import CDTSQLite

/// The keys of an encrypted datastore or backup, one for each kind of file, all derived from one data key.
package final class StoreKeys: Sendable {
  /// The id of the data key, which is in ``KeyFile`` beside it.
  let id: String
  /// Of `db.sync` and its log.
  package let documents: DatabaseCipher
  /// Of the index file and its log.
  package let indexes: DatabaseCipher
  /// Of the content of attachments.
  let contents: [UInt8]
  /// Of the increments of a backup.
  package let increments: [UInt8]
  private let names: [UInt8]
  private let files: [UInt8]
  private let backupKey: [UInt8]

  init(dataKey: [UInt8], id: String) {
    self.id = id
    func derive(_ purpose: String) -> [UInt8] { DatabaseCipher.derive(dataKey, purpose) }
    documents = DatabaseCipher(key: derive("documents"))
    indexes = DatabaseCipher(key: derive("indexes"))
    contents = derive("attachments")
    names = derive("names of attachments")
    files = derive("files")
    increments = derive("increments")
    backupKey = derive("backups")
  }

  /// The keys of the datastore's backups.
  package var ofBackups: StoreKeys { StoreKeys(dataKey: backupKey, id: id) }

  /// The names that ``KeyFile`` may have, the usual one first.
  package static var fileNames: [String] { KeyFile.names }

  /// The keys of a backup, whose directory has a copy of its datastore's ``KeyFile``; `nil` if it has none.
  ///
  /// - Throws: ``DatastoreError``: `.wrongKey` if the secret is missing or wrong; `.corrupt` if the file is damaged.
  package static func ofBackup(in directory: String, _ encryption: Encryption?) throws -> StoreKeys? {
    try KeyFile.existingKeys(in: directory, encryption)?.ofBackups
  }

  // MARK: Small files

  /// The bytes of a small file, encrypted.
  ///
  /// - Parameter name: The file's name, which has to be the same when it is opened.
  package func seal(_ bytes: [UInt8], named name: String) -> [UInt8] {
    AuthenticatedCipher(key: files).seal(bytes, with: Array(name.utf8))
  }

  /// The bytes that ``seal(_:named:)`` has encrypted; `nil` if they are not what was encrypted.
  package func open(_ sealed: [UInt8], named name: String) -> [UInt8]? {
    AuthenticatedCipher(key: files).open(sealed, with: Array(name.utf8))
  }

  // MARK: Names of attachments

  /// The name of an attachment's file: its digest, encrypted, since a plain digest would reveal known content. Two overlapping
  /// blocks of AES keep the length.
  func name(of key: [UInt8]) -> [UInt8] {
    permute(key, offsets: [0, key.count - BlockCipher.blockLength]) { $0.encrypt($1) }
  }

  /// The digest of the content in a file.
  func key(named name: [UInt8]) -> [UInt8] {
    permute(name, offsets: [name.count - BlockCipher.blockLength, 0]) { $0.decrypt($1) }
  }

  private func permute(
    _ bytes: [UInt8], offsets: [Int], _ apply: (BlockCipher, UnsafeMutableRawPointer) -> Void
  ) -> [UInt8] {
    let cipher = BlockCipher(key: names)
    var bytes = bytes
    bytes.withUnsafeMutableBytes { bytes in
      guard let start = bytes.baseAddress, bytes.count >= BlockCipher.blockLength else { return }
      for offset in offsets { apply(cipher, start + offset) }
    }
    return bytes
  }
}
