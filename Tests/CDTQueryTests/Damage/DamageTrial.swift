import CDTJSON
import CDTSQLite
import CDTTestSupport
import Foundation
import Testing

@testable import CDTDatastore
@testable import CDTIndex
@testable import CDTQuery
@testable import CDTRecovery
@testable import CDTSelector

/// A store whose files are damaged again and again, and everything that can be read from it.
struct DamageTrial {
  /// Everything that a user reads: each is an answer, or an error.
  struct Reading: Equatable {
    var answers: [String: String] = [:]
    var errors: [String: String] = [:]
  }

  enum Failure: Error {
    /// An error that is not one of the library's.
    case untyped(String)
  }

  /// The directory with the whole store.
  let original: String
  /// The same store before its last changes.
  private let earlier: String
  /// What its reading gives.
  let whole: Reading
  /// The bodies of all its revisions.
  private let bodies: [String: String]
  /// Its files, relative to the directory.
  private let files: [String]

  static let queries = try? [
    Query(["age": ["$gte": 20, "$lt": 60]], sort: ["age"], useIndex: "by_age"),
    Query(["tags": "b"], sort: ["_id"]), Query(["age": 7], sort: ["_id"]),
    Query(["$text": ["$search": "word7"]], sort: ["_id"]),
  ]

  /// The keys of an encrypted store.
  static let key = Encryption.key((0..<32).map { UInt8($0) })
  enum Form: CaseIterable {
    case plain, encrypted
    /// Written with caches of ten pages, so that transactions are larger.
    case encryptedWithSmallCaches
  }

  private var isEncrypted: Bool { options.encryption != nil }
  let options: DatastoreOptions

  /// - Parameter hasLog: Whether the last writes are still in the logs, as after a kill.
  init(in directory: String, hasLog: Bool, _ form: Form) throws {
    var options = DatastoreOptions(encryption: form == .plain ? nil : Self.key)
    if form == .encryptedWithSmallCaches { options.memoryBudget = 0 }
    self.options = options
    original = "\(directory)/original"
    earlier = "\(directory)/earlier"
    let manager = try DatastoreManager(directory: "\(directory)/making", options: options)
    let store = try manager.datastore(named: "store")
    try Self.fill(store)
    try manager.closeDatastore(named: "store")
    try FileManager.default.copyItem(atPath: "\(directory)/making", toPath: earlier)
    if hasLog {
      let again = try manager.datastore(named: "store")
      try Self.change(again)
      try again.indexManager().worker.waitUntilIdle()
      try FileManager.default.copyItem(atPath: "\(directory)/making", toPath: original)
      manager.close()
    } else {
      try Self.change(manager.datastore(named: "store"))
      manager.close()
      try FileManager.default.copyItem(atPath: "\(directory)/making", toPath: original)
    }
    files = try FileManager.default.subpathsOfDirectory(atPath: original).sorted().filter { name in
      let size = try FileManager.default.attributesOfItem(atPath: "\(directory)/original/\(name)")
      return size[.type] as? FileAttributeType == .typeRegular && (size[.size] as? Int ?? 0) > 0
        && !name.hasSuffix("-shm") && !name.hasSuffix("encryption.json")
    }
    try FileManager.default.copyItem(atPath: original, toPath: "\(directory)/first")
    whole = try Self.read("\(directory)/first", options)
    let reader = try DatastoreManager(directory: "\(directory)/first", options: options)
    defer { reader.close() }
    bodies = try Self.bodies(of: try reader.existingDatastore(named: "store"))
  }

  private static func bodies(of store: Datastore) throws -> [String: String] {
    var bodies: [String: String] = [:]
    for change in try store.changes(since: 0).documents {
      let winner = try store.read { try $0.document(withID: change.id, revisionID: change.revisionID) }
      for leaf in try [winner] + store.read({ try $0.currentRevisions(ofDocument: change.id) }) {
        for revision in try store.read({ try $0.revisionHistory(of: leaf) }) where revision.hasBody {
          bodies["\(change.id) \(revision.revisionID)"] = revision.body.text
        }
      }
    }
    return bodies
  }

  private static func fill(_ store: Datastore) throws {
    try store.ensureIndexed(["age"], name: "by_age")
    try store.ensureIndexed(["tags", "age"], name: "by_tags")
    try store.ensureIndexed(["text"], .text, name: "words")
    try store.ensureIndexed(["place"], .vector(2), name: "vectors")
    try store.ensureIndexed(["place"], .place, name: "places")
    try store.write { transaction in
      for number in 0..<150 {
        var draft = DocumentDraft(
          id: "doc\(number)",
          body: [
            "age": .int(Int64(number % 80)), "tags": number % 3 == 0 ? ["a", "b"] : ["c"],
            "text": .string("word\(number % 20) and more"), "place": [.int(Int64(number % 9)), 1],
            "long": .string(String(repeating: "x\(number)", count: number % 10 == 0 ? 3_000 : 10)),
          ])
        if number % 40 == 0 {
          draft.attachments["file"] = DocumentAttachment(
            data: Data(repeating: UInt8(number), count: 5_000), name: "file", contentType: "text/plain")
        }
        try transaction.createDocument(from: draft)
      }
    }
  }

  private static func change(_ store: Datastore) throws {
    for number in stride(from: 0, to: 150, by: 7) {
      try store.updateDocument(withID: "doc\(number)") { $0.body["age"] = .int(Int64(number)) }
    }
    try store.deleteDocument(withID: "doc1")
    guard let theirs = RevisionID("1-abc") else { return }
    try store.write {
      try $0.forceInsert(DocumentRevision(id: "doc2", revisionID: theirs, body: ["age": 7, "by": "them"]))
    }
    try store.write { try $0.setLocalDocument(["seq": 5], withID: "checkpoint") }
  }

  /// Reads everything in a directory with the store.
  static func read(_ directory: String, _ options: DatastoreOptions) throws -> Reading {
    var reading = Reading()
    func note(_ what: String, _ body: () throws -> String) throws {
      do {
        reading.answers[what] = try body()
      } catch let error as DatastoreError {
        reading.errors[what] = error.message
      } catch let error as QueryError {
        reading.errors[what] = error.message
      } catch {
        throw Failure.untyped("\(what): \(error)")
      }
    }
    let manager = try DatastoreManager(directory: directory, options: options)
    defer { manager.close() }
    var opened: Datastore?
    try note("open") {
      opened = try manager.existingDatastore(named: "store")
      return ""
    }
    guard let store = opened else { return reading }
    for number in 0..<150 {
      let id = "doc\(number)"
      try note(id) {
        try store.read { try $0.currentRevisions(ofDocument: id) }.map { revision in
          let contents = try revision.attachments.map { try $0.data().description }
          return "\(revision.revisionID) \(revision.body.text) \(contents)"
        }.joined(separator: " ")
      }
    }
    try note("checkpoint") {
      "\(try store.read { try $0.localDocument(withID: "checkpoint") }?.text ?? "none")"
    }
    try note("ids") { try store.read { try $0.allDocumentIDs() }.joined(separator: " ") }
    try note("changes") { try store.changes(since: 0).documents.map { "\($0.id) \($0.sequence)" }.joined() }
    for (index, query) in (queries ?? []).enumerated() {
      try note("query \(index)") {
        try store.read { try $0.find(query) }.map { $0.id + $0.body.text }.joined()
      }
      try note("count \(index)") { "\(try store.read { try $0.count(query) })" }
    }
    return reading
  }

  // MARK: Recovery

  /// Saves what is left of a damaged store. It is right, and it is everything if no loss is reported.
  func recover(_ damaged: String, _ what: String) throws {
    let directory = "\(damaged)-saved"
    defer { try? FileManager.default.removeItem(atPath: directory) }
    let manager = try DatastoreManager(directory: directory, options: options)
    let saved = try manager.datastore(named: "store")
    let report = try saved.recoverDocuments(from: "\(damaged)/store")
    #expect(try saved.checkIntegrity() == [], "\(what)")
    for (revision, body) in try Self.bodies(of: saved) where bodies[revision] != body {
      // What can't be verified is saved under another id.
      let isReported = report.losses.contains {
        $0.message.hasSuffix("was saved as \(revision.split(separator: " ").last ?? "")")
      }
      #expect(isReported && bodies[revision] == nil, "\(what): \(revision)")
    }
    manager.close()
    guard report.losses.isEmpty else { return }
    let reading = try Self.read(directory, options)
    let documents = whole.answers.keys.filter { $0.hasPrefix("doc") || $0 == "checkpoint" || $0 == "ids" }
    for name in documents {
      #expect(reading.answers[name] == whole.answers[name], "\(what): \(name)")
    }
  }

  // MARK: Damage

  /// Copies the store to a directory and damages one of its files.
  ///
  /// - Returns: What was done.
  func damage(_ directory: String, _ random: inout SeededGenerator) throws -> String {
    try? FileManager.default.removeItem(atPath: directory)
    try FileManager.default.copyItem(atPath: original, toPath: directory)
    let large = files.filter { !$0.contains("attachments") }
    let name =
      (Int.random(in: 0..<10, using: &random) == 0 ? files : large).randomElement(using: &random) ?? ""
    let path = "\(directory)/\(name)"
    var data = try Data(contentsOf: URL(filePath: path))
    let place = Int.random(in: 0..<data.count, using: &random)
    let page = place / 4_096 * 4_096
    let pageEnd = min(page + 4_096, data.count)
    let kind: String
    switch Int.random(in: 0..<(isEncrypted ? 14 : 12), using: &random) {
    case 0...3:
      kind = "a bit of byte \(place)"
      data[place] ^= 1 << UInt8.random(in: 0..<8, using: &random)
    case 4, 5:
      let end = min(place + Int.random(in: 1...64, using: &random), data.count)
      kind = "bytes \(place)..<\(end)"
      for offset in place..<end { data[offset] = UInt8.random(in: 0...255, using: &random) }
    case 6:
      kind = "zeros in \(page)..<\(pageEnd)"
      data.replaceSubrange(page..<pageEnd, with: Data(repeating: 0, count: pageEnd - page))
    case 7:
      let other = Int.random(in: 0...(data.count - 1) / 4_096, using: &random) * 4_096
      kind = "page \(page) exchanged with \(other)"
      let otherEnd = min(other + 4_096, data.count)
      guard pageEnd - page == 4_096, otherEnd - other == 4_096, page != other else { break }
      let (one, two) = (Data(data[page..<pageEnd]), Data(data[other..<otherEnd]))
      data.replaceSubrange(page..<pageEnd, with: two)
      data.replaceSubrange(other..<otherEnd, with: one)
    case 8, 9:
      // As of pages that another program has copied from the log.
      let start = max(page, pageEnd - Int.random(in: 8...600, using: &random))
      kind = "zeros in \(start)..<\(pageEnd)"
      data.replaceSubrange(start..<pageEnd, with: Data(repeating: 0, count: pageEnd - start))
    case 12, 13:
      // Its checksum is right, so that only encryption notices it.
      kind = "an earlier page \(page)"
      guard let old = try? Data(contentsOf: URL(filePath: "\(earlier)/\(name)")), old.count >= pageEnd,
        !name.hasSuffix(LogFile.sealsSuffix)
      else { break }
      data.replaceSubrange(page..<pageEnd, with: old[page..<pageEnd])
    default:
      kind = "cut at \(place)"
      data.removeLast(data.count - place)
    }
    try data.write(to: URL(filePath: path))
    return "\(name): \(kind)"
  }
}
