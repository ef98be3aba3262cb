import CDTDigest
import CDTJSON
import CDTPlatform
import CDTSQLite

/// `encryption.json` in a datastore's directory: its data key, encrypted with a key of the user.
///
/// ```json
/// {"format": 1, "id": "<uuid>", "derivation": "scrypt", "salt": "<hex>", "cost": 32768, "blockSize": 8, "parallelism": 1, "key": "<hex>"}
/// ```
///
/// All files are encrypted with keys that are derived from the data key, so a new passphrase changes only this file.
struct KeyFile {
  static let name = "encryption.json"
  /// Also of the file that takes its place.
  static let names = [name, "\(name).new"]

  /// The derivation of the key that encrypts the data key from the user's secret.
  private enum Derivation {
    case key
    case scrypt(salt: [UInt8], cost: Int, blockSize: Int, parallelism: Int)
    case pbkdf2(salt: [UInt8], iterations: Int)

    /// The parameters of new passphrases: about a tenth of a second.
    static func ofPassphrase() -> Derivation {
      #if canImport(CryptoKit)
        .pbkdf2(salt: RandomBytes.make(16), iterations: 600_000)
      #else
        .scrypt(salt: RandomBytes.make(16), cost: 32_768, blockSize: 8, parallelism: 1)
      #endif
    }
  }

  private let id: String
  private let derivation: Derivation
  /// The data key, sealed.
  private let sealedKey: [UInt8]

  // MARK: Opening

  /// The keys of the datastore in a directory; `nil` if it is not encrypted.
  ///
  /// - Throws: ``DatastoreError``: `.wrongKey` if the secret is missing or wrong, or is given for a datastore that is not
  ///   encrypted; `.corrupt` if the file is damaged or missing.
  static func keys(in directory: String, _ encryption: Encryption?) throws -> StoreKeys? {
    if let keys = try existingKeys(in: directory, encryption) { return keys }
    let database = DatabaseFile.path(in: directory)
    if try hasContent(database),
      try FileSystem.reading(database, { try DatabaseCipher.isUsed(in: database) })
    {
      throw DatastoreError(.missingKeyFile("\(directory)/\(name)"))
    }
    guard encryption == nil else { throw DatastoreError(.keyForPlainStore(directory)) }
    return nil
  }

  private static func hasContent(_ database: String) throws(DatastoreError) -> Bool {
    let status = try FileSystem.perform("read", database, FileStatus.ofFile(at: database))
    return status?.kind == .file && status?.size ?? 0 > 0
  }

  /// Makes the file in the directory of a new datastore, unless it is there.
  static func makeIfNew(in place: StoreDirectory, _ encryption: Encryption) throws {
    let path = "\(place.path)/\(name)"
    func isNeeded() throws -> Bool {
      try FileSystem.kind(of: path) == nil && !hasContent(DatabaseFile.path(in: place.path))
    }
    guard try isNeeded() else { return }
    let made = try KeyFile(RandomBytes.make(AuthenticatedCipher.keyLength), encryption, place.path)
    try place.exclusive {
      // Another process may have made one in the meantime.
      guard try isNeeded() else { return }
      try made.write(path)
    }
    try FileSystem.synchronize(place.path)
  }

  /// Makes the file with a new data key, in a directory that nobody else writes to.
  static func make(in directory: String, _ encryption: Encryption) throws -> StoreKeys {
    let dataKey = RandomBytes.make(AuthenticatedCipher.keyLength)
    let file = try KeyFile(dataKey, encryption, directory)
    let path = "\(directory)/\(name)"
    try file.write(path)
    return StoreKeys(dataKey: dataKey, id: file.id)
  }

  private func write(_ path: String) throws(DatastoreError) {
    try FileSystem.perform("write", path, Files.replace(path, with: Array(text.utf8)))
  }

  /// The id of the data key of the datastore in a directory; `nil` if it has none.
  static func id(in directory: String) throws -> String? {
    let path = "\(directory)/\(name)"
    return try content(path).map { try KeyFile($0, path).id }
  }

  /// The keys of the datastore in a directory; `nil` if it has none.
  static func existingKeys(in directory: String, _ encryption: Encryption?) throws -> StoreKeys? {
    let path = "\(directory)/\(name)"
    guard let content = try content(path) else { return nil }
    guard let encryption else { throw DatastoreError(.missingKey(directory)) }
    let file = try KeyFile(content, path)
    return StoreKeys(dataKey: try file.dataKey(encryption, directory), id: file.id)
  }

  /// Replaces the secret of the datastore in a directory. Its files stay as they are.
  static func changeSecret(in directory: String, from old: Encryption, to new: Encryption) throws {
    let path = "\(directory)/\(name)"
    guard let content = try content(path) else { throw DatastoreError(.keyForPlainStore(directory)) }
    let file = try KeyFile(content, path)
    let made = try KeyFile(file.dataKey(old, directory), new, directory, id: file.id)
    try made.write(path)
  }

  /// Copies the file of a datastore to the directory of a backup, which nobody else writes to.
  ///
  /// - Parameters:
  ///   - keys: The datastore's keys, if it is encrypted.
  ///   - isNew: Whether the backup has no increments yet. Otherwise its data key has to be the datastore's.
  /// - Throws: ``DatastoreError``: `.wrongKey` if it is not, or if only one of the two is encrypted; `.closed` if the datastore
  ///   has another data key than the one that it was opened with.
  static func copy(
    of store: Datastore, _ keys: StoreKeys?, toBackupIn directory: String, isNew: Bool
  ) throws {
    let (source, target) = ("\(store.directory)/\(name)", "\(directory)/\(name)")
    let mine = try keys.flatMap { _ in try content(source) }
    guard try mine.map({ try KeyFile($0, source).id }) == keys?.id else {
      throw DatastoreError(.deletedElsewhere(store.name))
    }
    let existing = try content(target)
    guard mine != existing else { return }
    guard try isNew || mine != nil && existing.map({ try KeyFile($0, target).id }) == keys?.id else {
      throw DatastoreError(.backupWithOtherKey(directory))
    }
    guard let mine else { return try FileSystem.perform("remove", target, Files.remove(target)) }
    try FileSystem.perform("write", target, Files.replace(target, with: mine))
  }

  private static func content(_ path: String) throws -> [UInt8]? {
    guard try FileSystem.kind(of: path) != nil else { return nil }
    return try FileSystem.reading(path) {
      guard let file = try OpenFile.regular(path) else { throw DatastoreError(.notARegularFile(path)) }
      return try file.bytes(at: 0, count: 4_096)
    }
  }

  private init(_ content: [UInt8], _ path: String) throws(DatastoreError) {
    guard let json = try? JSONValue(parsing: content), json["format"] == 1, let id = json["id"]?.stringValue,
      let sealedKey = json["key"]?.stringValue.flatMap(Hexadecimal.bytes)
    else { throw DatastoreError(.damaged(path, "it is not the key of a datastore")) }
    let salt = json["salt"]?.stringValue.flatMap(Hexadecimal.bytes) ?? []
    // Others would take for ever, or all memory.
    func number(_ name: String, _ range: ClosedRange<Int>) throws(DatastoreError) -> Int {
      guard let number = json[name]?.intValue, range.contains(number) else {
        throw DatastoreError(.damaged(path, "\(name) is not from \(range.lowerBound) to \(range.upperBound)"))
      }
      return number
    }
    switch json["derivation"]?.stringValue {
    case "none": derivation = .key
    case "scrypt":
      derivation = .scrypt(
        salt: salt, cost: try number("cost", 2...1 << 20), blockSize: try number("blockSize", 1...32),
        parallelism: try number("parallelism", 1...16))
    case "pbkdf2": derivation = .pbkdf2(salt: salt, iterations: try number("iterations", 1...10_000_000))
    default: throw DatastoreError(.damaged(path, "its derivation is not known"))
    }
    (self.id, self.sealedKey) = (id, sealedKey)
  }

  private func dataKey(_ encryption: Encryption, _ directory: String) throws(DatastoreError) -> [UInt8] {
    let wrapping = try Self.wrappingKey(encryption, derivation, directory)
    guard
      let key = wrapping.flatMap({ AuthenticatedCipher(key: $0).open(sealedKey, with: Array(id.utf8)) }),
      key.count == AuthenticatedCipher.keyLength
    else { throw DatastoreError(.wrongKey(directory)) }
    return key
  }

  // MARK: Making

  private init(
    _ dataKey: [UInt8], _ encryption: Encryption, _ directory: String, id: String = RandomID.uuid()
  )
    throws(DatastoreError)
  {
    try encryption.check()
    self.id = id
    derivation = if case .key = encryption { .key } else { .ofPassphrase() }
    guard let wrapping = try Self.wrappingKey(encryption, derivation, directory) else {
      throw DatastoreError(.wrongKey(directory))
    }
    sealedKey = AuthenticatedCipher(key: wrapping).seal(dataKey, with: Array(id.utf8))
  }

  /// - Returns: `nil` if the secret is of another kind than the file's.
  private static func wrappingKey(
    _ encryption: Encryption, _ derivation: Derivation, _ directory: String
  ) throws(DatastoreError) -> [UInt8]? {
    do {
      switch (encryption, derivation) {
      case (.key(let key), .key):
        guard key.count == AuthenticatedCipher.keyLength else { throw DatastoreError(.keyLength(key.count)) }
        return key
      case (.passphrase(let text), .scrypt(let salt, let cost, let blockSize, let parallelism)):
        return try KeyDerivation.scrypt(
          Array(text.utf8), salt: salt, cost: cost, blockSize: blockSize, parallelism: parallelism,
          count: AuthenticatedCipher.keyLength)
      case (.passphrase(let text), .pbkdf2(let salt, let iterations)):
        return try KeyDerivation.pbkdf2(
          Array(text.utf8), salt: salt, iterations: iterations, count: AuthenticatedCipher.keyLength)
      default: return nil
      }
    } catch let error as DatastoreError {
      throw error
    } catch {
      throw DatastoreError(.io, "the key of \(directory) can't be derived: \(error)")
    }
  }

  private var text: String {
    var json: JSONObject = ["format": 1, "id": .string(id)]
    switch derivation {
    case .key: json["derivation"] = "none"
    case .scrypt(let salt, let cost, let blockSize, let parallelism):
      json["derivation"] = "scrypt"
      json["salt"] = .string(Hexadecimal.text(salt))
      json["cost"] = JSONValue(cost)
      json["blockSize"] = JSONValue(blockSize)
      json["parallelism"] = JSONValue(parallelism)
    case .pbkdf2(let salt, let iterations):
      json["derivation"] = "pbkdf2"
      json["salt"] = .string(Hexadecimal.text(salt))
      json["iterations"] = JSONValue(iterations)
    }
    json["key"] = .string(Hexadecimal.text(sealedKey))
    return JSONValue.object(json).prettyText
  }
}
