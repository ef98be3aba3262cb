import CDTDigest
package import CDTSQLite

/// The keys of an encrypted datastore, one for each kind of file, all derived from its data key.
package final class StoreKeys: Sendable {
  /// Of `db.sync` and its log.
  package let documents: DatabaseCipher
  /// Of the index file and its log.
  package let indexes: DatabaseCipher
  /// Of the content of attachments.
  let contents: [UInt8]
  private let names: [UInt8]
  private let files: [UInt8]

  init(dataKey: [UInt8]) {
    func derive(_ purpose: String) -> [UInt8] { DatabaseCipher.derive(dataKey, purpose) }
    documents = DatabaseCipher(key: derive("documents"))
    indexes = DatabaseCipher(key: derive("indexes"))
    contents = derive("attachments")
    names = derive("names of attachments")
    files = derive("files")
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

  /// What the file of a content is named by instead of its digest, from which known content could be recognized. Two blocks of
  /// AES that overlap: it has as many bytes, and can be undone.
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
