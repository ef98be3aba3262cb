import CDTDatastore
import CDTJSON
import CDTSQLite
import CDTTestSupport
import FoundationEssentials
import Testing

@testable import CDTIndex
@testable import CDTQuery

@Suite struct IndexTests {
  private func fill(_ store: Datastore, _ count: Int = 20) throws {
    try store.write { transaction in
      for number in 0..<count {
        try transaction.createDocument(
          from: DocumentDraft(
            id: "doc-\(100 + number)", body: ["age": .int(Int64(number % 5)), "name": "n\(number)"]))
      }
    }
  }

  private func file(_ store: Datastore) throws -> String {
    try store.extensionDirectory(named: "com.cloudant.sync.query") + "/indexes.sqlite"
  }

  @Test func `the same definition again is a no-op, another under its name is refused`() throws {
    try withTemporaryDatastore { store throws in
      let fields: [SortField] = ["age", .descending("name")]
      #expect(try store.ensureIndexed(fields, name: "by_age") == "by_age")
      #expect(try store.ensureIndexed(fields, name: "by_age") == "by_age")
      #expect(try store.ensureIndexed(fields) == "by_age")
      #expect(try store.ensureIndexed(fields, name: "second") == "second")
      let error = #expect(throws: QueryError.self) { try store.ensureIndexed(["age"], name: "by_age") }
      #expect(error?.code == .indexConflict)
      #expect(
        error?.description
          == #"name: the index "by_age" already exists with different fields, ["age",{"name":"desc"}]; delete it or choose another name"#
      )
      #expect(try store.listIndexes().map(\.name) == ["by_age", "second"])
    }
  }

  @Test func `queries go on with an index file that is removed, until catching up makes it again`() throws {
    try withTemporaryDatastore { store in
      try fill(store)
      try store.ensureIndexed(["age"], name: "by_age")
      #expect(try store.find(["age": 3]).map(\.id).count == 4)
      for suffix in ["", "-wal", "-shm"] {
        try? FileManager.default.removeItem(atPath: try file(store) + suffix)
      }
      try store.createDocument(from: DocumentDraft(id: "later", body: ["age": 3]))
      #expect(try store.find(["age": 3]).map(\.id).count == 5)
      try store.updateIndexes()
      #expect(try FileManager.default.fileExists(atPath: file(store)))
      #expect(try store.find(["age": 3]).map(\.id).count == 5)
      #expect(try store.read { try $0.explain(Query(["age": 3])) }.json["waiting"] == 0)
    }
  }

  @Test func `pages in an order hold every match once, though the index catches up between them`() throws {
    try withTemporaryDatastore { store in
      try fill(store)
      try store.ensureIndexed(["age"])
      for number in 0..<20 {
        try store.createDocument(
          from: DocumentDraft(id: "new-\(number)", body: ["age": .int(Int64(number % 5))]))
      }
      var found: [String] = []
      for page in 0..<8 {
        let query = try Query(["age": ["$gte": 0]], skip: page * 5, limit: 5, sort: ["age"], useIndex: "age")
        found += try store.read { try $0.find(query) }.map(\.id)
        if page == 2 { try store.updateIndexes() }
      }
      #expect(Set(found).count == 40 && found.count == 40)
    }
  }

  static let refused: [(fields: [JSONValue], error: String)] = [
    ([], "fields: an index needs at least one field; name the fields that queries use"),
    (["a", "a"], #"fields[1]: the field "a" is named twice; name it once"#),
    (
      ["a..b"],
      #"fields[0]: the path "a..b" has an empty segment; name every segment; write "\." for a dot in a name"#
    ),
    (["a.$b"], #"fields[0]: a name that begins with a dollar sign must be escaped; write "a.\$b""#),
    ([["a": "down"]], #"fields[0]: the direction of "a" must be "asc" or "desc", not "down""#),
  ]

  @Test(arguments: refused)
  func `a malformed definition is refused`(_ c: (fields: [JSONValue], error: String)) throws {
    try withTemporaryDatastore { store throws in
      let error = #expect(throws: QueryError.self) {
        try store.ensureIndexed(SortField.fields(c.fields, at: "fields"))
      }
      #expect(error?.description == c.error)
      #expect(try store.listIndexes().isEmpty)
    }
  }

  @Test func `any name is legal and harmless`() throws {
    try withTemporaryDatastore { store in
      try fill(store)
      for name in ["x'; DROP TABLE indexes; --", "\"", "名前", "a\u{0}b", " "] {
        #expect(try store.ensureIndexed(["age"], name: name) == name)
      }
      #expect(try store.listIndexes().count == 5)
      #expect(try store.count(["age": 3]) == 4)
      try store.deleteIndex(named: "\"")
      #expect(try store.listIndexes().count == 4)
    }
  }

  @Test func `indexes go with the datastore`() throws {
    try withTemporaryDirectory { directory in
      let manager = try DatastoreManager(directory: directory)
      let store = try manager.datastore(named: "store")
      try fill(store)
      try store.ensureIndexed(["age"])
      let file = try file(store)
      #expect(FileManager.default.fileExists(atPath: file))
      try manager.deleteDatastore(named: "store")
      #expect(!FileManager.default.fileExists(atPath: file))
      #expect(try manager.datastore(named: "store").listIndexes().isEmpty)
    }
  }

  enum Damage: CaseIterable {
    case removed, truncated, overwritten, foreign, emptied
  }

  @Test(arguments: Damage.allCases, [true, false])
  func `a damaged index file is made again`(_ damage: Damage, whileOpen: Bool) throws {
    try withTemporaryDirectory { directory in
      let manager = try DatastoreManager(directory: directory)
      var store = try manager.datastore(named: "store")
      try fill(store)
      try store.ensureIndexed(["age"], name: "by_age")
      #expect(try store.count(["age": 3]) == 4)
      let file = try file(store)
      if !whileOpen { try manager.closeDatastore(named: "store") }
      try Self.inflict(damage, on: file)
      if !whileOpen {
        store = try manager.datastore(named: "store")
        // Opening the store has the file made again; a query that meets the damage before that says so.
        try store.updateIndexes()
      }
      #expect(try store.count(["age": 3]) == 4)
      let adults = try store.find(["age": ["$gte": 3]], sort: ["age"])
      #expect(adults.count == 8)
      try store.createDocument(from: DocumentDraft(body: ["age": 3]))
      try store.updateIndexes()
      #expect(try store.count(["age": 3]) == 5)
      #expect(try store.listIndexes().map(\.name) == ["by_age"])
      #expect(try store.read { try $0.explain(Query(["age": 3])) }.json["indexes"]?[0]?["used"] == true)
    }
  }

  private static func inflict(_ damage: Damage, on file: String) throws {
    for suffix in ["-wal", "-shm"] where damage != .truncated {
      try? FileManager.default.removeItem(atPath: file + suffix)
    }
    switch damage {
    case .removed: try FileManager.default.removeItem(atPath: file)
    case .truncated:
      let data = try #require(FileManager.default.contents(atPath: file))
      try data.prefix(data.count / 2).write(to: URL(filePath: file))
    case .overwritten: try Data(repeating: 0x5A, count: 20_000).write(to: URL(filePath: file))
    case .foreign: try Data("SQLite format 3\u{0}".utf8).write(to: URL(filePath: file))
    case .emptied: try Data().write(to: URL(filePath: file))
    }
  }

  @Test func `documents with too many combinations are kept apart and found`() throws {
    try withTemporaryDatastore { store in
      try store.ensureIndexed(["a", "b"])
      let many = JSONValue.array((0..<100).map { .int($0) })
      var document = try store.createDocument(
        from: DocumentDraft(id: "wide", body: ["a": many, "b": many]))
      try store.createDocument(from: DocumentDraft(id: "narrow", body: ["a": 5, "b": 6]))
      try store.updateIndexes()
      #expect(Set(try store.find(["a": 5, "b": 6]).map(\.id)) == ["wide", "narrow"])
      #expect(try store.count(["a": 5]) == 2)
      document.body = ["a": 5, "b": 7]
      try store.updateDocument(from: document)
      try store.updateIndexes()
      #expect(try store.find(["a": 5, "b": 6]).map(\.id) == ["narrow"])
      let descending: [SortField] = [.descending("b")]
      #expect(try store.find(["a": 5], sort: descending).map(\.id) == ["wide", "narrow"])
    }
  }

  struct ArrayChange: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let old, new: JSONValue
    /// The rows that the change adds to the index, and those that it removes.
    let added, removed: Int
  }

  static let arrayChanges = [
    ArrayChange(
      testDescription: "another element", old: ["a", "b", "c"], new: ["x", "b", "c"], added: 1, removed: 1),
    ArrayChange(
      testDescription: "another order", old: ["a", "b", "c"], new: ["c", "a", "b"], added: 0, removed: 0),
    ArrayChange(
      testDescription: "an element less often", old: ["a", "a", "b"], new: ["b", "a"], added: 0, removed: 0),
    ArrayChange(
      testDescription: "an element more often", old: ["a", "b"], new: ["b", "c", "b", "a"], added: 1,
      removed: 0),
    ArrayChange(
      testDescription: "no longer a repeated element", old: ["b", "a", "b"], new: ["a"], added: 0, removed: 1),
    ArrayChange(
      testDescription: "another spelling of a number", old: [1, 2], new: [.double(1), 3], added: 1, removed: 1
    ),
    ArrayChange(testDescription: "no array", old: ["a", "b"], new: "b", added: 0, removed: 1),
    ArrayChange(testDescription: "other elements", old: ["a", "z"], new: ["k", "l"], added: 2, removed: 2),
  ]

  @Test(arguments: arrayChanges) func `a write leaves the rows that stay the same`(_ change: ArrayChange)
    throws
  {
    try withTemporaryDatastore { store in
      try store.ensureIndexed(["a"])
      var document = try store.createDocument(from: DocumentDraft(id: "x", body: ["a": change.old]))
      let connection = try Connection(path: file(store), mode: .readWrite)
      try connection.execute(
        """
        CREATE TABLE written (change);
        CREATE TRIGGER added AFTER INSERT ON entries_1 BEGIN INSERT INTO written VALUES ('added'); END;
        CREATE TRIGGER removed AFTER DELETE ON entries_1 BEGIN INSERT INTO written VALUES ('removed'); END;
        """)
      document.body["a"] = change.new
      try store.updateDocument(from: document)
      func written(_ what: String) throws -> Int64 {
        try connection.scalar("SELECT count(*) FROM written WHERE change = '\(what)'")
      }
      #expect(try written("added") == Int64(change.added))
      #expect(try written("removed") == Int64(change.removed))
      #expect(try store.checkIndexes() == [])
    }
  }

  @Test func `an index that knows more than the documents do is made again`() throws {
    try withTemporaryDirectory { directory in
      let manager = try DatastoreManager(directory: directory)
      let store = try manager.datastore(named: "store")
      try fill(store, 5)
      try manager.closeDatastore(named: "store")
      let database = "\(directory)/store/db.sync"
      let backup = try #require(FileManager.default.contents(atPath: database))
      let later = try manager.datastore(named: "store")
      try later.ensureIndexed(["age"])
      try fill(later, 0)
      for number in 0..<10 {
        try later.createDocument(from: DocumentDraft(id: "late-\(number)", body: ["age": 1]))
      }
      try later.updateIndexes()
      try manager.closeDatastore(named: "store")
      for suffix in ["-wal", "-shm"] { try? FileManager.default.removeItem(atPath: database + suffix) }
      try backup.write(to: URL(filePath: database))
      let restored = try manager.datastore(named: "store")
      #expect(try restored.find(["age": 1]).map(\.id) == ["doc-101"])
      #expect(try restored.count(["age": 1]) == 1)
    }
  }

  @Test func `the count of the rows of indexes ends when it is stopped, and damages nothing`() throws {
    try withTemporaryDatastore { store in
      try store.ensureIndexed(["age"])
      let signal = StopSignal()
      signal.cancel()
      #expect(throws: CancellationError.self) { try store.queryExtension().design.listIndexes(stop: signal) }
      #expect(try store.listIndexes().map(\.name) == ["age"])
    }
  }
}
