public import CDTDatastore
public import Foundation

/// CDTDatastore's name for the key of an encrypted datastore.
@available(*, deprecated, message: "use Encryption")
public struct CDTEncryptionKey: Sendable, Hashable {
  let encryption: Encryption

  /// The form of `Encryption.key` in CDTDatastore; `nil` unless there are 32 bytes.
  public init?(data: Data) {
    guard data.count == 32 else { return nil }
    encryption = .key(Array(data))
  }

  init(password: String) {
    encryption = .passphrase(password)
  }

  /// The bytes; `nil` for the key of a ``CDTEncryptionKeychainProvider``, which is derived when the datastore is opened.
  public var data: Data? {
    guard case .key(let key) = encryption else { return nil }
    return Data(key)
  }
}

/// CDTDatastore's name for what has the key of a datastore.
@available(*, deprecated, message: "use DatastoreOptions(encryption:)")
public protocol CDTEncryptionKeyProvider {
  /// The key; `nil` if the datastore is not encrypted.
  func encryptionKey() -> CDTEncryptionKey?
}

/// CDTDatastore's provider of a key that the app has.
@available(*, deprecated, message: "use DatastoreOptions(encryption: .key(…))")
public struct CDTEncryptionKeySimpleProvider: CDTEncryptionKeyProvider {
  private let key: CDTEncryptionKey

  /// - Parameter key: 32 bytes; otherwise the result is `nil`.
  public init?(key: Data) {
    guard let key = CDTEncryptionKey(data: key) else { return nil }
    self.key = key
  }

  /// The key.
  public func encryptionKey() -> CDTEncryptionKey? { key }
}

/// CDTDatastore's provider of a key that a password opens. The key is kept in the datastore's directory, encrypted, and not in a
/// keychain.
@available(*, deprecated, message: "use DatastoreOptions(encryption: .passphrase(…))")
public struct CDTEncryptionKeychainProvider: CDTEncryptionKeyProvider {
  private let password: String

  /// - Parameters:
  ///   - password: The password, which becomes the passphrase.
  ///   - identifier: Ignored, as each datastore has a key of its own.
  public init(password: String, forIdentifier identifier: String) {
    self.password = password
  }

  /// The key.
  public func encryptionKey() -> CDTEncryptionKey? { CDTEncryptionKey(password: password) }
}

/// CDTDatastore's provider for datastores that are not encrypted.
@available(*, deprecated, message: "leave the encryption out")
public struct CDTEncryptionKeyNilProvider: CDTEncryptionKeyProvider {
  /// Creates a provider of no key.
  public init() {}

  /// `nil`.
  public func encryptionKey() -> CDTEncryptionKey? { nil }
}

extension DatastoreManager {
  /// CDTDatastore's form for encrypted datastores: the key is that of the provider, whatever the manager's options have. A datastore
  /// that is open already is returned as it is.
  @available(*, deprecated, message: "use DatastoreOptions(encryption:) and datastore(named:)")
  public func datastoreNamed(
    _ name: String, withEncryptionKeyProvider provider: any CDTEncryptionKeyProvider
  ) throws -> Datastore {
    try datastore(named: name, encryptedWith: provider.encryptionKey()?.encryption)
  }
}
