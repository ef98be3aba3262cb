import CDTDatastore
import CDTJSON
import CDTTestSupport
import Foundation
import Glibc
import Testing

/// The files in `attachments/`: damaged, missing, left over, locked.
@Suite struct AttachmentFileTests {
  static let content = Data((0..<600_000).map { UInt8(truncatingIfNeeded: $0 &* 31) })

  /// Runs `body` with a store whose document has an attachment of ``content``, and the path of its file.
  private func withSaved(
    _ body: (_ store: Datastore, _ attachment: DocumentAttachment, _ file: String) throws -> Void
  ) throws {
    try withTemporaryDatastore { store in
      let saved = try store.createDocument(
        from: DocumentDraft(
          id: "a", body: [:],
          attachments: [DocumentAttachment(data: Self.content, name: "x", contentType: "")]))
      let attachment = try #require(saved.attachments["x"])
      try body(store, attachment, "\(store.directory)/attachments/\(try #require(attachment.digest))")
    }
  }

  enum Damage: String, CaseIterable {
    case changed, shorter, longer, empty
  }

  private func harm(_ file: String, _ damage: Damage) throws {
    var bytes = Self.content
    switch damage {
    case .changed: bytes[599_999] ^= 1
    case .shorter: bytes.removeLast()
    case .longer: bytes.append(0)
    case .empty: bytes = Data()
    }
    try bytes.write(to: URL(filePath: file))
  }

  @Test(arguments: Damage.allCases) func `wrong bytes are never given`(_ damage: Damage) throws {
    try withSaved { store, attachment, file in
      try harm(file, damage)
      let target = "\(store.directory)/target"
      try "before".write(toFile: target, atomically: true, encoding: .utf8)
      let names = try FileManager.default.contentsOfDirectory(atPath: store.directory).sorted()
      let reads: [() throws -> Void] = [
        { _ = try attachment.data() },
        { try attachment.forEachChunk { _ in Issue.record("a chunk was given") } },
        { try attachment.write(toFile: target) },
        { _ = try store.document(withID: "a").attachments["x"]?.data() },
      ]
      for read in reads {
        let error = datastoreError(read)
        #expect(error?.code == .corrupt)
        #expect(
          error?.message
            == "the content of attachment \"x\" at \(file) differs from what was saved; restore it from a "
            + "backup, or save the attachment again")
      }
      #expect(try String(contentsOfFile: target, encoding: .utf8) == "before")
      #expect(try FileManager.default.contentsOfDirectory(atPath: store.directory).sorted() == names)
      #expect(try store.checkIntegrity().map(\.kind) == [.attachment])
      #expect(try store.checkIntegrity().first?.documentID == "a")
    }
  }

  @Test(arguments: Damage.allCases) func `saving the content again repairs it`(_ damage: Damage) throws {
    try withSaved { store, _, file in
      try harm(file, damage)
      try store.createDocument(
        from: DocumentDraft(
          id: "b", body: [:],
          attachments: [DocumentAttachment(data: Self.content, name: "y", contentType: "")]))
      #expect(try store.document(withID: "a").attachments["x"]?.data() == Self.content)
      #expect(try store.checkIntegrity() == [])
    }
  }

  @Test func `a file that is gone is not found`() throws {
    try withSaved { store, attachment, file in
      try FileManager.default.removeItem(atPath: file)
      let message =
        "the content of attachment \"x\" is missing at \(file); read the document again, or restore the file from a backup"
      for read in [
        { _ = try attachment.data() }, { try attachment.forEachChunk { _ in } },
        { try attachment.write(toFile: "\(store.directory)/target") },
      ] as [() throws -> Void] {
        let error = datastoreError(read)
        #expect(error?.code == .notFound)
        #expect(error?.message == message)
      }
      #expect(try store.checkIntegrity().map(\.message) == [message])
      // It can't be given to another document either.
      let before = try StoreState(store)
      let error = datastoreError {
        try store.createDocument(from: DocumentDraft(id: "b", body: [:], attachments: [attachment]))
      }
      #expect(error?.message == message)
      #expect(try StoreState(store) == before)
    }
  }

  @Test func `an attachment of a compacted revision is not found once nothing else has its content`() throws {
    try withSaved { store, attachment, _ in
      var revision = try store.document(withID: "a")
      revision.attachments = []
      try store.updateDocument(from: revision)
      #expect(try attachment.data() == Self.content)
      let report = try store.compact()
      #expect(report.attachments == 1)
      #expect(report.bytesFreed >= Self.content.count)
      #expect(datastoreError { try attachment.data() }?.code == .notFound)
      #expect(try store.checkIntegrity() == [])
    }
  }

  @Test func `a reader that has begun goes on while compaction removes the file`() throws {
    try withSaved { store, attachment, _ in
      try store.deleteDocument(withID: "a")
      var read = Data()
      try attachment.forEachChunk { chunk in
        if read.isEmpty { try store.compact() }
        read.append(contentsOf: chunk)
      }
      #expect(read == Self.content)
      #expect(store.attachmentFileNames == [])
    }
  }

  @Test func `a file is written whole or not at all`() throws {
    try withSaved { store, attachment, _ in
      let folder = "\(store.directory)/out"
      try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: false)
      let long = "\(folder)/\(String(repeating: "x", count: 255))"
      for target in ["\(folder)/a", long] {
        try "before".write(toFile: target, atomically: false, encoding: .utf8)
        try attachment.write(toFile: target)
        #expect(try Data(contentsOf: URL(filePath: target)) == Self.content)
      }
      #expect(datastoreError { try attachment.write(toFile: folder) }?.code == .io)
      #expect(datastoreError { try attachment.write(toFile: "\(folder)/no/a") }?.code == .io)
      #expect(datastoreError { try attachment.write(toFile: "\(folder)/a\0b") }?.code == .io)
      #expect(datastoreError { try attachment.write(toFile: "") }?.code == .io)
      #expect(try FileManager.default.contentsOfDirectory(atPath: folder).count == 2)
      #expect(!FileManager.default.fileExists(atPath: "\(store.directory)/out.tmp"))
    }
  }

  @Test func `compaction sweeps what broken writes left, but nothing that is being written or is not ours`()
    throws
  {
    try withSaved { store, attachment, _ in
      let folder = "\(store.directory)/attachments"
      let (broken, locked) = ("incoming-\(UUID().uuidString)", "incoming-\(UUID().uuidString)")
      let (abandoned, needed) = (["\(broken).1", "incoming-\(UUID().uuidString).2"], "\(locked).1")
      let others = ["incoming-mine", "incoming-\(UUID().uuidString).txt", "notes.txt"]
      for name in [broken, locked, needed, String(repeating: "0", count: 40)] + abandoned + others {
        try "x".write(toFile: "\(folder)/\(name)", atomically: true, encoding: .utf8)
      }
      let descriptor = open("\(folder)/\(locked)", O_RDONLY | O_CLOEXEC)
      #expect(flock(descriptor, LOCK_EX | LOCK_NB) == 0)
      #expect(try store.compact().attachments == 4)
      let kept = [try #require(attachment.digest), locked, needed] + others
      #expect(store.attachmentFileNames == kept.sorted())
      close(descriptor)
      #expect(try store.compact().attachments == 2)
      #expect(try attachment.data() == Self.content)
    }
  }

  @Test func `compaction follows no link, and removes no directory`() throws {
    try withSaved { store, _, _ in
      let folder = "\(store.directory)/attachments"
      let outside = "\(store.directory)/../outside"
      let names = ["0", "1", "2"].map { String(repeating: $0, count: 40) }
      let files = FileManager.default
      try files.createDirectory(atPath: outside, withIntermediateDirectories: false)
      try "mine".write(toFile: "\(outside)/\(names[0])", atomically: true, encoding: .utf8)
      try files.createSymbolicLink(
        atPath: "\(folder)/\(names[1])", withDestinationPath: "\(outside)/\(names[0])")
      try files.createDirectory(atPath: "\(folder)/\(names[2])", withIntermediateDirectories: false)
      #expect(try store.compact().attachments == 0)
      #expect(Set(store.attachmentFileNames).isSuperset(of: names[1...]))

      // The whole directory may be a link, too.
      try files.moveItem(atPath: folder, toPath: "\(store.directory)/aside")
      try files.createSymbolicLink(atPath: folder, withDestinationPath: outside)
      #expect(try store.compact().attachments == 0)
      #expect(try String(contentsOfFile: "\(outside)/\(names[0])", encoding: .utf8) == "mine")
    }
  }

  @Test func `attachments are saved while compactions sweep`() throws {
    try withTemporaryDatastore { store in
      onThreads(4) { thread in
        for round in 0..<40 {
          do {
            if thread == 0 {
              try store.compact()
            } else {
              try Data("\(thread) \(round)".utf8).write(
                to: URL(filePath: "\(store.directory)/\(thread).source"))
              try store.createDocument(
                from: DocumentDraft(
                  body: [:],
                  attachments: [
                    DocumentAttachment(
                      file: "\(store.directory)/\(thread).source", name: "x", contentType: ""),
                    DocumentAttachment(data: Data("\(round % 5)".utf8), name: "y", contentType: ""),
                  ]))
            }
          } catch {
            Issue.record("\(error)")
          }
        }
      }
      let (count, findings) = (try store.read { try $0.documentCount() }, try store.checkIntegrity())
      #expect(count == 120)
      #expect(findings == [])
      #expect(store.attachmentFileNames.count == 120 + 5)
    }
  }

  @Test func `more files than a process may have open are saved at once`() throws {
    try withTemporaryDirectory { directory in
      let manager = try DatastoreManager(directory: directory)
      let store = try manager.datastore(named: "store")
      var limit = rlimit()
      getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
      let count = min(Int(limit.rlim_cur) + 10, 1_100)
      try Data("source".utf8).write(to: URL(filePath: "\(directory)/source"))
      let saved = try store.createDocument(
        from: DocumentDraft(
          body: [:],
          attachments: Attachments(
            (0..<count).map {
              DocumentAttachment(file: "\(directory)/source", name: "\($0)", contentType: "")
            })))
      #expect(saved.attachments.count == count)
      #expect(store.attachmentFileNames.count == 1)
      let stored = try store.document(withID: saved.id).attachments
      #expect(Set(stored.map(\.name)) == Set((0..<count).map(String.init)))
      #expect(try stored.allSatisfy { try $0.data() == Data("source".utf8) })
    }
  }

  static let rows = [
    "length = -5", "length = 9223372036854775807", "length = 0", "revpos = -1",
    "revpos = 9223372036854775807",
    "key = x''", "key = x'61'", "key = zeroblob(100)", "key = 'text'", "name = 'y'", "name = ''",
    "type = x'FF'",
  ]

  @Test(arguments: rows) func `a damaged row gives an error or the content, never a trap`(_ row: String)
    throws
  {
    try withTemporaryDirectory { directory in
      let manager = try DatastoreManager(directory: directory)
      let store = try manager.datastore(named: "store")
      try store.createDocument(
        from: DocumentDraft(
          id: "a", body: [:],
          attachments: [DocumentAttachment(data: Self.content, name: "x", contentType: "")]))
      try withDatabase(of: "store", in: directory) { try $0.execute("UPDATE attachments SET \(row)") }
      var document = try store.document(withID: "a")
      for attachment in document.attachments {
        do {
          #expect(try attachment.data() == Self.content)
        } catch is DatastoreError {
        }
      }
      document.body["n"] = 1
      do { try store.updateDocument(from: document) } catch is DatastoreError {}
      do { try store.compact() } catch is DatastoreError {}
      _ = try store.checkIntegrity()
    }
  }

  @Test(arguments: rows) func `a damaged row gives a reader in parts an error or the content, never a trap`(
    _ row: String
  ) async throws {
    let directory = try temporaryDirectory()
    defer { removeDirectory(directory) }
    let manager = try DatastoreManager(directory: directory)
    let store = try await manager.datastore(named: "store")
    try await store.createDocument(
      from: DocumentDraft(
        id: "a", body: [:], attachments: [DocumentAttachment(data: Self.content, name: "x", contentType: "")])
    )
    try withDatabase(of: "store", in: directory) { try $0.execute("UPDATE attachments SET \(row)") }
    for attachment in try await store.document(withID: "a").attachments {
      do {
        let reader = try await AttachmentReader(attachment)
        var content: [UInt8] = []
        while case let chunk = try await reader.next(), !chunk.isEmpty { content += chunk }
        #expect(Data(content) == Self.content)
      } catch is DatastoreError {
      }
    }
  }

  @Test func `pieces are of bounded size`() throws {
    try withSaved { _, attachment, _ in
      var sizes: [Int] = []
      try attachment.forEachChunk { sizes.append($0.count) }
      #expect(sizes.reduce(0, +) == Self.content.count)
      #expect(sizes.allSatisfy { $0 <= 256 * 1024 })
    }
  }

  @Test func `a large attachment is saved, read, written out and copied in constant memory`() async throws {
    let directory = try temporaryDirectory()
    defer { removeDirectory(directory) }
    let (status, output) = try await BuiltProgram("cdt-store-worker", ["stream", directory, "64"]).ended()
    #expect(status == 0)
    let report = try JSONDecoder().decode([String: Int].self, from: Data(output.utf8))
    #expect(report["read"] == 64 << 20)
    let grown = try #require(report["grown"])
    #expect(grown < 16 << 10, "the peak grew by \(grown) KiB")
    #expect(FileManager.default.contentsEqual(atPath: "\(directory)/source", andPath: "\(directory)/target"))
  }
}
