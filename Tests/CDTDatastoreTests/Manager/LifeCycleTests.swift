import CDTDatastore
import CDTPlatform
import CDTQuery
import CDTSQLite
import CDTTestSupport
import Foundation
import Synchronization
import Testing

@Suite struct LifeCycleTests {
  struct Name: Sendable, CustomTestStringConvertible {
    let testDescription, name: String

    init(_ testDescription: String, _ name: String) {
      self.testDescription = testDescription
      self.name = name
    }
  }

  static let badNames = [
    Name("empty", ""), Name("parent directory", "../x"), Name("slash", "a/b"), Name("dot", "."),
    Name("dots", ".."), Name("NUL", "a\0b"), Name("only NUL", "\0"), Name("digit first", "1a"),
    Name("underscore first", "_a"), Name("trailing newline", "a\n"), Name("trailing space", "a "),
    Name("hyphen", "a-b"), Name("point", "a.b"), Name("umlaut", "ä"), Name("combining mark", "a\u{301}"),
    Name("full-width letter", "Ａ"), Name("Arabic digit", "a٣"), Name("backslash", "a\\b"),
    Name("300 letters", String(repeating: "a", count: 300)), Name("at sign", "@"), Name("bracket", "a["),
    Name("backquote", "`"), Name("brace", "{"),
  ]

  @Test(arguments: badNames) func `a bad name is refused and touches nothing`(_ name: Name) throws {
    try withTemporaryDirectory { directory in
      let manager = try DatastoreManager(directory: directory)
      for attempt in [
        { _ = try manager.datastore(named: name.name) },
        { _ = try manager.existingDatastore(named: name.name) },
        { try manager.deleteDatastore(named: name.name) },
      ] {
        #expect(datastoreError(attempt)?.code == .invalidName)
      }
      try manager.closeDatastore(named: name.name)
      #expect(try FileManager.default.contentsOfDirectory(atPath: directory).isEmpty)
    }
  }

  @Test func `a bad name's message shows it escaped and ends in the remedy`() throws {
    try withTemporaryDirectory { directory in
      let manager = try DatastoreManager(directory: directory)
      #expect(
        datastoreError { try manager.datastore(named: "a\n") }?.message
          == #""a\n" is not a valid datastore name; start with a letter and use only letters, digits and _, at most 200 characters"#
      )
    }
  }

  @Test(arguments: ["a", "Z", "a_1", "aB9_", String(repeating: "x", count: 200)])
  func `a good name is taken`(_ name: String) throws {
    try withTemporaryDirectory { directory in
      let manager = try DatastoreManager(directory: directory)
      #expect(try manager.datastore(named: name).name == name)
      #expect(try manager.datastoreNames() == [name])
    }
  }

  @Test func `opening a store that is there writes nothing, and waits for no writer`() throws {
    try withTemporaryDirectory { directory in
      let first = try DatastoreManager(directory: directory)
      let store = try first.datastore(named: "store")
      try store.createDocument(from: DocumentDraft(id: "a", body: [:]))
      let log = "\(store.directory)/db.sync-wal"
      let before = try Data(contentsOf: URL(filePath: log))
      var options = DatastoreOptions()
      options.busyTimeout = .zero
      let second = try DatastoreManager(directory: directory, options: options)
      try store.write { _ in
        let opened = try second.datastore(named: "store")
        #expect(try opened.read { try $0.documentCount() } == 1)
      }
      try second.closeDatastore(named: "store")
      let after = try Data(contentsOf: URL(filePath: log))
      #expect(after == before)
    }
  }

  @Test func `a store is opened once to be read, and again for the first write`() throws {
    try withTemporaryDirectory { directory in
      let manager = try DatastoreManager(directory: directory)
      let store = try manager.datastore(named: "store")
      let file = "\(directory)/store/db.sync"
      #expect(try store.read { try $0.documentCount() } == 0)
      let opened = openFiles(below: file)
      #expect(try store.read { try $0.allDocumentIDs() }.isEmpty)
      #expect(openFiles(below: file) == opened)
      try store.createDocument(from: DocumentDraft(body: [:]))
      #expect(openFiles(below: file) > opened)
      #expect(try store.read { try $0.documentCount() } == 1)
    }
  }

  @Test func `a directory is created but its parents are not`() throws {
    try withTemporaryDirectory { directory in
      _ = try DatastoreManager(directory: "\(directory)/new")
      #expect(FileManager.default.fileExists(atPath: "\(directory)/new"))
      #expect(datastoreError { try DatastoreManager(directory: "\(directory)/no/new") }?.code == .io)
      #expect(!FileManager.default.fileExists(atPath: "\(directory)/no"))
      #expect(datastoreError { try DatastoreManager(directory: "") }?.code == .io)
    }
  }

  @Test func `a directory's name with a NUL is refused, not cut`() throws {
    try withTemporaryDirectory { directory in
      #expect(datastoreError { try DatastoreManager(directory: "\(directory)/a\0b") }?.code == .io)
      #expect(!FileManager.default.fileExists(atPath: "\(directory)/a"))
    }
  }

  @Test func `a file in place of a directory is an error and stays`() throws {
    try withTemporaryDirectory { directory in
      let path = "\(directory)/file"
      try "text".write(toFile: path, atomically: true, encoding: .utf8)
      let error = datastoreError { try DatastoreManager(directory: path) }
      #expect(error?.code == .io)
      #expect(
        error?.message
          == "\(path) is not a directory; move the file or choose another directory")
      let manager = try DatastoreManager(directory: directory)
      #expect(datastoreError { try manager.datastore(named: "file") }?.code == .io)
      #expect(try String(contentsOfFile: path, encoding: .utf8) == "text")
      #expect(datastoreError { try manager.deleteDatastore(named: "file") }?.code == .notFound)
    }
  }

  @Test func `a dangling link in place of a directory is an error`() throws {
    try withTemporaryDirectory { directory in
      try FileManager.default.createSymbolicLink(
        atPath: "\(directory)/link", withDestinationPath: "\(directory)/nowhere")
      #expect(datastoreError { try DatastoreManager(directory: "\(directory)/link") }?.code == .io)
    }
  }

  @Test(.enabled(if: geteuid() != 0, "root is not held back by permissions"))
  func `a directory that can't be written is an error`() throws {
    try withTemporaryDirectory { directory in
      let manager = try DatastoreManager(directory: directory)
      try FileManager.default.setAttributes([.posixPermissions: 0o500], ofItemAtPath: directory)
      defer { try? FileManager.default.setAttributes([.posixPermissions: 0o700], ofItemAtPath: directory) }
      #expect(datastoreError { try manager.datastore(named: "a") }?.code == .io)
      #expect(datastoreError { try DatastoreManager(directory: "\(directory)/new") }?.code == .io)
    }
  }

  @Test func `the same name gives the same object to racing threads`() throws {
    try withTemporaryDirectory { directory in
      let manager = try DatastoreManager(directory: directory)
      let seen = Mutex<[ObjectIdentifier]>([])
      onThreads(64) { _ in
        guard let store = try? manager.datastore(named: "store") else { return }
        seen.withLock { $0.append(ObjectIdentifier(store)) }
      }
      #expect(seen.withLock { $0.count } == 64)
      #expect(Set(seen.withLock { $0 }).count == 1)
    }
  }

  @Test func `racing managers make one store of a new directory`() throws {
    try withTemporaryDirectory { directory in
      for round in 0..<10 {
        let failures = Mutex<[String]>([])
        onThreads(6) { number in
          do {
            let manager = try DatastoreManager(directory: directory)
            let store = try manager.datastore(named: "store\(round)")
            try store.createDocument(from: DocumentDraft(id: "\(number)", body: [:]))
          } catch {
            failures.withLock { $0.append("\(error)") }
          }
        }
        #expect(failures.withLock { $0 } == [])
        let manager = try DatastoreManager(directory: directory)
        #expect(try manager.datastore(named: "store\(round)").read { try $0.documentCount() } == 6)
      }
    }
  }

  @Test func `closing releases every file handle`() throws {
    try withTemporaryDirectory { directory in
      let manager = try DatastoreManager(directory: directory)
      for round in 0..<1_000 {
        let store = try manager.datastore(named: "store")
        try store.createDocument(from: DocumentDraft(id: "\(round)", body: [:]))
        #expect(try store.read { try $0.documentCount() } == round + 1)
        #expect(openFiles(below: directory) > 0)
        try manager.closeDatastore(named: "store")
        #expect(openFiles(below: directory) == 0)
      }
    }
  }

  @Test func `a datastore that is held stays open without its manager`() throws {
    try withTemporaryDirectory { directory in
      var store = try? DatastoreManager(directory: directory).datastore(named: "store")
      try store?.createDocument(from: DocumentDraft(id: "a", body: [:]))
      #expect(try store?.read { try $0.documentCount() } == 1)
      store = nil
      #expect(openFiles(below: directory) == 0)
      #expect(try FileManager.default.contentsOfDirectory(atPath: "\(directory)/store") == ["db.sync"])
    }
  }

  @Test func `a manager is gone when nobody holds it, and its datastores when nobody holds either`() throws {
    try withTemporaryDirectory { directory in
      var options = DatastoreOptions()
      options.worksInBackground = false
      var manager: DatastoreManager? = try DatastoreManager(directory: directory, options: options)
      let held = manager.map { WeakReference($0) }
      let store = try manager.map { WeakReference(try $0.datastore(named: "store")) }
      try store?.value?.createDocument(from: DocumentDraft(id: "a", body: ["n": 1]))
      try store?.value?.ensureIndexed(["n"])
      #expect(try store?.value?.find(["n": 1]).map(\.id) == ["a"])
      #expect(openFiles(below: directory) > 0)
      manager = nil
      #expect(held?.value == nil && store?.value == nil)
      #expect(openFiles(below: directory) == 0)
    }
  }

  @Test func `everything throws closed after closing`() throws {
    try withTemporaryDirectory { directory in
      let manager = try DatastoreManager(directory: directory)
      let store = try manager.datastore(named: "store")
      let saved = try store.createDocument(from: DocumentDraft(id: "a", body: [:]))
      let revision = saved.revisionID
      try manager.closeDatastore(named: "store")
      try manager.closeDatastore(named: "store")
      let uses: [() throws -> Any] = [
        { try store.read { try $0.documentCount() } }, { try store.read { try $0.lastSequence() } },
        { try store.sizeOnDisk() },
        { try store.document(withID: "a") },
        { try store.read { try $0.document(withID: "a", revisionID: revision) } },
        { try store.documents(withIDs: ["a"]) }, { try store.read { try $0.allDocuments() } },
        { try store.read { try $0.allDocumentIDs() } },
        { try store.read { try $0.revisionHistory(of: saved) } }, { try store.changes() },
        { try store.write { _ in 1 } },
        { try store.createDocument(from: DocumentDraft(body: [:])) },
        { try store.updateDocument(from: saved) }, { try store.deleteDocument(from: saved) },
        { try store.deleteDocument(withID: "a") }, { try store.extensionDirectory(named: "x") },
      ]
      for use in uses {
        let error = datastoreError(use)
        #expect(error?.code == .closed)
        #expect(error?.message == #"the datastore "store" is closed; open it again with its manager"#)
      }
      #expect(try manager.datastore(named: "store").document(withID: "a").revisionID == revision)
    }
  }

  @Test(arguments: ["closed", "deleted"])
  func `closing or deleting within a write is refused, and the write goes on`(_ action: String) throws {
    try withTemporaryDirectory { directory in
      let manager = try DatastoreManager(directory: directory)
      let store = try manager.datastore(named: "store")
      let end = {
        if action == "closed" {
          try manager.closeDatastore(named: "store")
        } else {
          try manager.deleteDatastore(named: "store")
        }
      }
      try store.write { transaction in
        try transaction.createDocument(
          from: DocumentDraft(
            id: "a", body: [:],
            attachments: [DocumentAttachment(data: Data("one".utf8), name: "x", contentType: "")])
        )
        let error = datastoreError(end)
        #expect(error?.code == .nestedWrite)
        #expect(
          error?.message
            == #""store" can't be \#(action) inside a write to it; do it after the write returns"#)
        // Other datastores are not concerned.
        _ = try manager.datastore(named: "other")
        try manager.closeDatastore(named: "other")
        try manager.deleteDatastore(named: "other")
        let document = try transaction.document(withID: "a")
        #expect(try document.attachments["x"]?.data() == Data("one".utf8))
        try transaction.createDocument(from: DocumentDraft(id: "b", body: [:]))
      }
      #expect(try store.read { try $0.allDocumentIDs() } == ["a", "b"])
      #expect(try manager.datastore(named: "store") === store)
      try end()
      #expect(openFiles(below: directory) == 0)
      #expect(datastoreError { try store.read { try $0.documentCount() } }?.code == .closed)
    }
  }

  @Test func `a datastore that nobody holds any more within a write closes after it`() throws {
    try withTemporaryDirectory { directory in
      var manager: DatastoreManager? = try DatastoreManager(directory: directory)
      var store = try manager?.datastore(named: "store")
      try store?.write { transaction in
        (manager, store) = (nil, nil)
        try transaction.createDocument(from: DocumentDraft(id: "a", body: [:]))
      }
      #expect(manager == nil && store == nil)
      #expect(openFiles(below: directory) == 0)
      let again = try DatastoreManager(directory: directory)
      #expect(try again.datastore(named: "store").read { try $0.allDocumentIDs() } == ["a"])
    }
  }

  @Test func `deleting removes the folder with what extensions keep`() throws {
    try withTemporaryDirectory { directory in
      let manager = try DatastoreManager(directory: directory)
      let store = try manager.datastore(named: "store")
      try store.createDocument(from: DocumentDraft(id: "a", body: [:]))
      let data = try store.extensionDirectory(named: "com.example.words")
      try "x".write(toFile: "\(data)/words", atomically: true, encoding: .utf8)
      try manager.deleteDatastore(named: "store")
      #expect(try FileManager.default.contentsOfDirectory(atPath: directory).isEmpty)
      #expect(openFiles(below: directory) == 0)
      #expect(datastoreError { try store.read { try $0.documentCount() } }?.code == .closed)
      #expect(try manager.datastoreNames().isEmpty)
      #expect(try manager.datastore(named: "store").read { try $0.documentCount() } == 0)
    }
  }

  @Test(arguments: [DatastoreOptions.Durability.full, .normal])
  func `deleting leaves nothing in the manager's directory`(_ durability: DatastoreOptions.Durability) throws
  {
    try withTemporaryDirectory { directory in
      var options = DatastoreOptions()
      options.durability = durability
      let manager = try DatastoreManager(directory: directory, options: options)
      let attachment = DocumentAttachment(data: Data("x".utf8), name: "x", contentType: "")
      try manager.datastore(named: "store").createDocument(
        from: DocumentDraft(body: [:], attachments: [attachment]))
      try manager.deleteDatastore(named: "store")
      #expect(try FileManager.default.contentsOfDirectory(atPath: directory) == [])
    }
  }

  @Test func `deleting an unknown name throws`() throws {
    try withTemporaryDirectory { directory in
      let manager = try DatastoreManager(directory: directory)
      let error = datastoreError { try manager.deleteDatastore(named: "store") }
      #expect(error?.code == .notFound)
      #expect(error?.message == #"there is no datastore "store" in \#(directory); create it first"#)
      #expect(datastoreError { try manager.existingDatastore(named: "store") } == error)
    }
  }

  @Test func `deleting waits for a write without holding up the manager`() throws {
    try withTemporaryDirectory { directory in
      let manager = try DatastoreManager(directory: directory)
      let store = try manager.datastore(named: "store")
      let written = Mutex(false)
      onThreads(2) { number in
        if number == 0 {
          try? store.write { transaction in
            try transaction.createDocument(from: DocumentDraft(body: [:]))
            written.withLock { $0 = true }
            // Once this says "closed", the other thread waits for this write to end.
            try? blockUntil("the datastore is closed") {
              (try? store.read { try $0.documentCount() }) == nil
            }
            _ = try manager.datastore(named: "other")
          }
        } else {
          try? blockUntil("the write is done") { written.withLock { $0 } }
          try? manager.deleteDatastore(named: "store")
        }
      }
      #expect(try manager.datastoreNames() == ["other"])
    }
  }

  @Test func `deleting ends while others open the name again and again`() throws {
    try withTemporaryDirectory { directory in
      let manager = try DatastoreManager(directory: directory)
      let isDone = Atomic(false)
      let failures = Mutex<[String]>([])
      let opened = Atomic(0)
      onThreads(5) { number in
        do {
          if number == 0 {
            defer { isDone.store(true, ordering: .releasing) }
            for _ in 0..<20 {
              let store = try manager.datastore(named: "store")
              // Another thread may have used it by now; the deletion must not leave any of it.
              try store.createDocument(from: DocumentDraft(body: [:]))
              let start = ContinuousClock.now
              try manager.deleteDatastore(named: "store")
              #expect(ContinuousClock.now - start < .seconds(60))
              #expect(try manager.datastore(named: "store").read { try $0.documentCount() } == 0)
            }
          } else {
            while !isDone.load(ordering: .acquiring) {
              let store = try manager.datastore(named: "store")
              opened.add(1, ordering: .relaxed)
              do {
                #expect(try store.read { try $0.documentCount() } <= 1)
              } catch let error as DatastoreError where error.code == .closed {}
            }
          }
        } catch {
          failures.withLock { $0.append("\(number): \(error)") }
        }
      }
      #expect(failures.withLock { $0 } == [])
      #expect(opened.load(ordering: .relaxed) > 0)
      #expect(try manager.datastoreNames() == ["store"])
    }
  }

  /// A write keeps the deletion waiting, which keeps the opening waiting.
  @Test(arguments: [Duration.milliseconds(50), .seconds(30)])
  func `opening what is being deleted waits for that, and gives an empty store`(_ timeout: Duration) throws {
    try withTemporaryDirectory { directory in
      var options = DatastoreOptions()
      options.busyTimeout = timeout
      let gives = timeout > .seconds(1)
      let manager = try DatastoreManager(directory: directory, options: options)
      let store = try manager.datastore(named: "store")
      let isWriting = Atomic(false)
      let isRefused = Atomic(false)
      onThreads(3) { number in
        switch number {
        case 0:
          #expect(throws: Never.self) {
            try store.write { transaction in
              try transaction.createDocument(from: DocumentDraft(body: [:]))
              isWriting.store(true, ordering: .releasing)
              try? blockUntil("the datastore is closed") {
                (try? store.read { try $0.documentCount() }) == nil
              }
              // Waiting here would never end, as the deletion waits for this write.
              #expect(datastoreError { try manager.datastore(named: "store") }?.code == .nestedWrite)
              #expect(datastoreError { try manager.deleteDatastore(named: "store") }?.code == .nestedWrite)
              if gives {
                Sleep.microseconds(50_000)
              } else {
                try? blockUntil("the deletion is refused") { isRefused.load(ordering: .acquiring) }
              }
            }
          }
        case 1:
          try? blockUntil("the write has begun") { isWriting.load(ordering: .acquiring) }
          #expect(throws: Never.self) { try manager.deleteDatastore(named: "store") }
        default:
          while !isWriting.load(ordering: .acquiring) || (try? store.read({ try $0.documentCount() })) != nil
          {}
          if gives {
            let opened = try? manager.datastore(named: "store")
            #expect(opened !== store)
            #expect((try? opened?.read { try $0.documentCount() }) == 0)
          } else {
            let error = datastoreError { try manager.datastore(named: "store") }
            #expect(error?.code == .busy)
            #expect(
              error?.message
                == #"another thread has been deleting "store" for longer than \#(timeout); try again later"#
            )
            isRefused.store(true, ordering: .releasing)
          }
        }
      }
      #expect(try manager.datastoreNames() == (gives ? ["store"] : []))
    }
  }

  @Test func `a store deleted by another manager is noticed, and its successor left alone`() throws {
    try withTemporaryDirectory { directory in
      let (ours, theirs) = (
        try DatastoreManager(directory: directory), try DatastoreManager(directory: directory)
      )
      let store = try ours.datastore(named: "store")
      try store.createDocument(from: DocumentDraft(id: "old", body: [:]))
      try theirs.deleteDatastore(named: "store")
      #expect(
        datastoreError { try store.createDocument(from: DocumentDraft(body: [:])) }?.code == .closed)
      let uses: [() throws -> Any] = [
        { try store.document(withID: "old") }, { try store.read { try $0.documentText(withID: "old") } },
        { try store.documents(withIDs: ["old"]) }, { try store.read { try $0.allDocuments() } },
        { try store.read { try $0.allDocumentIDs() } },
        { try store.read { try $0.documentCount() } }, { try store.read { try $0.lastSequence() } },
        { try store.changes() },
        { try store.sizeOnDisk() },
        { try store.read { try $0.conflictedDocumentIDs() } },
        { try store.read { try $0.localDocument(withID: "x") } as Any },
        { try store.checkIntegrity() }, { try store.find([:]).map(\.id) }, { try store.count([:]) },
        { try store.extensionDirectory(named: "x") },
      ]
      for use in uses { #expect(datastoreError(use)?.code == .closed) }
      let successor = try theirs.datastore(named: "store")
      try successor.createDocument(from: DocumentDraft(id: "new", body: [:]))
      // What the old store does when it closes must not take the new one's log away.
      let again = try ours.datastore(named: "store")
      #expect(again !== store)
      for use in uses { #expect(datastoreError(use)?.code == .closed) }
      #expect(FileManager.default.fileExists(atPath: "\(directory)/store/db.sync-wal"))
      #expect(try again.read { try $0.allDocumentIDs() } == ["new"])
      #expect(try successor.read { try $0.allDocumentIDs() } == ["new"])
    }
  }

  @Test func `leftovers of an interrupted deletion are swept at the start`() throws {
    try withTemporaryDirectory { directory in
      let files = FileManager.default
      let (remains, empty) = (".deleted-\(UUID().uuidString)", ".deleted-\(UUID().uuidString)")
      try files.createDirectory(
        atPath: "\(directory)/\(remains)/extensions/x", withIntermediateDirectories: true)
      try "x".write(toFile: "\(directory)/\(remains)/db.sync", atomically: true, encoding: .utf8)
      try files.createDirectory(atPath: "\(directory)/\(empty)", withIntermediateDirectories: true)
      try "mine".write(toFile: "\(directory)/notes.txt", atomically: true, encoding: .utf8)
      try files.createDirectory(atPath: "\(directory)/empty", withIntermediateDirectories: false)
      let manager = try DatastoreManager(directory: directory)
      #expect(try files.contentsOfDirectory(atPath: directory).sorted() == ["empty", "notes.txt"])
      #expect(try manager.datastoreNames().isEmpty)
    }
  }

  /// A user may name files like the leftovers, and link to directories elsewhere.
  @Test func `files that look like leftovers but were not made by a manager stay`() throws {
    try withTemporaryDirectory { directory in
      let files = FileManager.default
      let outside = "\(directory)/outside"
      try files.createDirectory(atPath: outside, withIntermediateDirectories: false)
      try "mine".write(toFile: "\(outside)/db.sync", atomically: true, encoding: .utf8)
      let stores = "\(directory)/stores"
      func path(_ name: String) -> String { "\(stores)/\(name)" }
      for name in [".deleted-mine", ".deleted-\(UUID().uuidString)"] {
        try files.createDirectory(atPath: path(name), withIntermediateDirectories: true)
        try "mine".write(toFile: path("\(name)/notes.txt"), atomically: true, encoding: .utf8)
      }
      try "mine".write(toFile: path(".deleted-mine/db.sync"), atomically: true, encoding: .utf8)
      try "mine".write(toFile: path(".deleted-\(UUID().uuidString)"), atomically: true, encoding: .utf8)
      try files.createSymbolicLink(
        atPath: path(".deleted-\(UUID().uuidString)"), withDestinationPath: outside)
      let before = try files.subpathsOfDirectory(atPath: directory).sorted()
      _ = try DatastoreManager(directory: stores)
      #expect(try files.subpathsOfDirectory(atPath: directory).sorted() == before)
    }
  }

  @Test func `deleting leaves what the datastore has not made, and follows no link`() throws {
    try withTemporaryDirectory { directory in
      let files = FileManager.default
      let manager = try DatastoreManager(directory: directory)
      let folder = "\(directory)/store"
      let store = try manager.datastore(named: "store")
      let attachment = DocumentAttachment(data: Data("x".utf8), name: "x", contentType: "")
      try store.createDocument(from: DocumentDraft(body: [:], attachments: [attachment]))
      _ = try store.extensionDirectory(named: "mine")
      let outside = "\(directory)/outside"
      try files.createDirectory(atPath: outside, withIntermediateDirectories: false)
      try "mine".write(toFile: "\(outside)/file", atomically: true, encoding: .utf8)
      try files.createSymbolicLink(atPath: "\(folder)/extensions/link", withDestinationPath: outside)
      for name in ["notes.txt", "attachments/notes.txt"] {
        try "mine".write(toFile: "\(folder)/\(name)", atomically: true, encoding: .utf8)
      }
      try manager.deleteDatastore(named: "store")
      let left = try files.subpathsOfDirectory(atPath: directory).sorted()
      #expect(
        left == [
          "outside", "outside/file", "store", "store/attachments", "store/attachments/notes.txt",
          "store/notes.txt",
        ])
      // The name is free again.
      #expect(try manager.datastoreNames() == [])
      #expect(try manager.datastore(named: "store").read { try $0.documentCount() } == 0)
    }
  }

  /// Each path of a store with a link in its place, and a write that would follow it.
  @Test(arguments: ["db.sync", "attachments", "extensions", "extensions/mine", "durability-normal"])
  func `no write follows a symbolic link out of the store`(_ name: String) throws {
    try withTemporaryDirectory { directory in
      let files = FileManager.default
      let manager = try DatastoreManager(directory: directory)
      _ = try manager.datastore(named: "store").extensionDirectory(named: "mine")
      try manager.closeDatastore(named: "store")
      let outside = "\(directory)/outside"
      let isDirectory = name != "db.sync" && name != "durability-normal"
      if isDirectory { try files.createDirectory(atPath: outside, withIntermediateDirectories: false) }
      try? files.removeItem(atPath: "\(directory)/store/\(name)")
      try files.createSymbolicLink(atPath: "\(directory)/store/\(name)", withDestinationPath: outside)
      var options = DatastoreOptions()
      options.durability = .normal
      func write() throws {
        let manager = try DatastoreManager(directory: directory, options: options)
        defer { try? manager.closeDatastore(named: "store") }
        let store = try manager.datastore(named: "store")
        let attachment = DocumentAttachment(data: Data("x".utf8), name: "x", contentType: "")
        try store.createDocument(from: DocumentDraft(body: [:], attachments: [attachment]))
        _ = try store.extensionDirectory(named: "mine")
      }
      if name == "durability-normal" {
        // A link is a mark as good as a file.
        try write()
      } else {
        let message =
          "\(directory)/store/\(name) is a symbolic link, and nothing is written through it; replace it with its target"
        #expect(datastoreError(write)?.message == message)
      }
      #expect(
        isDirectory
          ? try files.contentsOfDirectory(atPath: outside) == [] : !files.fileExists(atPath: outside))
    }
  }

  @Test func `a datastore's directory that is a link is not deleted`() throws {
    try withTemporaryDirectory { directory in
      let elsewhere = try DatastoreManager(directory: "\(directory)/elsewhere")
      try elsewhere.datastore(named: "real").createDocument(from: DocumentDraft(body: [:]))
      try elsewhere.closeDatastore(named: "real")
      let manager = try DatastoreManager(directory: "\(directory)/stores")
      try FileManager.default.createSymbolicLink(
        atPath: "\(directory)/stores/linked", withDestinationPath: "../elsewhere/real")
      #expect(try manager.datastore(named: "linked").read { try $0.documentCount() } == 1)
      let error = datastoreError { try manager.deleteDatastore(named: "linked") }
      #expect(error?.code == .io)
      #expect(
        error?.message
          == "\(directory)/stores/linked is a symbolic link, which a deletion does not follow; delete the datastore at its "
          + "target")
      #expect(try manager.datastoreNames() == ["linked"])
      #expect(try elsewhere.datastore(named: "real").read { try $0.documentCount() } == 1)
    }
  }

  @Test func `names are of the datastores there, open or not, sorted`() throws {
    try withTemporaryDirectory { directory in
      let manager = try DatastoreManager(directory: directory)
      for name in ["b", "a", "C"] { _ = try manager.datastore(named: name) }
      try manager.closeDatastore(named: "b")
      #expect(try manager.datastoreNames() == ["C", "a", "b"])
      #expect(try DatastoreManager(directory: directory).datastoreNames() == ["C", "a", "b"])
    }
  }

  @Test(arguments: ["", ".", "..", "a/b", "a\0b", String(repeating: "x", count: 201)])
  func `an extension's directory is one path component`(_ name: String) throws {
    try withTemporaryDatastore { store in
      #expect(datastoreError { try store.extensionDirectory(named: name) }?.code == .invalidName)
    }
  }

  @Test func `a name that looks like a URI is a path`() throws {
    try withTemporaryDirectory { directory in
      let here = FileManager.default.currentDirectoryPath
      let name = "file:\(UUID().uuidString)?mode=memory&x="
      defer { try? FileManager.default.removeItem(atPath: "\(here)/\(name)") }
      let manager = try DatastoreManager(directory: name)
      try manager.datastore(named: "store").createDocument(from: DocumentDraft(body: [:]))
      try manager.closeDatastore(named: "store")
      #expect(FileManager.default.fileExists(atPath: "\(here)/\(name)/store/db.sync"))
      #expect(try manager.datastore(named: "store").read { try $0.documentCount() } == 1)
    }
  }
}
