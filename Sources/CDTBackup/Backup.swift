import CDTDatastore
import CDTDigest
import CDTJSON
public import CDTPlatform

/// A backup of a datastore: a directory with one file for each increment, and the attachments.
///
/// ```
/// 00000001.jsonl   the header, a line for each leaf of each document, and the end
/// 00000002.jsonl   the documents that changed since
/// attachments/     one file for each content, named by its SHA-1
/// ```
///
/// A line of a document is what CouchDB's `_bulk_docs` takes with `new_edits: false`: the revision with `_revisions`. Lines of local
/// documents have an `_id` that begins with `_local/`. The last line has the SHA-256 of what is before it, and each header that of the
/// previous file. Files appear when they are whole and on disk, and never change.
///
/// ```swift
/// try store.backup(to: "/backup/people")
/// for increment in try Backup(directory: "/backup/people").increments() { print(increment.time, increment.sequence) }
/// ```
///
/// Source: `docs/backup.md`.
public struct Backup: Sendable {
  /// The directory's path.
  public let directory: String

  /// - Parameter directory: The path of the directory, which need not exist.
  public init(directory: String) {
    self.directory = directory
  }

  /// A state of the datastore that a backup has.
  public struct Increment: Sendable, Hashable {
    /// 1 for the first, which has every document.
    public let number: Int
    /// When its state was read.
    public let time: Date
    /// The datastore's sequence at this time.
    public let sequence: Int64
  }

  /// What to restore.
  public enum Point: Sendable, Hashable {
    case newest
    /// The last increment that was made not later than a time.
    case time(Date)
    /// The last increment that has no change after a sequence.
    case sequence(Int64)
  }

  /// The increments, oldest first, up to the first one whose file is missing or not what a backup has written; none if there is no
  /// backup.
  ///
  /// - Throws: `DatastoreError` with the code `.io`.
  /// - Complexity: O(*increments*).
  public func increments() throws -> [Increment] {
    try files().intact.map(\.increment)
  }

  // MARK: Files

  /// An increment and what its header says.
  struct File {
    let path: String
    let header: BackupHeader

    var increment: Increment {
      Increment(number: header.number, time: header.time, sequence: header.sequence)
    }
  }

  var attachments: AttachmentFiles {
    AttachmentFiles(directory: "\(directory)/attachments", storeName: directory)
  }

  func path(of number: Int) -> String {
    let digits = String(number)
    return "\(directory)/\(String(repeating: "0", count: max(0, 8 - digits.count)))\(digits).jsonl"
  }

  /// The numbers of the increments that are there, in order.
  private func numbers() throws -> [Int] {
    guard try FileSystem.kind(of: directory) != nil else { return [] }
    return try FileSystem.names(in: directory).compactMap { name in
      guard name.hasSuffix(".jsonl"), let number = Int(name.dropLast(6)), number > 0 else { return nil }
      return path(of: number) == "\(directory)/\(name)" ? number : nil
    }.sorted()
  }

  /// Throws if the directory has other files and no backup: its files must not be mistaken for those of something else.
  func checkDirectory() throws {
    let names = try FileSystem.names(in: directory)
    guard try numbers().isEmpty, !names.allSatisfy({ ["attachments", Self.mirror].contains($0) }) else {
      return
    }
    throw DatastoreError.notABackup(directory)
  }

  /// The name of the store in the directory that a database is replicated to before it is backed up.
  public static let mirror = "mirror"

  private func file(_ number: Int) throws -> File {
    let path = path(of: number)
    let header = try BackupHeader(ofFileAt: path)
    guard header.number == number else {
      throw DatastoreError.damagedBackup(path, "its header has the number \(header.number)")
    }
    return File(path: path, header: header)
  }

  /// The files up to the first that is missing or damaged, and what is wrong with that one.
  func files() throws -> (intact: [File], damage: DatastoreError?) {
    var intact: [File] = []
    for (position, number) in try numbers().enumerated() {
      guard number == position + 1 else {
        return (intact, DatastoreError.damagedBackup(path(of: position + 1), "it is missing"))
      }
      do {
        intact.append(try file(number))
      } catch let error as DatastoreError where [.corrupt, .notFound].contains(error.code) {
        return (intact, error)
      }
    }
    return (intact, nil)
  }

  /// The newest file; `nil` if there is no backup.
  ///
  /// - Throws: `DatastoreError` with the code `.corrupt` if a file is missing or damaged.
  func newest() throws -> File? {
    let (intact, damage) = try files()
    if let damage { throw damage }
    return intact.last
  }

  /// The files of a state.
  ///
  /// - Throws: `DatastoreError`: `.notFound` if the backup does not reach back so far, `.corrupt` if a file is missing or damaged that
  ///   the state may need.
  func files(upTo point: Point) throws -> ArraySlice<File> {
    let (files, damage) = try files()
    let end =
      switch point {
      case .newest: files.endIndex
      case .time(let time): files.firstIndex { $0.header.time > time } ?? files.endIndex
      case .sequence(let sequence): files.firstIndex { $0.header.sequence > sequence } ?? files.endIndex
      }
    if end == files.endIndex, let damage {
      // A later state with the same sequence would be the one that is asked for, and may be behind the damage.
      guard end > 0, case .sequence(let sequence) = point, files[end - 1].header.sequence == sequence else {
        throw damage
      }
    }
    guard end > 0 else { throw DatastoreError.noBackup(directory, oldest: files.first?.increment) }
    return files[..<end]
  }
}

/// The first line of an increment.
struct BackupHeader {
  let number: Int
  /// The id of the datastore.
  let store: String
  let time: Date
  let sequence: Int64
  /// The session that wrote the sequence; empty for 0.
  let session: String
  /// The SHA-256 of the previous file's lines; empty for the first.
  let previousDigest: String
  /// The definitions of the indexes.
  let indexes: JSONValue
  /// The SHA-256 of the local documents. They follow if it is not that of the previous increment.
  let localDigest: String

  private static let version: Int64 = 1

  /// The time as a header can have it.
  static var now: Date { ISO8601.text(of: .now).flatMap(ISO8601.date) ?? .now }

  var json: JSONObject {
    [
      "backup": .int(Self.version), "number": .int(Int64(number)), "store": .string(store),
      "time": .string(ISO8601.text(of: time) ?? ""),
      "sequence": .int(sequence), "session": .string(session), "previousDigest": .string(previousDigest),
      "indexes": indexes, "localDigest": .string(localDigest),
    ]
  }

  init(
    number: Int, store: String, time: Date, sequence: Int64, session: String, previousDigest: String,
    indexes: JSONValue, localDigest: String
  ) {
    (self.number, self.store, self.time) = (number, store, time)
    (self.sequence, self.session) = (sequence, session)
    (self.previousDigest, self.indexes, self.localDigest) = (previousDigest, indexes, localDigest)
  }

  init(ofFileAt path: String) throws {
    var lines = try BackupLines(path)
    guard let line = try lines.next(), let json = try? JSONValue(parsing: line) else {
      throw DatastoreError.damagedBackup(path, "its first line is not a header")
    }
    if let version = json["backup"]?.intValue, version > Self.version {
      throw DatastoreError.newerBackup(path)
    }
    guard json["backup"]?.intValue == Int(Self.version), let number = json["number"]?.intValue,
      let store = json["store"]?.stringValue,
      let time = json["time"]?.stringValue.flatMap(ISO8601.date),
      let sequence = json["sequence"]?.intValue,
      let session = json["session"]?.stringValue,
      let previousDigest = json["previousDigest"]?.stringValue, let indexes = json["indexes"],
      let localDigest = json["localDigest"]?.stringValue
    else {
      throw DatastoreError.damagedBackup(path, "its first line is not a header")
    }
    self.init(
      number: number, store: store, time: time, sequence: Int64(sequence), session: session,
      previousDigest: previousDigest, indexes: indexes,
      localDigest: localDigest)
  }
}

/// The last line of an increment.
struct BackupEnd {
  /// The SHA-256 of the lines before it.
  let digest: String
  let documents: Int

  var json: JSONObject { ["sha256": .string(digest), "documents": .int(Int64(documents))] }

  init(digest: String, documents: Int) {
    (self.digest, self.documents) = (digest, documents)
  }

  /// `nil` for another line.
  init?(_ line: [UInt8]) {
    guard line.starts(with: #"{"sha256":"#.utf8), let json = try? JSONValue(parsing: line),
      let digest = json["sha256"]?.stringValue, let documents = json["documents"]?.intValue
    else { return nil }
    self.init(digest: digest, documents: documents)
  }

  /// The end of a file, read without the lines before it.
  init(ofFileAt path: String) throws {
    let length = try FileSystem.perform("read", path, Files.length(of: path)) ?? 0
    let start = max(0, length - 1_000)
    let tail = try FileSystem.perform(
      "read", path, OpenFile(path, for: .reading).bytes(at: start, count: Int(length - start)))
    let line = tail.dropLast().split(separator: UInt8(ascii: "\n")).last ?? []
    guard tail.last == UInt8(ascii: "\n"), let end = BackupEnd(Array(line)) else {
      throw DatastoreError.damagedBackup(path, "its last line is not an end")
    }
    self = end
  }
}

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

  static func encryptedBackup(_ name: String) -> DatastoreError {
    DatastoreError(
      .wrongKey,
      "\(name) is encrypted, and a backup would not be; copy its directory while it is closed, or replicate it to an encrypted one"
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
