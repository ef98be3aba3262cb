import CDTDatastore
import CDTJSON
import CDTQuery
import FoundationEssentials

/// A store with a few documents of every kind.
struct Sample {
  let directory: String
  let manager: DatastoreManager
  let store: Datastore
  /// The winners, without those that are deleted.
  let documents: [DocumentRevision]
  let textIndex: IndexDefinition?

  private static let bodies: [(String, String)] = [
    ("ann", #"{"age": 36, "name": "Ann", "pets": [{"kind": "cat", "age": 3}], "tags": ["red", "blue"]}"#),
    ("bob", #"{"age": 36.5, "name": "Bob", "pets": [{"kind": "dog"}, {"kind": "cat"}], "tags": []}"#),
    ("cat", #"{"age": null, "name": "the cat in the hat", "tags": ["red", null, 1, true, {"a": 1}]}"#),
    (
      "dan",
      #"{"age": "36", "name": ["Dan", "a cat and a dog"], "pets": {"kind": "fish"}, "big": 123456789012345678901}"#
    ),
    ("eve", #"{"name": "", "tags": "red", "age": -1e300, "deep": {"a": {"b": [[1, 2], [3]]}}}"#),
    ("fay", #"{"name": "Grüße ﬁ 日本語", "age": true, "tags": [["red"], "green"]}"#),
    ("gus", #"{}"#),
  ]

  /// Without waiting for the disk at each commit.
  static let options = options(encryption: nil)
  static let encryptedOptions = options(encryption: .key([UInt8](repeating: 7, count: 32)))

  private static func options(encryption: Encryption?) -> DatastoreOptions {
    var options = DatastoreOptions(encryption: encryption)
    options.durability = .normal
    return options
  }

  /// A new store below the temporary directory.
  init(
    named name: String = "sample", isIndexed: Bool, _ options: DatastoreOptions = Sample.options,
    _ change: (Datastore) throws -> Void = { _ in }
  ) throws {
    directory = "\(FileManager.default.temporaryDirectory.path)/\(UUID().uuidString)"
    try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
    manager = try DatastoreManager(directory: directory, options: options)
    store = try manager.datastore(named: name)
    for (id, body) in Self.bodies {
      _ = try store.createDocument(from: DocumentDraft(id: id, body: try JSONObject(parsing: body)))
    }
    if isIndexed {
      try store.ensureIndexed(["age", "name"])
      try store.ensureIndexed(["tags"])
      try store.ensureIndexed(["pets.kind"])
      try store.ensureIndexed(["name", "tags"], .text, name: "words")
    }
    try change(store)
    documents = try store.read { try $0.allDocuments() }
    textIndex = try isIndexed ? store.listIndexes().first { $0.type == .text }?.definition : nil
  }

  static func indexed() -> Sample {
    do {
      return try Sample(isIndexed: true)
    } catch {
      fatalError("the sample: \(error)")
    }
  }

  /// With revisions that lost, a tombstone, attachments and a local document, as files.
  static func varied(_ options: DatastoreOptions = Sample.options) throws -> StoreImage {
    let sample = try Sample(isIndexed: true, options) { store in
      var ann = try store.document(withID: "ann")
      ann.body["age"] = 37
      ann.attachments["note"] = DocumentAttachment(
        data: Data("a note".utf8), name: "note", contentType: "text/plain")
      _ = try store.updateDocument(from: ann)
      for revision in ["1-aaaa", "1-bbbb"] {
        guard let id = RevisionID(revision) else { continue }
        _ = try store.write {
          try $0.forceInsert(DocumentRevision(id: "bob", revisionID: id, body: ["from": "elsewhere"]))
        }
      }
      try store.deleteDocument(from: store.document(withID: "gus"))
    }
    return try StoreImage(of: sample)
  }
}
