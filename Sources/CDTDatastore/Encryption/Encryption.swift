/// The secret with which a datastore is encrypted.
///
/// ```swift
/// var options = DatastoreOptions()
/// options.encryption = .passphrase("correct horse battery staple")
/// let manager = try DatastoreManager(directory: "/data/people", options: options)
/// ```
///
/// It is needed each time that the datastore is opened, and cannot be recovered. Its description does not show it.
///
/// Source: `docs/encryption.md`.
public enum Encryption: Sendable, Hashable {
  /// 32 random bytes, which the app keeps, for example in the system's key store.
  case key([UInt8])
  /// A text that somebody remembers. The key is derived from its UTF-8 with scrypt, which takes about a tenth of a second and
  /// 32 MB each time that a datastore is opened.
  case passphrase(String)
}

extension Encryption: CustomStringConvertible, CustomReflectable {
  /// The kind of secret.
  public var description: String {
    switch self {
    case .key: "a key"
    case .passphrase: "a passphrase"
    }
  }

  /// Without the secret.
  public var customMirror: Mirror { Mirror(self, children: []) }
}
