import CDTDatastore
import CDTJSON
import CDTTestSupport
import Foundation

/// Changes a store at random: edits, conflicts, tombstones with and without bodies, attachments that revisions share.
struct RandomHistory {
  private var random: SeededGenerator
  private let ids: [String]

  static let ids = [
    "a", "a/b", "a+b", "%2F", "ü", "u\u{308}", "😀", "..", "?x=1&y", "\"\\", "_design/views", "_design/a/b",
    "long",
  ]

  static let merge = FieldMerge.fields(arrays: ["f0": .set])

  init(seed: UInt64, ids: [String]? = nil) {
    random = SeededGenerator(seed: seed)
    self.ids = ids ?? Self.ids(seed: seed, count: 8)
  }

  /// Some ids, the same for the same seed.
  static func ids(seed: UInt64, count: Int) -> [String] {
    var random = SeededGenerator(seed: seed)
    return (0..<count).map { number in
      Bool.random(using: &random) ? ids[Int.random(in: 0..<ids.count, using: &random)] : "doc\(number)"
    }
  }

  mutating func change(_ store: Datastore, times: Int) throws {
    for _ in 0..<times { try store.write { try change($0) } }
  }

  private mutating func number(_ below: Int) -> Int { Int.random(in: 0..<below, using: &random) }

  /// One change. It reads in the transaction that writes, as others may change the store at the same time.
  private mutating func change(_ store: WriteTransaction) throws {
    let id = ids[number(ids.count)]
    var leaf: DocumentRevision?
    if let leaves = try store.tree(ofDocument: id)?.leaves, !leaves.isEmpty {
      leaf = try store.document(withID: id, revisionID: leaves[number(leaves.count)].id)
    }
    guard let leaf, !leaf.isDeleted || number(3) == 0 else {
      return _ = try store.forceInsert(revision(id, parent: nil), history: [])
    }
    switch number(10) {
    case 0: _ = try? store.deleteDocument(from: leaf)
    case 1, 2: try graft(onto: leaf, in: store)
    case 3 where !leaf.isDeleted:
      var changed = leaf
      let attachment = attachment(number(3))
      changed.attachments[attachment.name] = attachment
      _ = try store.updateDocument(from: changed)
    case 4 where !leaf.isDeleted:
      var changed = leaf
      changed.attachments["file\(number(3))"] = nil
      _ = try store.updateDocument(from: changed)
    case 5: _ = try store.resolveConflicts(for: id, by: Self.merge)
    case 6,
      7 where !leaf.isDeleted:
      var changed = leaf
      changed.body["f\(number(6))"] = [.int(Int64(number(1_000))), ["x"], nil, [1, 2]][number(4)]
      _ = try store.updateDocument(from: changed)
    default:
      guard !leaf.isDeleted else { return try graft(onto: leaf, in: store) }
      var changed = leaf
      changed.body = body()
      _ = try store.updateDocument(from: changed)
    }
  }

  /// Inserts a branch as a replicator does: a conflict, a tombstone, or a revision that skips some generations.
  private mutating func graft(onto leaf: DocumentRevision, in store: WriteTransaction) throws {
    let history = try store.tree(ofDocument: leaf.id)?.history(of: leaf.revisionID).map(\.id) ?? []
    let base = Array(history.dropFirst(number(history.count)))
    var branch: [RevisionID] = []
    for step in 0...number(3) {
      guard let id = RevisionID("\(base[0].generation + step + 1)-\(suffix())") else { return }
      branch.insert(id, at: 0)
    }
    _ = try store.forceInsert(revision(leaf.id, parent: branch[0]), history: branch + base)
  }

  private mutating func revision(_ id: String, parent: RevisionID?) throws -> DocumentRevision {
    let isDeleted = number(5) == 0
    guard let revision = parent ?? RevisionID("1-\(suffix())") else { throw CancellationError() }
    return DocumentRevision(
      id: id, revisionID: revision, body: isDeleted && number(2) == 0 ? [:] : body(), isDeleted: isDeleted,
      attachments: number(4) == 0 ? [attachment(number(3))] : [])
  }

  private mutating func suffix() -> String {
    number(4) == 0
      ? ["x", "zz", "A", "hello world"][number(4)] + "\(number(1_000))"
      : (0..<32).map { _ in String(number(16), radix: 16) }.joined()
  }

  private mutating func body() -> JSONObject {
    let values: [JSONValue] = [
      nil, true, 0, -1, 9_007_199_254_740_993, 1.5, "ü 😀 \u{0} \u{2028} \"\\/", [1, [2]],
      ["": 1, "a.b": [:]],
    ]
    var body: JSONObject = ["number": .int(Int64(number(1_000_000)))]
    for name in ["a", "b", "type"] where number(2) == 0 { body[name] = values[number(values.count)] }
    return body
  }

  /// The content names the attachment, as the digest of a revision covers neither names nor types.
  private mutating func attachment(_ number: Int) -> DocumentAttachment {
    let type = ["text/plain", "image/png", "application/json"][self.number(3)]
    let rest = [
      "short", String(repeating: "\r\n--x", count: 10), String(repeating: "line ü\n", count: 5_000),
    ]
    if self.number(5) == 0 {
      return DocumentAttachment(data: Data(), name: "empty", contentType: "text/plain")
    }
    return DocumentAttachment(
      data: Data("\(number) \(type) \(rest[self.number(3)])".utf8), name: "file\(number)", contentType: type)
  }
}
