import CDTDatastore
import CDTDigest
import CDTImport
import CDTJSON
import CDTSQLite
import CDTTestSupport
import Foundation
import Synchronization
import Testing

/// Files and documents that an import of CDTDatastore's files refuses.
@Suite struct TouchDBRefusalTests {
  struct File: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let code: TouchDBError.Code
    let message: String
    let make: @Sendable (TouchDBFixture) throws -> Void
  }

  static let files = [
    File(testDescription: "missing", code: .unreadable, message: "No such file") {
      try FileManager.default.removeItem(atPath: $0.path)
    },
    File(testDescription: "a directory", code: .unreadable, message: "it is not a regular file") {
      try FileManager.default.removeItem(atPath: $0.path)
      try FileManager.default.createDirectory(atPath: $0.path, withIntermediateDirectories: false)
    },
    File(testDescription: "a pipe", code: .unreadable, message: "it is not a regular file") {
      try FileManager.default.removeItem(atPath: $0.path)
      try #require(mkfifo($0.path, 0o600) == 0)
    },
    File(testDescription: "empty", code: .foreign, message: "not an SQLite database") {
      try Data().write(to: URL(filePath: $0.path))
    },
    File(testDescription: "text", code: .foreign, message: "not an SQLite database") {
      try Data(String(repeating: "not a database\n", count: 500).utf8).write(to: URL(filePath: $0.path))
    },
    File(testDescription: "encrypted", code: .encrypted, message: "looks encrypted") {
      var random = SeededGenerator(seed: 1)
      let bytes = (0..<4096).map { _ in UInt8.random(in: 0...255, using: &random) }
      try Data(bytes).write(to: URL(filePath: $0.path))
    },
    File(testDescription: "another database", code: .foreign, message: "no table docs") {
      try FileManager.default.removeItem(atPath: $0.path)
      try $0.change("CREATE TABLE people (id); PRAGMA user_version = 200")
    },
    File(testDescription: "a view in place of a table", code: .foreign, message: "no table revs") {
      try $0.change("ALTER TABLE revs RENAME TO r; CREATE VIEW revs AS SELECT * FROM r")
    },
    File(testDescription: "other columns", code: .damaged, message: "no such column") {
      try $0.change("ALTER TABLE revs RENAME COLUMN json TO text")
    },
    File(testDescription: "too new", code: .unsupportedVersion, message: "version 201") {
      try $0.change("PRAGMA user_version = 201")
    },
    File(testDescription: "too old", code: .unsupportedVersion, message: "version 6") {
      try $0.change("PRAGMA user_version = 6")
    },
    File(testDescription: "damaged pages", code: .damaged, message: "damaged") {
      var bytes = try Data(contentsOf: URL(filePath: $0.path))
      for page in 1..<bytes.count / 1024 {
        bytes.replaceSubrange(page * 1024..<page * 1024 + 64, with: Data(count: 64))
      }
      try bytes.write(to: URL(filePath: $0.path))
    },
    File(testDescription: "an index that hides a revision", code: .damaged, message: "index revs_current") {
      let condition = " WHERE doc_id <> 2"
      try $0.change("DROP INDEX revs_current; CREATE INDEX revs_current ON revs(doc_id)\(condition)")
      var bytes = try Data(contentsOf: URL(filePath: $0.path))
      let place = try #require(bytes.range(of: Data(condition.utf8)))
      bytes.replaceSubrange(place, with: Data(repeating: UInt8(ascii: " "), count: place.count))
      try bytes.write(to: URL(filePath: $0.path))
    },
    File(testDescription: "cut short", code: .damaged, message: "damaged") {
      let bytes = try Data(contentsOf: URL(filePath: $0.path))
      try bytes.prefix(bytes.count / 2).write(to: URL(filePath: $0.path))
    },
    File(
      testDescription: "revisions of no document", code: .damaged,
      message: "3 revisions belong to no document"
    ) {
      try $0.change("PRAGMA foreign_keys = OFF; DELETE FROM docs WHERE doc_id = 2")
    },
  ]

  @Test(arguments: files) func `a file other than a backup is refused before anything is written`(
    _ file: File
  )
    throws
  {
    try withTouchDB { fixture in
      try file.make(fixture)
      let error = touchDBError { try fixture.store.importTouchDB(fixture.path) }
      #expect(error?.code == file.code)
      #expect(error?.message.contains(file.message) == true, "\(String(describing: error))")
      #expect(try fixture.store.read { try $0.lastSequence() } == 0)
    }
  }

  @Test func `a path with NUL is refused`() throws {
    try withTouchDB { fixture in
      let error = touchDBError { try fixture.store.importTouchDB(fixture.path + "\u{0}x") }
      #expect(error?.code == .unreadable)
    }
  }

  // MARK: Documents

  struct Document: Sendable, CustomTestStringConvertible {
    let testDescription: String
    var id: String? = "edited"
    var code = TouchDBError.Code.invalidDocument
    let message: String
    /// What makes the document so, and what takes it back.
    let sql: String
  }

  static func body(_ text: String) -> String {
    "UPDATE revs SET json = CAST('\(text)' AS BLOB) WHERE sequence = 4"
  }

  static let documents = [
    Document(testDescription: "no JSON", message: "is invalid: ", sql: body(#"{"a":"#)),
    Document(testDescription: "more than JSON", message: "is invalid: ", sql: body("{} {}")),
    Document(testDescription: "no object", message: "is invalid: ", sql: body("[1]")),
    Document(testDescription: "a member twice", message: "is invalid: ", sql: body(#"{"a":1,"a":2}"#)),
    Document(
      testDescription: "no UTF-8", message: "is invalid: ",
      sql: "UPDATE revs SET json = X'7B22FF223A317D' WHERE sequence = 4"),
    Document(
      testDescription: "too deep", message: "is invalid: ",
      sql: body(String(repeating: #"{"a":"#, count: 600) + "1" + String(repeating: "}", count: 600))),
    Document(testDescription: "a reserved key", message: #"the key "_secret""#, sql: body(#"{"_secret":1}"#)),
    Document(
      testDescription: "a leaf without a body", message: "has no body",
      sql: "UPDATE revs SET json = NULL WHERE sequence = 4"),
    Document(
      testDescription: "no revision id", message: #""x" is not a revision id"#,
      sql: "UPDATE revs SET revid = 'x' WHERE sequence = 4"),
    Document(
      testDescription: "no generation", message: "is not a revision id",
      sql: "UPDATE revs SET revid = '0-a' WHERE sequence = 4"),
    Document(
      testDescription: "a gap", message: "list every generation",
      sql: "UPDATE revs SET revid = '5-a' WHERE sequence = 4"),
    Document(
      testDescription: "its own ancestor", message: "list every generation",
      sql: "UPDATE revs SET parent = 4, json = '{}' WHERE sequence IN (2, 3)"),
    Document(
      testDescription: "a circle of stubs", message: "list every generation",
      sql: "UPDATE revs SET json = NULL, parent = 5 - sequence WHERE sequence IN (2, 3)"),
    Document(
      testDescription: "a reserved id", id: "_edited", message: "begins with an underscore",
      sql: "UPDATE docs SET docid = '_edited' WHERE doc_id = 2"),
    Document(
      testDescription: "an empty id", id: "", message: "can't be empty",
      sql: "UPDATE docs SET docid = '' WHERE doc_id = 2"),
    Document(
      testDescription: "an id that is no UTF-8", id: nil, message: "not valid UTF-8 text",
      sql: "UPDATE docs SET docid = CAST(X'FF' AS TEXT) WHERE doc_id = 2"),
    Document(
      testDescription: "an attachment with a path out of the directory", id: "pictures",
      code: .invalidAttachment, message: "has no file",
      sql: "UPDATE attachments_key_filename SET filename = '../tasks.touchdb'"),
    Document(
      testDescription: "an attachment without a name", id: "pictures", message: "empty name",
      sql: "UPDATE attachments SET filename = '' WHERE filename = 'text'"),
    Document(
      testDescription: "a key that is none", id: "pictures", code: .invalidAttachment,
      message: "not a SHA-1 digest",
      sql: "UPDATE attachments SET key = X'00' WHERE filename = 'text'"),
    Document(
      testDescription: "a wrong length", id: "pictures", code: .invalidAttachment,
      message: "5600 bytes instead of 9", sql: "UPDATE attachments SET length = 9 WHERE filename = 'text'"),
    Document(
      testDescription: "an unknown encoding", id: "pictures", code: .invalidAttachment, message: "encoding 2",
      sql: "UPDATE attachments SET encoding = 2 WHERE filename = 'text'"),
    Document(
      testDescription: "packed by nobody", id: "pictures", code: .invalidAttachment,
      message: "is not a gzip file",
      sql: "UPDATE attachments SET encoding = 1 WHERE filename = 'cat.jpg'"),
  ]

  @Test(arguments: documents)
  func `a document that can't be taken ends the import, or is left out and comes when it is put right`(
    _ document: Document
  ) throws {
    try withTouchDB { fixture in
      let whole = try Data(contentsOf: URL(filePath: fixture.path))
      try fixture.change(document.sql)
      let error = touchDBError { try fixture.store.importTouchDB(fixture.path) }
      #expect(error?.code == document.code)
      #expect(error?.documentID == document.id)
      #expect(error?.message.contains(document.message) == true, "\(String(describing: error))")
      #expect(try fixture.store.read { try $0.lastSequence() } == 0)
      #expect(try leftFiles(fixture) == [])

      let problems = Mutex<[TouchDBError]>([])
      var importer = TouchDBImporter(into: fixture.store)
      importer.continuesOnError = true
      importer.onInvalidDocument = { problem in problems.withLock { $0.append(problem) } }
      let report = try importer.run(fixture.path)
      #expect(report.documents == 7)
      #expect(report.failed == 1)
      let told = problems.withLock { $0 }
      #expect(told == [error].compactMap { $0 })
      #expect(try fixture.store.changes().documents.count == 7)
      #expect(try fixture.store.checkIntegrity() == [])

      try whole.write(to: URL(filePath: fixture.path))
      #expect(try fixture.store.importTouchDB(fixture.path).documents == 8)
      #expect(try fixture.store.changes().documents.count == 8)
      #expect(try fixture.store.checkIntegrity() == [])
    }
  }

  /// Files of attachments that were begun and not taken away.
  private func leftFiles(_ fixture: TouchDBFixture) throws -> [String] {
    let directory = "\(fixture.manager.directory)/store/attachments"
    let names = (try? FileManager.default.contentsOfDirectory(atPath: directory)) ?? []
    return names.filter { $0.hasPrefix("incoming") }
  }

  @Test func `a local document that can't be taken ends the import, or is left out`() throws {
    try withTouchDB { fixture in
      try fixture.change("UPDATE localdocs SET json = CAST('{' AS BLOB) WHERE docid = 'settings'")
      #expect(touchDBError { try fixture.store.importTouchDB(fixture.path) }?.documentID == "settings")
      var importer = TouchDBImporter(into: fixture.store)
      importer.continuesOnError = true
      let report = try importer.run(fixture.path)
      #expect(report.localDocuments == 1)
      #expect(report.failed == 1)
      #expect(try fixture.store.read { try $0.localDocumentIDs() } == ["_local/checkpoint"])
    }
  }

  // MARK: Attachments

  @Test func `content that is missing, changed or cut is refused, and comes when it is back`() throws {
    try withTouchDB { fixture in
      for file in try FileManager.default.contentsOfDirectory(atPath: fixture.attachments) {
        let url = URL(filePath: "\(fixture.attachments)/\(file)")
        let whole = try Data(contentsOf: url)
        for damage in [nil, whole.dropLast(), whole + [0], Data(whole.map { $0 ^ 1 }), Data()] {
          if let damage { try damage.write(to: url) } else { try FileManager.default.removeItem(at: url) }
          let error = touchDBError { try fixture.store.importTouchDB(fixture.path) }
          #expect(error?.code == .invalidAttachment)
          #expect(error?.documentID == "pictures")
        }
        try whole.write(to: url)
      }
      #expect(try fixture.store.read { try $0.lastSequence() } == 0)
      #expect(try fixture.store.importTouchDB(fixture.path).attachments == 4)
    }
  }

  @Test(arguments: [String.lowercased, String.uppercased], ["", ".blob"])
  func `content is found under its key in either case`(
    _ spelling: @Sendable (String) -> () -> String, _ suffix: String
  ) throws {
    try withTouchDB { fixture in
      try fixture.addAttachments([("x", Data("any".utf8))], toSequence: 4, named: { spelling($0)() + suffix })
      try fixture.store.importTouchDB(fixture.path)
      #expect(try fixture.store.document(withID: "edited").attachments["x"]?.data() == Data("any".utf8))
    }
  }

  @Test func `a file of version 100 has no names of attachments' files`() throws {
    try withTouchDB { fixture in
      let names = try FileManager.default.contentsOfDirectory(atPath: fixture.attachments)
      let cat = try #require(names.first { $0.hasPrefix("0123") })
      let key = Digest.hash(Data("a cat, in bytes \u{1}\u{2}".utf8), .sha1)
      let name = key.map { String(format: "%02X", $0) }.joined()
      try FileManager.default.moveItem(
        atPath: "\(fixture.attachments)/\(cat)", toPath: "\(fixture.attachments)/\(name).blob")
      try fixture.change("DROP TABLE attachments_key_filename; PRAGMA user_version = 100")
      #expect(try fixture.store.importTouchDB(fixture.path).attachments == 4)
    }
  }

  @Test func `content packed in several parts, or of a length that was not known, is unpacked`() throws {
    try withTouchDB { fixture in
      let packed = try #require(
        try FileManager.default.contentsOfDirectory(atPath: fixture.attachments)
          .map { try Data(contentsOf: URL(filePath: "\(fixture.attachments)/\($0)")) }
          .first { $0.starts(with: [0x1F, 0x8B]) })
      try fixture.addAttachments([("twice", packed + packed), ("unknown", packed)], toSequence: 4)
      try fixture.change(
        """
        UPDATE attachments SET encoding = 1, length = 2 * 5600 WHERE filename = 'twice';
        UPDATE attachments SET encoding = 1, length = 0 WHERE filename = 'unknown'
        """)
      try fixture.store.importTouchDB(fixture.path)
      let attachments = try fixture.store.document(withID: "edited").attachments
      #expect(attachments.map(\.length) == [11200, 5600])
      #expect(try attachments["unknown"]?.data().prefix(6) == Data("a long".utf8))
    }
  }

  @Test func `one content kept packed and as it is comes as both`() throws {
    try withTouchDB { fixture in
      try fixture.change(
        """
        INSERT INTO attachments SELECT 19, 'packed', key, type, encoded_length, 2, 0, NULL FROM attachments
         WHERE filename = 'text'
        """)
      try fixture.store.importTouchDB(fixture.path)
      let attachments = try fixture.store.document(withID: "pictures").attachments
      #expect(try attachments["packed"]?.data().prefix(2) == Data([0x1F, 0x8B]))
      #expect(attachments["text"]?.length == 5600)
    }
  }
}

extension TouchDBFixture {
  /// Adds attachments to a revision as CDTDatastore before 2.x did, its files named by their keys.
  func addAttachments(
    _ contents: [(name: String, data: Data)], toSequence sequence: Int64,
    named: (_ key: String) -> String = { $0.uppercased() + ".blob" }
  ) throws {
    let connection = try Connection(path: path, mode: .readWrite)
    defer { connection.close() }
    for (name, data) in contents {
      let key = Digest.hash(data, .sha1)
      let statement = try connection.statement(
        "INSERT INTO attachments VALUES (?1, ?2, ?3, 'a/b', ?4, 1, 0, NULL)")
      try statement.bind(sequence, at: 1)
      try statement.bind(name, at: 2)
      try statement.bind(blob: key, at: 3)
      try statement.bind(Int64(data.count), at: 4)
      try statement.run()
      let file = named(key.map { String(format: "%02x", $0) }.joined())
      try data.write(to: URL(filePath: "\(attachments)/\(file)"))
    }
  }
}
