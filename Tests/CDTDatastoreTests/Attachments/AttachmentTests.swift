import CDTDatastore
import CDTJSON
import CDTQuery
import CDTTestSupport
import Foundation
import Testing

/// What becomes of a revision's attachments when it is saved, see `docs/attachments.md`.
@Suite struct AttachmentTests {
  private func text(_ text: String, _ name: String) -> DocumentAttachment {
    DocumentAttachment(data: Data(text.utf8), name: name, contentType: "text/plain")
  }

  private func contents(_ revision: DocumentRevision) throws -> [String: String] {
    var contents: [String: String] = [:]
    for attachment in revision.attachments {
      contents[attachment.name] = String(decoding: try attachment.data(), as: UTF8.self)
    }
    return contents
  }

  private func withFile(_ text: String, _ body: (_ path: String) throws -> Void) throws {
    try withTemporaryDirectory { directory in
      try text.write(toFile: "\(directory)/source", atomically: true, encoding: .utf8)
      try body("\(directory)/source")
    }
  }

  @Test func `attachments are added, replaced, removed and kept, with the generation in which they came`()
    throws
  {
    try withTemporaryDatastore { store in
      var revision = try store.createDocument(
        from: DocumentDraft(id: "a", body: [:], attachments: [text("1", "one"), text("2", "two")]))
      #expect(revision.attachments.map(\.generation) == [1, 1])

      revision.body["n"] = 2
      revision = try store.updateDocument(from: revision)
      #expect(try contents(revision) == ["one": "1", "two": "2"])
      #expect(revision.attachments.map(\.generation) == [1, 1])

      revision.attachments["three"] = text("3", "three")
      revision.attachments["two"] = text("zwei", "two")
      revision = try store.updateDocument(from: revision)
      #expect(try contents(revision) == ["one": "1", "two": "zwei", "three": "3"])
      #expect(revision.attachments.names == ["one", "three", "two"])
      #expect(revision.attachments.map(\.generation) == [1, 3, 3])

      revision.attachments["one"] = nil
      revision = try store.updateDocument(from: revision)
      #expect(try contents(revision) == ["two": "zwei", "three": "3"])
      // The same again is no new one, but for its type.
      revision.attachments["two"] = text("zwei", "two")
      revision.attachments["three"] = DocumentAttachment(
        data: Data("3".utf8), name: "three", contentType: "text/html")
      revision = try store.updateDocument(from: revision)
      #expect(revision.attachments.map(\.generation) == [5, 3])
      #expect(revision.attachments["three"]?.contentType == "text/html")

      #expect(try store.document(withID: "a") == revision)
      let body: JSONObject = ["n": 3]
      revision = try store.write {
        try $0.updateDocument(withID: "a", revisionID: revision.revisionID, body: body)
      }
      #expect(revision.attachments.count == 2)
      revision.attachments = []
      revision = try store.updateDocument(from: revision)
      #expect(try store.document(withID: "a").attachments.isEmpty)
      #expect(try store.checkIntegrity() == [])
    }
  }

  @Test func `a deleted document's tombstone has none, and one that is continued begins without`() throws {
    try withTemporaryDatastore { store in
      let saved = try store.createDocument(
        from: DocumentDraft(id: "a", body: [:], attachments: [text("1", "one")]))
      let tombstone = try store.deleteDocument(from: saved)
      #expect(tombstone.attachments.isEmpty)
      let again = try store.createDocument(
        from: DocumentDraft(id: "a", body: [:], attachments: saved.attachments))
      #expect(again.attachments["one"]?.generation == 3)
      #expect(try contents(again) == ["one": "1"])
    }
  }

  @Test func `content is stored once, wherever it comes from`() throws {
    try withFile("same") { path in
      try withTemporaryDatastore { store in
        let first = try store.createDocument(
          from: DocumentDraft(body: [:], attachments: [text("same", "a"), text("same", "b")]))
        try store.createDocument(
          from: DocumentDraft(
            body: [:], attachments: [DocumentAttachment(file: path, name: "c", contentType: "")]))
        try store.createDocument(from: DocumentDraft(body: [:], attachments: first.attachments))
        #expect(store.attachmentFileNames.count == 1)
        #expect(first.attachments["a"]?.digest == store.attachmentFileNames.first)
        #expect(first.attachments["a"]?.length == 4)
      }
    }
  }

  @Test func `a saved attachment is copied to other documents and datastores`() throws {
    try withTemporaryDirectory { directory in
      let manager = try DatastoreManager(directory: directory)
      let (store, other) = (try manager.datastore(named: "store"), try manager.datastore(named: "other"))
      let source = try store.createDocument(
        from: DocumentDraft(id: "a", body: [:], attachments: [text("1", "one"), text("2", "two")]))
      var target = try store.createDocument(from: DocumentDraft(id: "b", body: [:]))
      target.attachments["one"] = source.attachments["one"]
      target = try store.updateDocument(from: target)
      #expect(target.attachments["one"]?.generation == 2)
      let copy = try other.createDocument(
        from: DocumentDraft(id: "a", body: [:], attachments: source.attachments))
      try other.write { transaction in
        _ = try transaction.createDocument(
          from: DocumentDraft(id: "c", body: [:], attachments: source.attachments))
      }
      #expect(other.attachmentFileNames == store.attachmentFileNames)
      try manager.deleteDatastore(named: "store")
      #expect(try contents(copy) == ["one": "1", "two": "2"])
      #expect(try other.checkIntegrity() == [])
      #expect(datastoreError { try source.attachments["one"]?.data() }?.code == .closed)
    }
  }

  @Test func `a revision read before its datastore was closed can be saved after it is open again`() throws {
    try withTemporaryDirectory { directory in
      let manager = try DatastoreManager(directory: directory)
      var revision = try manager.datastore(named: "store").createDocument(
        from: DocumentDraft(id: "a", body: [:], attachments: [text("1", "one")]))
      try manager.closeDatastore(named: "store")
      revision.body["n"] = 1
      let saved = try manager.datastore(named: "store").updateDocument(from: revision)
      #expect(try contents(saved) == ["one": "1"])
      #expect(saved.attachments["one"]?.generation == 1)
    }
  }

  @Test func `found documents carry their attachments, and can be saved`() throws {
    try withTemporaryDatastore { store in
      try store.createDocument(
        from: DocumentDraft(id: "a", body: ["n": 1], attachments: [text("1", "one")]))
      try store.ensureIndexed(["n"], name: "by_n")
      var found = try #require(try store.find(["n": 1]).first)
      #expect(found == (try store.document(withID: "a")))
      #expect(try contents(found) == ["one": "1"])
      found.body["n"] = 2
      #expect(try contents(try store.updateDocument(from: found)) == ["one": "1"])
    }
  }

  @Test func `the digest has the attachments in the order of their names' UTF-16`() throws {
    try withTemporaryDatastore { store in
      let plain = try store.createDocument(
        from: DocumentDraft(body: ["n": 1], attachments: [text("1", "b"), text("2", "a")]))
      #expect(plain.revisionID.description == "1-431f3cb848bf057753b3a375bfa10d26")
      let odd = try store.createDocument(
        from: DocumentDraft(
          body: ["n": 1], attachments: [text("tilde", "\u{FF5E}"), text("emoji", "\u{1F600}")]))
      #expect(odd.revisionID.description == "1-e4a2c91e6965a757a1fad1eb14316404")
    }
  }

  @Test func `attachments go with their leaf, whichever wins`() throws {
    try withTemporaryDatastore { store in
      for revision in ["1-a", "1-b"] { try store.insert(revision, attachments: [text(revision, "x")]) }
      #expect(try contents(try store.document(withID: "a")) == ["x": "1-b"])
      try store.deleteDocument(from: try store.document(withID: "a"))
      #expect(try contents(try store.document(withID: "a")) == ["x": "1-a"])
      let kept = try #require(RevisionID("1-b"))
      #expect(try contents(try store.read { try $0.document(withID: "a", revisionID: kept) }) == ["x": "1-b"])
      #expect(try store.checkIntegrity() == [])
    }
  }

  // MARK: Names

  static let oddNames = [
    "a/b", "../../escape", "/etc/passwd", ".", "..", "a\0b", "\0", "new\nline", " ", "_x", "\"quoted\"",
    "a\\b",
    String(repeating: "x", count: 1_000), "e\u{301}", "\u{e9}", "日本語", "\u{202E}gpj", "CON", "incoming-1",
  ]

  @Test func `a name is any text, and never becomes a path`() throws {
    try withTemporaryDirectory { directory in
      let manager = try DatastoreManager(directory: "\(directory)/stores")
      let store = try manager.datastore(named: "store")
      let attachments = Self.oddNames.enumerated().map { text("\($0.offset)", $0.element) }
      try store.createDocument(
        from: DocumentDraft(id: "a", body: [:], attachments: Attachments(attachments)))
      let found = try store.document(withID: "a").attachments
      #expect(found.count == Self.oddNames.count)
      for (number, name) in Self.oddNames.enumerated() {
        #expect(try found[name]?.data() == Data("\(number)".utf8))
      }
      #expect(store.attachmentFileNames.allSatisfy { $0.count == 40 && $0.allSatisfy(\.isHexDigit) })
      #expect(store.attachmentFileNames.count == Self.oddNames.count)
      #expect(try FileManager.default.contentsOfDirectory(atPath: directory) == ["stores"])
      #expect(try FileManager.default.contentsOfDirectory(atPath: "\(directory)/stores") == ["store"])
      #expect(try store.checkIntegrity() == [])
    }
  }

  // MARK: Refusals

  @Test func `only a regular file, or a link to one, is attached`() throws {
    try withTemporaryDirectory { directory in
      let manager = try DatastoreManager(directory: directory)
      let store = try manager.datastore(named: "store")
      let (fifo, link) = ("\(directory)/fifo", "\(directory)/link")
      try #require(mkfifo(fifo, 0o600) == 0)
      try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: fifo)
      for path in [fifo, link, "/dev/null", "/dev/zero"] {
        let revision = DocumentDraft(
          body: [:], attachments: [DocumentAttachment(file: path, name: "x", contentType: "")])
        for save in [
          { _ = try store.createDocument(from: revision) },
          { _ = try store.write { try $0.createDocument(from: revision) } },
        ] {
          let error = datastoreError(save)
          #expect(error?.code == .invalidAttachment)
          #expect(
            error?.message
              == "the file \"\(path)\" of attachment \"x\" is not a regular file; copy it to one, or attach its content as data"
          )
        }
      }
      #expect(try store.read { try $0.documentCount() } == 0)
      #expect(store.attachmentFileNames == [])
      try "text".write(toFile: "\(directory)/file", atomically: true, encoding: .utf8)
      try FileManager.default.removeItem(atPath: link)
      try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: "file")
      let saved = try store.createDocument(
        from: DocumentDraft(
          body: [:], attachments: [DocumentAttachment(file: link, name: "x", contentType: "")]))
      #expect(try saved.attachments["x"]?.data() == Data("text".utf8))
    }
  }

  @Test func `a FIFO in place of saved content is damage, and nobody waits for it`() throws {
    try withTemporaryDatastore { store in
      let saved = try store.createDocument(
        from: DocumentDraft(id: "a", body: [:], attachments: [text("one", "x")]))
      let file = "\(store.directory)/attachments/\(try #require(saved.attachments["x"]?.digest))"
      try FileManager.default.removeItem(atPath: file)
      try #require(mkfifo(file, 0o600) == 0)
      #expect(datastoreError { try saved.attachments["x"]?.data() }?.code == .corrupt)
      #expect(try store.checkIntegrity().map(\.kind) == [.attachment])
    }
  }

  @Test func `a document that can't be saved is refused by name, and leaves nothing`() throws {
    try withTemporaryDirectory { directory in
      let manager = try DatastoreManager(directory: directory)
      let store = try manager.datastore(named: "store")
      let saved = try store.createDocument(from: DocumentDraft(id: "a", body: [:]))
      let before = try StoreState(store)
      let missing =
        "the file \"\(directory)/none\" of attachment \"x\" can't be read: No such file or directory; "
        + "check its path and permissions"
      let isDirectory =
        "the file \"\(directory)\" of attachment \"x\" is not a regular file; copy it to one, or attach its content as data"
      let cases: [(Attachments, DatastoreError.Code, String)] = [
        (
          ["x": text("1", "y")], .invalidAttachment,
          #"the attachment named "y" is stored under the key "x"; use its name as the key"#
        ),
        ([text("1", "")], .invalidAttachment, "an attachment has an empty name; name it"),
        (
          [DocumentAttachment(file: "\(directory)/none", name: "x", contentType: "")], .invalidAttachment,
          missing
        ),
        ([DocumentAttachment(file: directory, name: "x", contentType: "")], .invalidAttachment, isDirectory),
        (
          [DocumentAttachment(file: "a\0b", name: "x", contentType: "")], .invalidAttachment,
          #"the path "a\u0000b" of attachment "x" contains a NUL character; remove it"#
        ),
      ]
      for (attachments, code, message) in cases {
        var changed = saved
        changed.attachments = attachments
        // What could be saved beside it is not kept either.
        if attachments.names == ["x"] { changed.attachments["a"] = text("beside", "a") }
        let attempts: [() throws -> Void] = [
          {
            _ = try store.createDocument(from: DocumentDraft(body: [:], attachments: changed.attachments))
          },
          { _ = try store.updateDocument(from: changed) },
          { try store.write { _ = try $0.updateDocument(from: changed) } },
          { _ = try store.updateDocument(withID: "a") { $0.attachments = changed.attachments } },
          { _ = try store.write { try $0.forceInsert(try remote("9-a", attachments: changed.attachments)) } },
        ]
        for attempt in attempts {
          let error = datastoreError(attempt)
          #expect(error?.code == code)
          #expect(error?.message == message)
          #expect(try StoreState(store) == before)
          #expect(store.attachmentFileNames.filter { $0.hasPrefix("incoming") } == [])
        }
      }
      try store.compact()
      #expect(store.attachmentFileNames == [])
    }
  }

  @Test func `a save that is refused leaves no file`() throws {
    try withFile("content") { path in
      try withTemporaryDatastore { store in
        let saved = try store.createDocument(from: DocumentDraft(id: "a", body: [:]))
        let current = try store.updateDocument(from: saved)
        for attachment in [text("1", "x"), DocumentAttachment(file: path, name: "x", contentType: "")] {
          var (stale, bad) = (saved, current)
          stale.attachments = [attachment]
          bad.attachments = [attachment]
          bad.body["_x"] = 1
          #expect(datastoreError { try store.updateDocument(from: stale) }?.code == .conflict)
          #expect(datastoreError { try store.updateDocument(from: bad) }?.code == .reservedKey)
          datastoreError {
            try store.createDocument(from: DocumentDraft(id: "a", body: [:], attachments: [attachment]))
          }
        }
        #expect(store.attachmentFileNames == [])
      }
    }
  }

  struct Undone: Error {}

  @Test func `a transaction that is rolled back leaves at most files that compaction sweeps`() throws {
    try withTemporaryDatastore { store in
      let before = try StoreState(store)
      #expect(throws: Undone.self) {
        try store.write { transaction in
          try transaction.createDocument(
            from: DocumentDraft(id: "a", body: [:], attachments: [text("1", "x")]))
          throw Undone()
        }
      }
      #expect(try StoreState(store) == before)
      #expect(try store.checkIntegrity() == [])
      #expect(try store.compact().attachments == 1)
      #expect(store.attachmentFileNames == [])
    }
  }
}
