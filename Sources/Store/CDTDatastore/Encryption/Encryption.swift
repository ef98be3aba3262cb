import CDTDigest
public import CDTPlatform

/// The secret with which a datastore is encrypted.
///
/// ```swift
/// var options = DatastoreOptions()
/// options.encryption = .passphrase("correct horse battery staple")
/// let manager = try DatastoreManager(directory: "/data/people", options: options)
/// ```
///
/// It is needed each time that the datastore is opened, and cannot be recovered. Its description does not show it.
public enum Encryption: Sendable, Hashable {
  /// 32 random bytes, which the app keeps, for example in the system's key store.
  case key([UInt8])
  /// A text that somebody remembers. The key is derived from its UTF-8 with scrypt, which takes about a tenth of a second and
  /// 32 MB each time that a datastore is opened. An empty one is refused for a new datastore.
  case passphrase(String)
}

extension Encryption {
  /// The secret in a file or in a variable of the environment, by the rule of `--key-file` and `CDTQUERY_KEY`.
  ///
  /// 64 hexadecimal digits, or 32 bytes that are not text, are a key. The first line of any other text is a passphrase. A byte order
  /// mark and a final line feed are not part of either.
  ///
  /// ```swift
  /// let content = try Data(contentsOf: URL(filePath: "/run/secrets/people"))
  /// let options = DatastoreOptions(encryption: try Encryption(secret: Array(content)))
  /// ```
  ///
  /// - Throws: ``DatastoreError`` with the code `.wrongKey` if it is neither.
  public init(secret content: [UInt8]) throws(DatastoreError) {
    var text = content[...]
    if text.starts(with: [0xEF, 0xBB, 0xBF]) { text.removeFirst(3) }
    if text.last == UInt8(ascii: "\n") { text.removeLast() }
    if text.last == UInt8(ascii: "\r") { text.removeLast() }
    let length = AuthenticatedCipher.keyLength
    if let key = [content[...], text].first(where: { $0.count == length && !Self.isText($0) }) {
      self = .key(Array(key))
    } else if text.count == 2 * length, let key = Hexadecimal.bytes(String(decoding: text, as: UTF8.self)) {
      self = .key(key)
    } else {
      var line = text.prefix { $0 != UInt8(ascii: "\n") }
      if line.last == UInt8(ascii: "\r") { line.removeLast() }
      guard !line.isEmpty, let passphrase = String(validating: line, as: UTF8.self) else {
        throw DatastoreError(.noSecret)
      }
      self = .passphrase(passphrase)
    }
  }

  /// Whether bytes are UTF-8 without control characters other than those between words and lines.
  private static func isText(_ bytes: ArraySlice<UInt8>) -> Bool {
    bytes.allSatisfy { $0 >= 0x20 && $0 != 0x7F || [0x09, 0x0A, 0x0D].contains($0) }
      && String(validating: bytes, as: UTF8.self) != nil
  }

  /// Throws if a datastore can't be encrypted with it.
  func check() throws(DatastoreError) {
    if case .passphrase(let text) = self, text.isEmpty { throw DatastoreError(.emptyPassphrase) }
  }
}

extension Encryption: CustomStringConvertible, SecretHolder {
  /// The kind of secret.
  public var description: String {
    switch self {
    case .key: "a key"
    case .passphrase: "a passphrase"
    }
  }
}
