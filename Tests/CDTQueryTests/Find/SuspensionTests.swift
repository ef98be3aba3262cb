import CDTPlatform
import CDTSQLite
import CDTTestSupport
import Foundation
import Synchronization
import Testing

@testable import CDTDatastore
@testable import CDTIndex
@testable import CDTQuery

/// The locks that this process has on the files below a directory, as lines of `/proc/locks`.
func locks(below directory: String) throws -> [String] {
  var names: [String: String] = [:]
  let paths = FileManager.default.enumerator(atPath: directory)?.compactMap { $0 as? String } ?? []
  for path in paths + ["."] {
    var status = stat()
    guard lstat("\(directory)/\(path)", &status) == 0 else { continue }
    let device = status.st_dev
    let (major, minor) = (device >> 8 & 0xFFF, device & 0xFF | device >> 12 & 0xFFF00)
    names[String(format: "%02llx:%02llx:%llu", UInt64(major), UInt64(minor), UInt64(status.st_ino))] = path
  }
  return try systemLocks().flatMap { file, locks in
    names[file].map { name in locks.map { "\(name): \($0)" } } ?? []
  }
}

/// The databases, their shared memory and their lock files below a directory that this process has open.
func openDatabases(below directory: String) -> [String] {
  let descriptors = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd")) ?? []
  return descriptors.compactMap { descriptor -> String? in
    // A descriptor that only names a file has no locks.
    let flags = try? String(contentsOfFile: "/proc/self/fdinfo/\(descriptor)", encoding: .utf8)
      .split(separator: "\n").first { $0.hasPrefix("flags:") }?.split(separator: "\t").last
    if let flags, let bits = Int(flags, radix: 8), bits & 0o10000000 != 0 { return nil }
    return try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\(descriptor)")
  }.filter { path in
    path.hasPrefix(directory) && ["db.sync", "sqlite", "-shm", "build.lock"].contains { path.contains($0) }
  }
}

func code<R>(_ body: () throws -> R) -> DatastoreError.Code? {
  do {
    _ = try body()
    return nil
  } catch {
    return (error as? DatastoreError)?.code ?? DatastoreError.Code("\(error)")
  }
}

@Suite(.timeLimit(.minutes(60))) struct SuspensionTests {
  private static let key = Encryption.key((0..<32).map { UInt8($0) })

  private func withStore(
    _ options: DatastoreOptions = DatastoreOptions(), _ body: (DatastoreManager, Datastore) throws -> Void
  ) throws {
    try withTemporaryDirectory { directory in
      let manager = try DatastoreManager(directory: directory, options: options)
      defer { manager.close() }
      try body(manager, manager.datastore(named: "store"))
    }
  }

  private func expectNothingHeld(
    _ directory: String, sourceLocation: SourceLocation = #_sourceLocation
  ) throws {
    #expect(try locks(below: directory) == [], sourceLocation: sourceLocation)
    #expect(openDatabases(below: directory) == [], sourceLocation: sourceLocation)
  }

  @Test(arguments: [nil, key]) func `an idle datastore has no locks until it is used again`(
    _ key: Encryption?
  ) throws {
    try withStore(DatastoreOptions(encryption: key)) { manager, store in
      try store.createDocument(from: DocumentDraft(id: "a", body: ["n": 1]))
      try store.ensureIndexed(["n"])
      #expect(try store.find(["n": 1]).count == 1)
      #expect(try !locks(below: manager.directory).isEmpty)
      #expect(store.suspend())
      try expectNothingHeld(manager.directory)
      for _ in 0..<2 {
        #expect(store.suspend())
        #expect(code { try store.document(withID: "a") } == .suspended)
        #expect(code { try store.find(["n": 1]) } == .suspended)
        #expect(code { try store.createDocument(from: DocumentDraft(id: "b", body: [:])) } == .suspended)
        #expect(code { try store.ensureIndexed(["m"]) } == .suspended)
        #expect(code { try store.compact() } == .suspended)
        #expect(code { try store.results(for: Query([:])) } == .suspended)
        try expectNothingHeld(manager.directory)
      }
      for _ in 0..<2 { store.resume() }
      #expect(try store.find(["n": 1]).map(\.id) == ["a"])
      try store.createDocument(from: DocumentDraft(id: "b", body: ["n": 1]))
      #expect(try store.find(["n": 1]).map(\.id) == ["a", "b"])
      #expect(try store.checkIntegrity() == [])
    }
  }

  @Test func `a reader that was closed holds no file, also while somebody has it`() throws {
    try withStore(DatastoreOptions(encryption: Self.key)) { manager, store in
      try store.createDocument(from: DocumentDraft(id: "a", body: ["n": 1]))
      try store.ensureIndexed(["n"])
      // The second transaction begins at a known state of both files.
      for _ in 0..<2 { #expect(try store.find(["n": 1]).count == 1) }
      let reader = try store.lendReader().reader
      try reader.begin()
      #expect(store.suspend())
      try expectNothingHeld(manager.directory)
      #expect(!reader.isUsable)
    }
  }

  @Test func `the error says what to do`() throws {
    try withStore { _, store in
      store.suspend()
      let error = #expect(throws: DatastoreError.self) { try store.document(withID: "a") }
      #expect(
        error?.message
          == #"the datastore "store" is suspended; call resume() of it, and try again"#
      )
      #expect(error?.status == 503)
    }
  }

  @Test func `a manager suspends every datastore, and opens none until it is resumed`() throws {
    try withStore { manager, store in
      let other = try manager.datastore(named: "other")
      try other.createDocument(from: DocumentDraft(id: "a", body: [:]))
      #expect(manager.suspend())
      try expectNothingHeld(manager.directory)
      #expect(code { try store.documents(withIDs: ["a"]) } == .suspended)
      #expect(code { try other.document(withID: "a") } == .suspended)
      #expect(code { try manager.datastore(named: "new") } == .suspended)
      #expect(code { try manager.deleteDatastore(named: "other") } == .suspended)
      #expect(code { try manager.reencryptDatastore(named: "other", with: Self.key) } == .suspended)
      try manager.closeDatastore(named: "store")
      manager.resume()
      #expect(try other.document(withID: "a").id == "a")
      #expect(try manager.datastore(named: "new").read { try $0.documentCount() } == 0)
      #expect(code { try store.document(withID: "a") } == .closed)
    }
  }

  @Test func `a long query is interrupted, and a write that waits fails`() throws {
    try withStore { manager, store in
      try store.write { transaction in
        for number in 0..<300 {
          try transaction.createDocument(from: DocumentDraft(id: "\(number)", body: ["n": number.jsonValue]))
        }
      }
      let codes = Gathered<DatastoreError.Code?>()
      let running = Atomic(0)
      onThreads(4) { number in
        switch number {
        case 0:
          codes.append(
            code {
              try store.read { transaction in
                try transaction.use { connection in
                  running.add(1, ordering: .relaxed)
                  return try connection.scalar(
                    "SELECT count(*) FROM documents a, documents b, documents c, documents d, documents e")
                }
              }
            })
        case 1:
          codes.append(
            code {
              try store.write { transaction in
                running.add(1, ordering: .relaxed)
                while true {
                  _ = try transaction.documentCount()
                  Sleep.microseconds(500)
                }
              }
            })
        case 2:
          try? blockUntil("both run") { running.load(ordering: .relaxed) == 2 }
          codes.append(code { try store.createDocument(from: DocumentDraft(body: [:])) })
        default:
          try? blockUntil("both run") { running.load(ordering: .relaxed) == 2 }
          Sleep.microseconds(20_000)
          #expect(store.suspend(within: .milliseconds(2_000)))
        }
      }
      #expect(codes.all == [.suspended, .suspended, .suspended])
      try expectNothingHeld(manager.directory)
      store.resume()
      #expect(try store.read { try $0.documentCount() } == 300)
    }
  }

  @Test func `a write in progress goes on, and is saved`() throws {
    try withStore { manager, store in
      try store.ensureIndexed(["n"])
      let hasBegun = Atomic(false)
      onThreads(2) { number in
        if number == 0 {
          #expect(throws: Never.self) {
            try store.write { transaction in
              try transaction.createDocument(from: DocumentDraft(id: "a", body: ["n": 1]))
              hasBegun.store(true, ordering: .relaxed)
              try blockUntil("it is being suspended") { store.suspension.isSuspended }
              let data = Data(repeating: 1, count: 100_000)
              try transaction.createDocument(
                from: DocumentDraft(
                  id: "b", body: ["n": 1],
                  attachments: [DocumentAttachment(data: data, name: "x", contentType: "")]))
            }
          }
        } else {
          try? blockUntil("it has begun") { hasBegun.load(ordering: .relaxed) }
          #expect(store.suspend(within: .seconds(60)))
        }
      }
      try expectNothingHeld(manager.directory)
      store.resume()
      #expect(try store.find(["n": 1]).map(\.id) == ["a", "b"])
      #expect(try store.checkIntegrity() == [])
    }
  }

  @Test func `a write that does not end in time is rolled back at its next call`() throws {
    try withStore { manager, store in
      let hasBegun = Atomic(false)
      let isOver = Atomic(false)
      onThreads(2) { number in
        if number == 0 {
          let failure = code {
            try store.write { transaction in
              try transaction.createDocument(from: DocumentDraft(id: "a", body: [:]))
              hasBegun.store(true, ordering: .relaxed)
              try blockUntil("the call has returned") { isOver.load(ordering: .relaxed) }
              // A closure that passes over the error is rolled back, too.
              _ = try? transaction.createDocument(from: DocumentDraft(id: "b", body: [:]))
            }
          }
          #expect(failure == .suspended)
        } else {
          try? blockUntil("it has begun") { hasBegun.load(ordering: .relaxed) }
          #expect(!store.suspend(within: .milliseconds(20)))
          isOver.store(true, ordering: .relaxed)
        }
      }
      try expectNothingHeld(manager.directory)
      #expect(store.suspend())
      store.resume()
      #expect(try store.read { try $0.allDocumentIDs() } == [])
    }
  }

  @Test func `inside a write, the write is rolled back`() throws {
    try withStore { manager, store in
      let failure = code {
        try store.write { transaction in
          try transaction.createDocument(from: DocumentDraft(id: "a", body: [:]))
          #expect(!store.suspend())
        }
      }
      #expect(failure == .suspended)
      #expect(store.suspend())
      try expectNothingHeld(manager.directory)
      store.resume()
      #expect(try store.read { try $0.allDocumentIDs() } == [])
    }
  }

  @Test func `a result set and an upload end for good`() async throws {
    let directory = try temporaryDirectory()
    defer { try? FileManager.default.removeItem(atPath: directory) }
    let manager = try DatastoreManager(directory: directory)
    defer { manager.close() }
    let store = try await manager.datastore(named: "store")
    for id in ["a", "b", "c"] { try await store.createDocument(from: DocumentDraft(id: id, body: [:])) }
    let results = try store.results(for: Query([:]))
    #expect(try results.next()?.id == "a")
    let upload = try await store.beginUpload()
    try await upload.write([1, 2, 3])
    #expect(store.suspend())
    try expectNothingHeld(directory)
    #expect(code { try results.next() } == .suspended)
    store.resume()
    let error = #expect(throws: DatastoreError.self) { try results.next() }
    #expect(error?.code == .suspended)
    #expect(
      error?.message == "a result set ended when the datastore was suspended; begin it again after resume()")
    await #expect(throws: DatastoreError.self) { try await upload.write([4]) }
    results.close()
    #expect(try store.results(for: Query([:])).documentIDs() == ["a", "b", "c"])
  }

  @Test func `a live query and a listener wait, and then have what others have written`() async throws {
    try await withTemporaryDirectory { directory in
      let managers = try [DatastoreManager(directory: directory), DatastoreManager(directory: directory)]
      defer { for manager in managers { manager.close() } }
      let (store, other) = (
        try await managers[0].datastore(named: "store"), try await managers[1].datastore(named: "store")
      )
      try await store.createDocument(from: DocumentDraft(id: "a", body: ["n": 1]))
      var live = try store.live(["n": 1]).makeAsyncIterator()
      var changes = store.liveChanges().makeAsyncIterator()
      #expect(try await live.next()?.results.map(\.id) == ["a"])
      #expect(try await changes.next()?.documents.map(\.id) == ["a"])
      store.suspend()
      // A new one begins to wait.
      let late = Task {
        var late = try store.live(["n": 1]).makeAsyncIterator()
        return try await late.next()?.results.map(\.id)
      }
      try await other.createDocument(from: DocumentDraft(id: "b", body: ["n": 1]))
      let resumption = Task {
        try await Task.sleep(for: .milliseconds(50))
        store.resume()
      }
      #expect(try await live.next()?.results.map(\.id) == ["a", "b"])
      #expect(try await changes.next()?.documents.map(\.id) == ["b"])
      #expect(try await late.value == ["a", "b"])
      try await resumption.value
    }
  }

  @Test func `an index build goes on`() throws {
    var options = DatastoreOptions()
    options.memoryBudget = 1 << 20
    try withStore(options) { manager, store in
      for batch in 0..<20 {
        try store.write { transaction in
          for number in 0..<500 {
            try transaction.createDocument(
              from: DocumentDraft(id: "\(batch * 500 + number)", body: ["n": number.jsonValue]))
          }
        }
      }
      try store.declareIndex(["n"])
      try store.queryExtension().resume()
      #expect(store.suspend())
      try expectNothingHeld(manager.directory)
      store.resume()
      try blockUntil("the index is complete") {
        try store.listIndexes().allSatisfy { $0.indexedSequence == 10_000 }
      }
    }
  }

  @Test func `a datastore that was deleted meanwhile is closed`() throws {
    try withStore { manager, store in
      try store.createDocument(from: DocumentDraft(id: "a", body: [:]))
      store.suspend()
      let other = try DatastoreManager(directory: manager.directory)
      try other.deleteDatastore(named: "store")
      _ = try other.datastore(named: "store")
      store.resume()
      #expect(code { try store.document(withID: "a") } == .closed)
      #expect(code { try store.createDocument(from: DocumentDraft(body: [:])) } == .closed)
      other.close()
    }
  }

  /// A state that an idle app reads would keep all of it in the log.
  @Test func `the log of another process does not grow`() async throws {
    try await withTemporaryDirectory { directory in
      let manager = try DatastoreManager(directory: directory)
      defer { manager.close() }
      let store = try await manager.datastore(named: "store")
      try await store.createDocument(from: DocumentDraft(id: "a", body: [:]))
      let text = String(repeating: "y", count: 2_000)
      let lines = (0..<15_000).map { #"{"x":\#($0),"t":"\#(text)"}"# }
      try lines.joined(separator: "\n").write(toFile: "\(directory)/lines", atomically: true, encoding: .utf8)
      func logAfterImport() async throws -> Int64 {
        let program = try BuiltProgram(
          "cdtquery", ["import", "\(directory)/store", "\(directory)/lines"], hidesErrors: true)
        #expect(try await program.ended().status == 0)
        return (try? Files.length(of: LogFile.path(of: store.databasePath))) ?? nil ?? 0
      }
      let held = try store.results(for: Query([:]))
      #expect(try held.next() != nil)
      #expect(try await logAfterImport() > 30 << 20)
      store.suspend()
      #expect(try await logAfterImport() < 20 << 20)
      store.resume()
      #expect(try await store.read { try $0.documentCount() } == 30_001)
    }
  }
}
