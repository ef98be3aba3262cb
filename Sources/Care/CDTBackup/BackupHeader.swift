import CDTDatastore
import CDTJSON
import CDTPlatform

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

  init(ofFileAt path: String, _ keys: StoreKeys?) throws {
    var lines = try BackupLines(path, keys)
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

/// The line behind a leaf of which an attachment could not be saved.
enum BackupLoss {
  static func json(_ loss: IntegrityFinding) -> JSONObject {
    ["lost": .string(loss.message), "id": loss.documentID.map { .string($0) } ?? .null]
  }

  /// - Returns: `nil` for another line.
  static func read(_ line: [UInt8]) -> IntegrityFinding? {
    guard line.starts(with: #"{"lost":"#.utf8), let json = try? JSONValue(parsing: line),
      let message = json["lost"]?.stringValue
    else { return nil }
    return IntegrityFinding(.attachment, documentID: json["id"]?.stringValue, message)
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
  init(of increment: BackupFiles.File) throws {
    let path = increment.path
    let tail = try FileSystem.perform(
      "read", path, ContentFile(path, key: increment.keys?.increments)?.tail(1_000))
    guard let tail else { throw DatastoreError.damagedBackup(path, "it differs from what was written") }
    let line = tail.dropLast().split(separator: UInt8(ascii: "\n")).last ?? []
    guard tail.last == UInt8(ascii: "\n"), let end = BackupEnd(Array(line)) else {
      throw DatastoreError.damagedBackup(path, "its last line is not an end")
    }
    self = end
  }
}
