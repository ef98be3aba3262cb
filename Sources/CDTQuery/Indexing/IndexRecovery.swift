import CDTDatastore
import CDTPlatform
import SQLite

/// Makes the index file again when it is lost, damaged, of another version, or of another history of the documents.
///
/// Everything in the file comes from the documents and from `indexes.json`, so recovering means: discard it, create it
/// with the indexes that there should be, and fill them. Readers meanwhile do without indexes. Only what is certainly not
/// as the engine wrote it counts as damage (``isDamage(_:)``): a moment without memory or file descriptors costs no index.
struct IndexRecovery: Sendable {
  private let path: String
  private let directory: String
  private let file: DefinitionFile

  init(path: String, directory: String) {
    self.path = path
    self.directory = directory
    file = DefinitionFile(path: "\(directory)/indexes.json")
  }

  /// Whether an error means that the index file can't be used.
  static func isDamage(_ error: any Error) -> Bool {
    switch error {
    case is IndexDamage: true
    case let error as SQLiteError: error.isCorrupt || error.isMissingTable
    default: false
    }
  }

  // MARK: Definitions

  /// Whether there should be indexes.
  var hasDefinitions: Bool { file.exists }

  /// The indexes that there should be.
  var definitions: [IndexDefinition] {
    get throws { try file.load() }
  }

  /// Whether there is anything to look after.
  var mayBeNeeded: Bool { Files.exists(path) || hasDefinitions }

  func save(_ definitions: [IndexDefinition]) throws {
    try file.save(definitions)
  }

  /// Runs `body` while no other process changes which indexes there are.
  func changingDefinitions<R>(_ body: () throws -> R) throws -> R {
    try IndexLock.whileChanging(directory, body)
  }

  // MARK: Recovering

  /// Runs `body`, which uses the file. A file that is missing is created first; one that turns out to be damaged is
  /// replaced, and `body` runs once more.
  func recovering<R>(for store: Datastore, _ body: () throws -> R) throws -> R {
    if !Files.exists(path) { try replaceFile(nil, for: store) }
    let identity = FileIdentity(path)
    do {
      return try body()
    } catch let error where Self.isDamage(error) {
      try replaceFile(identity, for: store)
      return try body()
    } catch let error where FileIdentity(path) != identity && error is SQLiteError {
      // It was being replaced by another: with that done, it can be used.
      try changingDefinitions {}
      return try body()
    }
  }

  /// Creates the file with the indexes that there should be, in place of a damaged one; not when another process has done
  /// so already.
  ///
  /// - Parameter damaged: The file that is damaged, or `nil` where it is missing.
  func replaceFile(_ damaged: FileIdentity?, for store: Datastore) throws {
    try changingDefinitions {
      guard FileIdentity(path) == damaged else { return }
      try IndexConnection.createFile(path, storeID: store.storeID, indexes: definitions)
    }
  }
}
