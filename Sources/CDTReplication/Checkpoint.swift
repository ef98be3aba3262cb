import CDTJSON
import CouchDB
import Crypto
import FoundationEssentials

/// How far a replication has come, as both ends keep it in a local document: the history of its runs, in CouchDB's format.
///
/// ```
/// {"session_id": "6d…", "source_last_seq": "12-…", "history": [{"session_id": "6d…", "recorded_seq": "12-…", …}, …]}
/// ```
struct Checkpoint: Sendable {
  /// The members of the document that don't begin with an underscore.
  var json: JSONObject
  /// The value of `_rev`, if the document has one.
  var revision: String?

  private static let maximumHistory = 50

  init(_ json: JSONObject) {
    revision = json["_rev"]?.stringValue
    self.json = json.filter { !$0.key.hasPrefix("_") }
  }

  /// The runs, newest first.
  private var history: [JSONObject] {
    (json["history"]?.arrayValue ?? []).compactMap(\.objectValue)
  }

  /// The sequence from which to go on: of the newest run that both ends know; `nil` if there is none.
  static func resumption(_ source: Checkpoint?, _ target: Checkpoint?) -> JSONValue? {
    guard let source, let target else { return nil }
    if let session = source.json["session_id"]?.stringValue,
      session == target.json["session_id"]?.stringValue,
      let sequence = source.json["source_last_seq"]
    {
      return sequence
    }
    let known = Set(target.history.compactMap { $0["session_id"]?.stringValue })
    return source.history.first { $0["session_id"]?.stringValue.map(known.contains) ?? false }?[
      "recorded_seq"]
  }

  /// The checkpoint of a run, before those of earlier runs.
  static func next(_ run: Run, sequence: JSONValue, counts: ReplicationResult.Counts, after old: Checkpoint?)
    -> Checkpoint
  {
    let entry: JSONObject = [
      "session_id": .string(run.session), "start_time": .string(Self.date(run.start)),
      "end_time": .string(Self.date(.now)), "start_last_seq": run.startSequence, "end_last_seq": sequence,
      "recorded_seq": sequence, "missing_checked": .int(Int64(counts.changes)),
      "missing_found": .int(Int64(counts.missing)), "docs_read": .int(Int64(counts.revisionsRead)),
      "docs_written": .int(Int64(counts.revisionsWritten)),
      "doc_write_failures": .int(Int64(counts.rejected.count)),
    ]
    let earlier = (old?.history ?? []).filter { $0["session_id"] != .string(run.session) }
    var checkpoint = Checkpoint([
      "session_id": .string(run.session), "source_last_seq": sequence, "replication_id_version": 4,
      "history": .array(([entry] + earlier).prefix(maximumHistory).map { .object($0) }),
    ])
    checkpoint.revision = old?.revision
    return checkpoint
  }

  /// A run of a replication.
  struct Run: Sendable {
    let session = UUID().uuidString.lowercased().filter { $0 != "-" }
    let start = Date.now
    var startSequence: JSONValue = 0
  }

  private static func date(_ date: Date) -> String {
    HTTPDate.text(Int64(date.timeIntervalSince1970))
  }

  /// The id of a replication: a digest of everything that changes what is sent.
  static func id(source: String, target: String, filter: JSONValue) -> String {
    let text = JSONValue.array([.string(source), .string(target), filter]).text
    return SHA256.hash(data: Array(text.utf8)).prefix(16).map { byte in
      let digits = String(byte, radix: 16)
      return digits.count == 1 ? "0\(digits)" : digits
    }.joined()
  }
}
