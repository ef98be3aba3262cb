import CDTDatastore
import CDTPlatform
import CDTSQLite
import Synchronization

/// Recreates the index file if it is lost, damaged, of another version, or built from another history of the
/// documents.
///
/// Everything in the file comes from the documents and from `indexes.json`, so recovery discards it, creates it with
/// the defined indexes, and builds them. Readers work without indexes in the meantime. Only content that the engine
/// certainly did not write counts as damage (``isDamage(_:)``), so a temporary lack of memory or file descriptors does
/// not discard indexes.
package final class IndexRecovery: Sendable {
  private let path: String
  private let directory: String
  private let file: DefinitionFile
  private let suspension: Suspension?
  /// The file in which a reader or a writer met damage.
  private let damaged = Mutex<FileIdentity?>(nil)
  /// Whether the file was missing when the datastore was opened, until a check reports it.
  private let wasMissing: Mutex<Bool>

  init(path: String, directory: String, keys: StoreKeys?, _ suspension: Suspension? = nil) {
    self.suspension = suspension
    self.path = path
    self.directory = directory
    file = DefinitionFile(path: "\(directory)/\(DefinitionFile.name)", keys: keys)
    let isMissing = FileIdentity(path) == nil && (try? file.load().isEmpty) == false
    wasMissing = Mutex(isMissing)
  }

  /// Whether the file was missing when the datastore was opened; `false` the next time. It may have been made in the background since.
  func takeMissing() -> Bool {
    wasMissing.withLock { wasMissing in
      defer { wasMissing = false }
      return wasMissing
    }
  }

  /// Whether an error means that the index file can't be used.
  package static func isDamage(_ error: any Error) -> Bool {
    switch error {
    case is IndexDamage: true
    case let error as SQLiteError:
      (error.isCorrupt || error.isMissingTable || error.isDamagedTextTable)
        && error.damagedFile?.hasSuffix("/\(IndexFile.name)") != false
    default: false
    }
  }

  /// Records that the current file is damaged: nothing uses it from now on, and the next recovery replaces it.
  func noteDamage() {
    damaged.withLock { $0 = FileIdentity(path) }
  }

  /// Whether a file was found to be damaged.
  func isDamaged(_ identity: FileIdentity?) -> Bool {
    identity != nil && damaged.withLock { $0 == identity }
  }

  // MARK: Definitions

  /// Whether any index is defined.
  var hasDefinitions: Bool {
    get throws { try file.exists }
  }

  /// The defined indexes.
  var definitions: [IndexDefinition] {
    get throws { try file.load() }
  }

  /// Whether there may be work to do.
  var mayBeNeeded: Bool {
    get throws { try currentFile() != nil || hasDefinitions }
  }

  func save(_ definitions: [IndexDefinition]) throws {
    try file.save(definitions)
  }

  /// Throws if a file was replaced after it was opened. Call it while nobody else can replace it.
  func check(_ file: IndexConnection) throws {
    guard FileIdentity(path) == file.identity else { throw ReplacedFile() }
  }

  /// A change would be made in a file that was replaced.
  private struct ReplacedFile: Error {}

  /// Runs `body` while no other process changes the index definitions.
  func changingDefinitions<R>(_ body: () throws -> R) throws -> R {
    try IndexLock.whileChanging(directory, suspension, body)
  }

  // MARK: Recovering

  /// Runs `body`, which uses the file. A missing file is created first; a damaged one is replaced, and `body` runs
  /// once more.
  func recovering<R>(for store: Datastore, _ body: () throws -> R) throws -> R {
    // A file that can't be looked up is not missing: a new one would hide the one that is there.
    if try currentFile() == nil { try replaceFile(nil, for: store) }
    var identity = FileIdentity(path)
    if isDamaged(identity) {
      try replaceFile(identity, for: store)
      identity = FileIdentity(path)
    }
    do {
      return try body()
    } catch is ReplacedFile {
      return try recovering(for: store, body)
    } catch let error where Self.isDamage(error) {
      try replaceFile(identity, for: store)
      return try body()
    } catch let error where FileIdentity(path) != identity && error is SQLiteError {
      // Another process was replacing the file; when it is done, the file can be used.
      try changingDefinitions {}
      return try body()
    }
  }

  /// The file that is there; `nil` if there is none.
  func currentFile() throws -> FileIdentity? {
    do {
      return try FileStatus.ofFile(at: path)?.identity
    } catch {
      throw DatastoreError(error, "read", path)
    }
  }

  /// Creates the file with the defined indexes, replacing a damaged one, unless another process has already done so.
  ///
  /// - Parameter damaged: The damaged file, or `nil` if the file is missing.
  func replaceFile(_ damaged: FileIdentity?, for store: Datastore) throws {
    try changingDefinitions {
      guard try currentFile() == damaged else { return }
      try IndexConnection.createFile(path, of: store, indexes: definitions)
    }
  }
}
