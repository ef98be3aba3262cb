import CDTDatastore
import Foundation
import SQLite
import Synchronization
import TestSupport
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
      manager.closeDatastore(named: name.name)
      #expect(try FileManager.default.contentsOfDirectory(atPath: directory).isEmpty)
    }
  }

  @Test func `a bad name's message shows it escaped and ends in the remedy`() throws {
    try withTemporaryDirectory { directory in
      let manager = try DatastoreManager(directory: directory)
      #expect(
        datastoreError { try manager.datastore(named: "a\n") }?.message
          == #""a\n" is no name for a datastore; use letters, digits and _, a letter first, at most 200 of them"#
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
      try store.createDocument(from: DocumentRevision(id: "a", body: [:]))
      let log = "\(store.directory)/db.sync-wal"
      let before = try Data(contentsOf: URL(filePath: log))
      var options = DatastoreOptions()
      options.busyTimeout = .zero
      let second = try DatastoreManager(directory: directory, options: options)
      try store.write { _ in
        let opened = try second.datastore(named: "store")
        #expect(try opened.documentCount == 1)
      }
      second.closeDatastore(named: "store")
      let after = try Data(contentsOf: URL(filePath: log))
      #expect(after == before)
    }
  }

  @Test func `a store is opened once to be read, and again for the first write`() throws {
    try withTemporaryDirectory { directory in
      let manager = try DatastoreManager(directory: directory)
      let store = try manager.datastore(named: "store")
      let file = "\(directory)/store/db.sync"
      #expect(try store.documentCount == 0)
      let opened = openFiles(below: file)
      #expect(try store.allDocumentIDs().isEmpty)
      #expect(openFiles(below: file) == opened)
      try store.createDocument(from: DocumentRevision(body: [:]))
      #expect(openFiles(below: file) > opened)
      #expect(try store.documentCount == 1)
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
          == "\(path) is a file where a directory should be; move it away or choose another directory")
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
            try store.createDocument(from: DocumentRevision(id: "\(number)", body: [:]))
          } catch {
            failures.withLock { $0.append("\(error)") }
          }
        }
        #expect(failures.withLock { $0 } == [])
        let manager = try DatastoreManager(directory: directory)
        #expect(try manager.datastore(named: "store\(round)").documentCount == 6)
      }
    }
  }

  @Test func `closing releases every file handle`() throws {
    try withTemporaryDirectory { directory in
      let manager = try DatastoreManager(directory: directory)
      for round in 0..<1_000 {
        let store = try manager.datastore(named: "store")
        try store.createDocument(from: DocumentRevision(id: "\(round)", body: [:]))
        #expect(try store.documentCount == round + 1)
        #expect(openFiles(below: directory) > 0)
        manager.closeDatastore(named: "store")
        #expect(openFiles(below: directory) == 0)
      }
    }
  }

  @Test func `a manager that goes closes its datastores`() throws {
    try withTemporaryDirectory { directory in
      let store = try DatastoreManager(directory: directory).datastore(named: "store")
      #expect(datastoreError { try store.documentCount }?.code == .closed)
      #expect(openFiles(below: directory) == 0)
    }
  }

  @Test func `everything throws closed after closing`() throws {
    try withTemporaryDirectory { directory in
      let manager = try DatastoreManager(directory: directory)
      let store = try manager.datastore(named: "store")
      let saved = try store.createDocument(from: DocumentRevision(id: "a", body: [:]))
      let revision = try #require(saved.revision)
      manager.closeDatastore(named: "store")
      manager.closeDatastore(named: "store")
      let uses: [() throws -> Any] = [
        { try store.documentCount }, { try store.lastSequence }, { try store.sizeOnDisk() },
        { try store.document(withID: "a") }, { try store.document(withID: "a", revision: revision) },
        { try store.documents(withIDs: ["a"]) }, { try store.allDocuments() }, { try store.allDocumentIDs() },
        { try store.revisionHistory(of: saved) }, { try store.changes() }, { try store.write { _ in 1 } },
        { try store.createDocument(from: DocumentRevision(body: [:])) },
        { try store.updateDocument(from: saved) }, { try store.deleteDocument(from: saved) },
        { try store.deleteDocument(withID: "a") }, { try store.extensionDirectory(named: "x") },
      ]
      for use in uses {
        let error = datastoreError(use)
        #expect(error?.code == .closed)
        #expect(error?.message == #"the datastore "store" is closed; ask its manager for it again"#)
      }
      #expect(try manager.datastore(named: "store").document(withID: "a").revision == revision)
    }
  }

  @Test func `closing within a write keeps the write and closes after it`() throws {
    try withTemporaryDirectory { directory in
      let manager = try DatastoreManager(directory: directory)
      let store = try manager.datastore(named: "store")
      try store.write { transaction in
        manager.closeDatastore(named: "store")
        try transaction.createDocument(from: DocumentRevision(id: "a", body: [:]))
      }
      #expect(openFiles(below: directory) == 0)
      #expect(datastoreError { try store.documentCount }?.code == .closed)
      #expect(try manager.datastore(named: "store").allDocumentIDs() == ["a"])
    }
  }

  @Test func `deleting removes the folder with what extensions keep`() throws {
    try withTemporaryDirectory { directory in
      let manager = try DatastoreManager(directory: directory)
      let store = try manager.datastore(named: "store")
      try store.createDocument(from: DocumentRevision(id: "a", body: [:]))
      let data = try store.extensionDirectory(named: "com.example.words")
      try "x".write(toFile: "\(data)/words", atomically: true, encoding: .utf8)
      try manager.deleteDatastore(named: "store")
      #expect(try FileManager.default.contentsOfDirectory(atPath: directory).isEmpty)
      #expect(openFiles(below: directory) == 0)
      #expect(datastoreError { try store.documentCount }?.code == .closed)
      #expect(try manager.datastoreNames().isEmpty)
      #expect(try manager.datastore(named: "store").documentCount == 0)
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
            try transaction.createDocument(from: DocumentRevision(body: [:]))
            written.withLock { $0 = true }
            // Once this says "closed", the other thread waits for this write to end.
            while (try? store.documentCount) != nil {}
            _ = try manager.datastore(named: "other")
          }
        } else {
          while !written.withLock({ $0 }) {}
          try? manager.deleteDatastore(named: "store")
        }
      }
      #expect(try manager.datastoreNames() == ["other"])
    }
  }

  @Test func `a store deleted by another manager is noticed, and its successor left alone`() throws {
    try withTemporaryDirectory { directory in
      let (ours, theirs) = (
        try DatastoreManager(directory: directory), try DatastoreManager(directory: directory)
      )
      let store = try ours.datastore(named: "store")
      try store.createDocument(from: DocumentRevision(id: "old", body: [:]))
      try theirs.deleteDatastore(named: "store")
      #expect(
        datastoreError { try store.createDocument(from: DocumentRevision(body: [:])) }?.code == .closed)
      let successor = try theirs.datastore(named: "store")
      try successor.createDocument(from: DocumentRevision(id: "new", body: [:]))
      // What the old store does when it closes must not take the new one's log away.
      let again = try ours.datastore(named: "store")
      #expect(again !== store)
      #expect(FileManager.default.fileExists(atPath: "\(directory)/store/db.sync-wal"))
      #expect(try again.allDocumentIDs() == ["new"])
      #expect(try successor.allDocumentIDs() == ["new"])
    }
  }

  @Test func `leftovers of an interrupted deletion are swept at the start`() throws {
    try withTemporaryDirectory { directory in
      let files = FileManager.default
      try files.createDirectory(
        atPath: "\(directory)/.deleted-1/extensions/x", withIntermediateDirectories: true)
      try "x".write(toFile: "\(directory)/.deleted-1/db.sync", atomically: true, encoding: .utf8)
      try "mine".write(toFile: "\(directory)/notes.txt", atomically: true, encoding: .utf8)
      try files.createDirectory(atPath: "\(directory)/empty", withIntermediateDirectories: false)
      let manager = try DatastoreManager(directory: directory)
      #expect(try files.contentsOfDirectory(atPath: directory).sorted() == ["empty", "notes.txt"])
      #expect(try manager.datastoreNames().isEmpty)
    }
  }

  @Test func `names are of the datastores there, open or not, sorted`() throws {
    try withTemporaryDirectory { directory in
      let manager = try DatastoreManager(directory: directory)
      for name in ["b", "a", "C"] { _ = try manager.datastore(named: name) }
      manager.closeDatastore(named: "b")
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

  @Test func `what looks like a URI is a path`() throws {
    try withTemporaryDirectory { directory in
      let here = FileManager.default.currentDirectoryPath
      let name = "file:\(UUID().uuidString)?mode=memory&x="
      defer { try? FileManager.default.removeItem(atPath: "\(here)/\(name)") }
      let manager = try DatastoreManager(directory: name)
      try manager.datastore(named: "store").createDocument(from: DocumentRevision(body: [:]))
      manager.closeDatastore(named: "store")
      #expect(FileManager.default.fileExists(atPath: "\(here)/\(name)/store/db.sync"))
      #expect(try manager.datastore(named: "store").documentCount == 1)
    }
  }
}
