import CDTDatastore
import CDTDigest
import CDTJSON
import CDTPlatform
import CouchDB

/// The state of a replication as both ends keep it in a local document: the history of its runs, in CouchDB's format.
///
/// ```
/// {"session_id": "6d…", "source_last_seq": "12-…", "history": [{"session_id": "6d…", "recorded_seq": "12-…", …}, …]}
/// ```
///
/// A store also keeps what was rejected, `"rejected": {"id": ["1-a"]}`. Other ends keep only the sequence before it,
/// `rejected_since` of the run: who may read their local documents may not know of the documents that they refuse.
struct Checkpoint: Sendable {
  /// The members that every end keeps.
  let json: JSONObject
  /// The revisions that the target has not taken; `nil` if they are not known here.
  let rejected: JSONObject?
  /// The value of `_rev`, if the document has one.
  let revision: String?

  private static let maximumHistory = 50

  /// Reads the document of a checkpoint.
  init(_ json: JSONObject) {
    self.init(json, rejected: json[Self.rejectedMember]?.objectValue)
  }

  private init(_ json: JSONObject, rejected: JSONObject?) {
    revision = json["_rev"]?.stringValue
    self.json = json.filter { !$0.key.hasBytePrefix("_") && $0.key != Self.rejectedMember }
    self.rejected = rejected
  }

  private static let rejectedMember = "rejected"
  private static let rejectedSince = "rejected_since"

  /// The members that a store keeps.
  var jsonInStore: JSONObject {
    var json = json
    json[Self.rejectedMember] = rejected.map { .object($0) }
    return json
  }

  /// Whether the last run has dealt with everything up to a revision, and the target has taken it.
  ///
  /// - Parameter revision: A winner of the source, which is a store.
  func isPast(_ revision: DocumentRevision) -> Bool {
    guard revision.revisionID != .purged, let last = json["source_last_seq"]?.intValue,
      revision.sequence <= last
    else { return false }
    return rejected?[revision.id]?.arrayValue?.contains(.string(revision.revisionID.description)) != true
  }

  /// The runs, newest first.
  private var history: [JSONObject] {
    (json["history"]?.arrayValue ?? []).compactMap(\.objectValue)
  }

  /// The record of earlier runs that two ends have in common.
  struct Resumption: Sendable {
    /// The sequence after which the next run begins.
    var sequence: JSONValue = 0
    /// The runs that both ends know, newest first.
    ///
    /// An end that was restored from a backup or created again has lost some runs. If they stayed in the history that both
    /// ends keep, a later run would go on from them.
    var history: [JSONObject] = []
    /// The revisions that were rejected before the sequence.
    var rejections: RejectionList.Record?
  }

  /// Finds the newest run that both ends know.
  static func resumption(_ source: Checkpoint?, _ target: Checkpoint?) -> Resumption {
    guard let source, let target else { return Resumption() }
    let theirs = target.history
    for (index, run) in source.history.enumerated() {
      guard let session = run["session_id"], let ours = run["recorded_seq"],
        let position = theirs.firstIndex(where: { $0["session_id"] == session }),
        let other = theirs[position]["recorded_seq"], let sequence = earlier(ours, other)
      else { continue }
      var resumption = Resumption(sequence: sequence, history: Array(source.history[index...]))
      let earlierRun = sequence == ours ? run : theirs[position]
      if let since = earlierRun[rejectedSince] {
        // A list belongs to the newest run of its end.
        let lists = [(source.rejected, index), (target.rejected, position)]
        if ours == other, let list = lists.first(where: { $0.0 != nil && $0.1 == 0 })?.0 {
          resumption.rejections = RejectionList.Record(since: since, revisions: list)
        } else {
          // The target may have lost revisions that it has taken since then.
          resumption.sequence = since
        }
      }
      resumption.history[0]["recorded_seq"] = resumption.sequence
      resumption.history[0][rejectedSince] = resumption.rejections?.since
      return resumption
    }
    return Resumption()
  }

  /// The earlier of two sequences of a database; `nil` if they can't be compared.
  ///
  /// They differ if a run was interrupted between saving its two checkpoints, or if one end was restored from a backup made
  /// during the run. CouchDB's sequences begin with a number that grows.
  private static func earlier(_ one: JSONValue, _ other: JSONValue) -> JSONValue? {
    if one == other { return one }
    func number(_ sequence: JSONValue) -> Int64? {
      sequence.intValue.map { Int64($0) }
        ?? sequence.stringValue.flatMap { text in Int64(text.prefix { $0 != "-" }) }
    }
    guard let first = number(one), let second = number(other) else { return nil }
    return first <= second ? one : other
  }

  /// The checkpoint of a run, before those of earlier runs.
  init(
    _ run: Run, sequence: JSONValue, counts: ReplicationResult.Counts, rejections: RejectionList.Record? = nil
  ) {
    var entry: JSONObject = [
      "session_id": .string(run.session), "start_time": .string(Self.date(run.start)),
      "end_time": .string(Self.date(.now)), "start_last_seq": run.resumption.sequence,
      "end_last_seq": sequence, "recorded_seq": sequence, "missing_checked": .int(Int64(counts.changes)),
      "missing_found": .int(Int64(counts.missing)), "docs_read": .int(Int64(counts.revisionsRead)),
      "docs_written": .int(Int64(counts.revisionsWritten)),
      "doc_write_failures": .int(Int64(counts.rejected.count)),
    ]
    entry[Self.rejectedSince] = rejections?.since
    let history = [entry] + run.resumption.history
    self.init(
      [
        "session_id": .string(run.session), "source_last_seq": sequence, "replication_id_version": 4,
        "history": .array(history.prefix(Self.maximumHistory).map { .object($0) }),
      ], rejected: rejections?.revisions)
  }

  /// A run of a replication.
  struct Run: Sendable {
    let session = RandomID.digits()
    let start = Date.now
    let resumption: Resumption

    /// - Parameter resumption: The record of the earlier runs at both ends.
    init(from resumption: Resumption) {
      self.resumption = resumption
    }
  }

  private static func date(_ date: Date) -> String {
    HTTPDate.text(Int64(date.timeIntervalSince1970))
  }

  /// The id of one direction of a replication: a digest of everything that changes what is sent.
  static func id(source: String, target: String, filter: JSONValue) -> String {
    let text = JSONValue.array([.string(source), .string(target), filter]).text
    return Hexadecimal.text(Digest.hash(text.utf8, .sha256).prefix(16))
  }
}
