import CDTDatastore
import CDTJSON
import CDTPlatform
import CDTRandomDocuments
import CDTTestSupport
import Synchronization
import Testing

@testable import CDTIndex
@testable import CDTQuery
@testable import CDTSelector

/// Indexes in which no two documents may have the same key.
@Suite struct UniqueIndexTests {
  private func put(_ store: Datastore, _ id: String, _ body: JSONObject) throws {
    try store.write { try Self.put($0, id, body) }
  }

  private static func put(_ transaction: WriteTransaction, _ id: String, _ body: JSONObject) throws {
    if var known = try? transaction.document(withID: id), !known.isDeleted {
      known.body = body
      try transaction.updateDocument(from: known)
    } else {
      try transaction.createDocument(from: DocumentDraft(id: id, body: body))
    }
  }

  private func replicate(_ store: Datastore, _ id: String, _ revision: String, _ body: JSONObject) throws {
    let revision = try #require(RevisionID(revision))
    try store.write { try $0.forceInsert(DocumentRevision(id: id, revisionID: revision, body: body)) }
  }

  @Test func `a write that would give two documents the same key is refused`() throws {
    try withTemporaryDatastore { store in
      try store.ensureIndexed(["email"], .unique)
      try put(store, "ann", ["email": "a@x"])
      try put(store, "bob", ["email": "b@x"])
      let violation = #expect(throws: UniqueViolation.self) { try put(store, "cyd", ["email": "a@x"]) }
      #expect(violation == UniqueViolation(index: "unique_email", key: ["a@x"], documentIDs: ["cyd", "ann"]))
      #expect(
        violation?.description
          == #"the documents "cyd", "ann" have the same key ["a@x"] in the unique index "unique_email"; change one of them"#
      )
      #expect(throws: UniqueViolation.self) { try put(store, "bob", ["email": "a@x"]) }
      // Nothing of it is saved, and the index follows.
      #expect(try store.read { try $0.allDocumentIDs() } == ["ann", "bob"])
      #expect(try store.document(withID: "bob").body == ["email": "b@x"])
      #expect(try indexesAreComplete(store))
      // The key is free again.
      try store.deleteDocument(withID: "ann")
      try put(store, "cyd", ["email": "a@x"])
      try put(store, "cyd", ["email": "a@x", "age": 3])
      #expect(throws: UniqueViolation.self) { try put(store, "ann", ["email": "a@x"]) }
      #expect(try store.uniqueViolations() == [])
    }
  }

  @Test func `values are equal as in a query, and null and missing values have no key`() throws {
    try withTemporaryDatastore { store in
      try store.ensureIndexed(["a", .descending("b")], .unique)
      try put(store, "1", ["a": 1, "b": "x"])
      #expect(throws: UniqueViolation.self) { try put(store, "2", ["a": 1.0, "b": "x"]) }
      try put(store, "2", ["a": "1", "b": "x"])
      let keyless: [JSONObject] = [["a": 1], ["a": 1, "b": nil], [:], ["a": 1, "b": []]]
      for (number, body) in (keyless + keyless).enumerated() { try put(store, "n\(number)", body) }
      try put(store, "o", ["a": ["k": 1, "l": 2], "b": true])
      let violation = #expect(throws: UniqueViolation.self) {
        try put(store, "p", ["a": ["l": 2, "k": 1], "b": true])
      }
      #expect(violation?.key == [["l": 2, "k": 1], true])
      #expect(try store.uniqueViolations() == [])
    }
  }

  @Test func `each element of an array is a key`() throws {
    try withTemporaryDatastore { store in
      try store.ensureIndexed(["phones"], .unique)
      try put(store, "a", ["phones": ["1", "2", "2", nil]])
      #expect(throws: UniqueViolation.self) { try put(store, "b", ["phones": ["3", "2"]]) }
      try put(store, "b", ["phones": "3"])
      try put(store, "a", ["phones": ["4", "1"]])
      try put(store, "b", ["phones": ["2", "3"]])
      let many = JSONValue.array((10..<1_200).map { .string("\($0)") })
      let violation = #expect(throws: UniqueViolation.self) { try put(store, "c", ["phones": many]) }
      #expect(
        violation?.description
          == #"the document "c" has more than 1000 keys in the unique index "unique_phones"; shorten its arrays"#
      )
      try replicate(store, "c", "1-a", ["phones": many])
      #expect(try store.uniqueViolations() == [violation])
      try put(store, "c", ["phones": many, "more": true])
    }
  }

  @Test func `the filter decides which documents have a key`() throws {
    try withTemporaryDatastore { store in
      try store.ensureIndexed(["name"], IndexOptions(where: ["deleted": ["$exists": false]], unique: true))
      try put(store, "a", ["name": "x", "deleted": true])
      try put(store, "b", ["name": "x"])
      try put(store, "c", ["name": "x", "deleted": true])
      #expect(throws: UniqueViolation.self) { try put(store, "a", ["name": "x"]) }
      try store.deleteDocument(withID: "b")
      try put(store, "a", ["name": "x"])
    }
  }

  @Test func `within a transaction keys may be exchanged`() throws {
    try withTemporaryDatastore { store in
      try store.ensureIndexed(["place"], .unique)
      try put(store, "a", ["place": 1])
      try put(store, "b", ["place": 2])
      try store.write { transaction in
        try Self.put(transaction, "a", ["place": 2])
        try Self.put(transaction, "b", ["place": 1])
      }
      #expect(try store.document(withID: "a").body == ["place": 2])
      #expect(throws: UniqueViolation.self) {
        try store.write { transaction in
          try Self.put(transaction, "a", ["place": 1])
          try Self.put(transaction, "c", ["place": 2])
        }
      }
      #expect(throws: UniqueViolation.self) {
        try store.write { transaction in
          try Self.put(transaction, "c", ["place": 3])
          try Self.put(transaction, "d", ["place": 3])
        }
      }
      #expect(try store.read { try $0.allDocumentIDs() } == ["a", "b"])
    }
  }

  @Test func `violations that a replication brings are stored and listed`() throws {
    try withTemporaryDatastore { store in
      try store.ensureIndexed(["email"], .unique, name: "emails")
      try put(store, "ann", ["email": "a@x"])
      try replicate(store, "bob", "1-b", ["email": "a@x"])
      try replicate(store, "cyd", "1-c", ["email": "a@x"])
      let all = UniqueViolation(index: "emails", key: ["a@x"], documentIDs: ["ann", "bob", "cyd"])
      #expect(try store.uniqueViolations() == [all])
      #expect(try store.uniqueViolations(ofIndex: "emails") == [all])
      // The documents can still be changed, though the key is not free.
      try put(store, "bob", ["email": "a@x", "age": 4])
      #expect(throws: UniqueViolation.self) { try put(store, "dan", ["email": "a@x"]) }
      try put(store, "bob", ["email": "b@x"])
      #expect(throws: UniqueViolation.self) { try put(store, "bob", ["email": "a@x"]) }
      try store.deleteDocument(withID: "cyd")
      #expect(try store.uniqueViolations() == [])
      let error = #expect(throws: QueryError.self) { try store.uniqueViolations(ofIndex: "none") }
      #expect(error?.code == .unknownIndex)
    }
  }

  @Test func `a replicated revision does not excuse a local change of the same document`() throws {
    try withTemporaryDatastore { store in
      try store.ensureIndexed(["email"], .unique)
      try put(store, "ann", ["email": "a@x"])
      let losing = try #require(RevisionID("1-0"))
      #expect(throws: UniqueViolation.self) {
        try store.write { transaction in
          try Self.put(transaction, "bob", ["email": "x@x"])
          try Self.put(transaction, "bob", ["email": "a@x"])
          try transaction.forceInsert(DocumentRevision(id: "bob", revisionID: losing, body: ["email": "z"]))
        }
      }
    }
  }

  @Test func `resolving a conflict is a local change`() throws {
    try withTemporaryDatastore { store in
      try store.ensureIndexed(["email"], .unique)
      try put(store, "ann", ["email": "a@x"])
      try replicate(store, "bob", "1-a", ["email": "a@x"])
      try replicate(store, "bob", "1-b", ["email": "b@x"])
      #expect(try store.uniqueViolations() == [])
      #expect(throws: UniqueViolation.self) {
        try store.write { try $0.resolveConflicts(for: "bob") { _, leaves in leaves.last } }
      }
      try store.write { try $0.resolveConflicts(for: "bob") { _, leaves in leaves.first } }
    }
  }

  @Test func `documents that had the same key before the index are listed`() throws {
    try withTemporaryDatastore { store in
      for number in 0..<30 { try put(store, "d\(10 + number)", ["n": .int(Int64(number % 29)), "m": 1]) }
      try store.ensureIndexed(["n"], .unique)
      #expect(
        try store.uniqueViolations()
          == [UniqueViolation(index: "unique_n", key: [0], documentIDs: ["d10", "d39"])])
      #expect(throws: UniqueViolation.self) { try put(store, "new", ["n": 3]) }
      let notes = try store.uniqueViolations().map(\.description)
      #expect(
        notes == [
          #"the documents "d10", "d39" have the same key [0] in the unique index "unique_n"; change one of them"#
        ])
    }
  }

  @Test func `an index that is not complete is checked too`() throws {
    try withTemporaryDatastore { store in
      for number in 0..<50 { try put(store, "d\(100 + number)", ["n": .int(Int64(number))]) }
      _ = try store.indexManager()
      try withBuildsHeld(inDirectoryOf: store.directory) {
        let definition = try IndexDefinition(fields: ["n"], name: "n", .unique)
        _ = try store.indexManager().declare(definition, isNamed: true)
        let violation = #expect(throws: UniqueViolation.self) { try put(store, "new", ["n": 7]) }
        #expect(violation?.documentIDs == ["new", "d107"])
        try put(store, "new", ["n": 50])
        #expect(throws: UniqueViolation.self) { try put(store, "d149", ["n": 50]) }
      }
      try store.updateIndexes()
      #expect(throws: UniqueViolation.self) { try put(store, "newer", ["n": 50]) }
      // Written by a program without indexes.
      try writeMissingIndexes(of: store) { try Self.put($0, "missed", ["n": 99]) }
      #expect(throws: UniqueViolation.self) { try put(store, "newer", ["n": 99]) }
    }
  }

  @Test func `losing or holding a file does not get around it`() throws {
    try withTemporaryDirectory { directory in
      // Long enough for a busy machine, as a write waits for the held file.
      var options = DatastoreOptions()
      options.busyTimeout = .seconds(1)
      let manager = try DatastoreManager(directory: directory, options: options)
      defer { manager.close() }
      let store = try manager.datastore(named: "store")
      try store.ensureIndexed(["n"], .unique)
      try put(store, "a", ["n": 1])
      try replicate(store, "b", "1-b", ["n": 1])
      try withIndexesHeld(store) {
        #expect(throws: UniqueViolation.self) { try put(store, "c", ["n": 1]) }
        try put(store, "b", ["n": 1, "m": 2])
        try put(store, "c", ["n": 2])
      }
      try withBuildsHeld(inDirectoryOf: store.directory) {
        let path = try store.indexManager().path
        for suffix in ["", "-wal", "-shm"] { try? Files.remove(path + suffix) }
        #expect(throws: UniqueViolation.self) { try put(store, "d", ["n": 2]) }
      }
      try store.updateIndexes()
      #expect(try store.uniqueViolations().map(\.documentIDs) == [["a", "b"]])
    }
  }

  @Test func `of several writers at the same time one gets a key`() throws {
    try withTemporaryDirectory { directory in
      // As processes have: each a connection of its own.
      let managers = try (0..<2).map { _ in try DatastoreManager(directory: directory) }
      defer { for manager in managers { manager.close() } }
      let stores = try managers.map { try $0.datastore(named: "store") }
      try stores[0].ensureIndexed(["n"], .unique)
      _ = try stores[1].listIndexes()
      let keys = 40
      let refusals = Atomic<Int>(0)
      let failures = Mutex<[String]>([])
      onThreads(4) { thread in
        for key in 0..<keys {
          do {
            let draft = DocumentDraft(id: "\(thread)-\(key)", body: ["n": .int(Int64(key))])
            try stores[thread % 2].createDocument(from: draft)
          } catch is UniqueViolation {
            refusals.add(1, ordering: .relaxed)
          } catch {
            failures.withLock { $0.append("\(error)") }
          }
        }
      }
      #expect(failures.withLock { $0 } == [])
      #expect(refusals.load(ordering: .relaxed) == 3 * keys)
      #expect(try stores[0].read { try $0.documentCount() } == keys)
      #expect(try stores[1].uniqueViolations() == [])
    }
  }

  @Test func `the listing reads what the index lacks`() throws {
    try withTemporaryDatastore { store in
      try store.ensureIndexed(["n"], .unique)
      try put(store, "a", ["n": 1])
      try put(store, "b", ["n": 2])
      try writeMissingIndexes(of: store) { try Self.put($0, "a", ["n": 2]) }
      let file = try IndexConnection(path: store.indexManager().path, of: store)
      defer { file.close() }
      let found = try file.connection.transaction(.deferred) {
        let entry = try #require(try file.catalog().entries.first)
        return try UniqueListing(entry, file.state(), in: file).violations()
      }
      #expect(found.map(\.documentIDs) == [["a", "b"]])
    }
  }

  /// The keys of a document, by plain code.
  private static func keys(_ body: JSONObject?, _ filter: QuerySelector?) throws -> Set<String> {
    guard let body, try filter?.matches(body) ?? true else { return [] }
    let values = body["k"]?.arrayValue ?? [body["k"] ?? nil]
    return Set(values.filter { $0 != .null }.map { JSONValue.array([$0]).text })
  }

  /// The keys that several living documents have, with these.
  private static func sharedKeys(_ bodies: [String: JSONObject], _ filter: QuerySelector?) throws -> Set<
    String
  > {
    var holders: [String: [String]] = [:]
    for (id, body) in bodies {
      for key in try keys(body, filter) { holders[key, default: []].append(id) }
    }
    return Set(holders.filter { $0.value.count > 1 }.map { "\($0.key) \($0.value.sorted())" })
  }

  private static func bodies(_ store: Datastore) throws -> [String: JSONObject] {
    Dictionary(uniqueKeysWithValues: try store.read { try $0.allDocuments() }.map { ($0.id, $0.body) })
  }

  /// Whether new bodies give a document a key that it did not have, and that another has.
  private static func isRefused(
    _ changes: [(id: String, body: JSONObject)], to bodies: [String: JSONObject], _ filter: QuerySelector?
  ) throws -> Bool {
    let after = bodies.merging(changes.map { ($0.id, $0.body) }) { $1 }
    return try changes.contains { change in
      let new = try keys(after[change.id], filter).subtracting(keys(bodies[change.id], filter))
      return try after.contains { try $0.key != change.id && !keys($0.value, filter).isDisjoint(with: new) }
    }
  }

  @Test(arguments: 0..<12) func `writes are refused as by plain code`(round: Int) throws {
    let seed = testSeed(7_000 + UInt64(round))
    var random = RandomDocuments(seed: seed)
    let filter: JSONObject = round % 3 == 0 ? ["open": true] : [:]
    let selector = filter.isEmpty ? nil : try QuerySelector(filter)
    try withTemporaryDatastore { store in
      try store.ensureIndexed(["k"], IndexOptions(where: filter, unique: true))
      for step in 0..<150 {
        let before = try Self.bodies(store)
        let known = try Self.sharedKeys(before, selector)
        func body() -> JSONObject {
          let value = JSONValue.int(Int64(random.number(below: 8)))
          let array: JSONValue = [value, .int(Int64(random.number(below: 8)))]
          return [
            "k": random.chance(10) ? nil : random.chance(20) ? array : value,
            "open": .bool(random.chance(70)),
          ]
        }
        let changes = (0..<(1 + random.number(below: 3))).map { _ in
          (id: "d\(random.number(below: 12))", body: body())
        }
        let isReplicated = random.chance(15)
        let revision = RevisionID("\(1 + random.number(below: 4))-\(random.number(below: 10))")
        let isDeletion = random.chance(20)
        var isRefused = false
        do {
          try store.write { transaction in
            for (id, body) in changes {
              if isReplicated, let revision {
                try transaction.forceInsert(DocumentRevision(id: id, revisionID: revision, body: body))
              } else if isDeletion {
                if let known = try? transaction.document(withID: id), !known.isDeleted {
                  try transaction.deleteDocument(from: known)
                }
              } else {
                try Self.put(transaction, id, body)
              }
            }
          }
        } catch is UniqueViolation {
          isRefused = true
        }
        let now = try Self.sharedKeys(Self.bodies(store), selector)
        let context = "seed \(seed), step \(step)"
        if !isReplicated, !isDeletion {
          #expect(try isRefused == Self.isRefused(changes, to: before, selector), "\(context)")
        }
        if isReplicated || isRefused {
          #expect(!isReplicated || !isRefused, "\(context)")
          #expect(!isRefused || now == known, "\(context)")
        } else {
          // Of a shared key, a local write can only remove documents.
          let keys = Set(known.compactMap { $0.split(separator: " ").first })
          #expect(now.allSatisfy { $0.split(separator: " ").first.map(keys.contains) ?? false }, "\(context)")
        }
        let listed = try store.uniqueViolations().map {
          "\(JSONValue.array($0.key).text) \($0.documentIDs.sorted())"
        }
        #expect(Set(listed) == now, "\(context)")
        if random.chance(3) { try store.rebuildIndexes() }
        if random.chance(3) { try store.indexManager().empty(named: nil) }
      }
    }
  }
}
