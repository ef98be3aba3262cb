import CDTDatastore
import CDTJSON
import CDTQuery
import Foundation
import Glibc
import Testing

/// A store on a file system of sixteen megabytes, which is more than its write-ahead log grows to.
@Suite struct FullDiskTests {
  private static let size = 16 << 20

  /// Runs `body` with a store on such a disk, six megabytes of which are taken by a file named `filler`.
  private func withSmallDisk(_ body: (_ store: Datastore, _ directory: String) throws -> Void) throws {
    try withMountedDisk(bytes: Self.size) { disk in
      let manager = try DatastoreManager(directory: disk.directory)
      try Data(count: 6 << 20).write(to: URL(filePath: "\(disk.directory)/filler"))
      try body(try manager.datastore(named: "store"), disk.directory)
    }
  }

  private func fill(_ store: Datastore, _ body: (_ number: Int) throws -> Void) -> (
    saved: Int, error: DatastoreError?
  ) {
    for number in 0..<100_000 {
      do {
        try body(number)
      } catch {
        return (number, error as? DatastoreError)
      }
    }
    return (100_000, nil)
  }

  @Test(.enabled(if: MountedDisk.isPossible, MountedDisk.reason))
  func `a full disk has its own code, nothing is lost, and freed space is used again`() throws {
    try withSmallDisk { store, directory in
      let text = JSONValue.string(String(repeating: "x", count: 20_000))
      let (saved, error) = fill(store) { number in
        try store.createDocument(from: DocumentDraft(id: "\(number)", body: ["text": text]))
      }
      #expect(saved > 10)
      #expect(error?.code == .full)
      #expect(error?.status == 507)
      let before = try StoreState(store)
      #expect(before.count == saved)
      for _ in 0..<3 {
        let again = datastoreError {
          try store.createDocument(from: DocumentDraft(id: "more", body: ["text": text]))
        }
        #expect(again?.code == .full)
      }
      #expect(try StoreState(store) == before)
      #expect(try store.checkIntegrity() == [])

      try FileManager.default.removeItem(atPath: "\(directory)/filler")
      try store.createDocument(from: DocumentDraft(id: "more", body: ["text": text]))
      #expect(try store.read { try $0.documentCount() } == saved + 1)
      #expect(try store.checkIntegrity() == [])
    }
  }

  @Test(.enabled(if: MountedDisk.isPossible, MountedDisk.reason))
  func `an attachment that does not fit leaves no file`() throws {
    try withSmallDisk { store, directory in
      var revision = try store.createDocument(from: DocumentDraft(id: "a", body: [:]))
      revision.attachments = [DocumentAttachment(data: Data(count: Self.size), name: "x", contentType: "")]
      let source = DocumentAttachment(file: "/proc/self/exe", name: "x", contentType: "")
      let attempts: [() throws -> Void] = [
        { try store.updateDocument(from: revision) },
        { try store.createDocument(from: DocumentDraft(body: [:], attachments: [source])) },
        { try store.write { _ = try $0.updateDocument(withID: "a") { $0.attachments = [source] } } },
      ]
      for attempt in attempts {
        let error = datastoreError(attempt)
        #expect(error?.code == .full)
        #expect(store.attachmentFileNames == [])
      }
      #expect(try store.read { try $0.documentCount() } == 1)
      revision.attachments = [DocumentAttachment(data: Data(count: 1 << 19), name: "x", contentType: "")]
      try store.updateDocument(from: revision)
      #expect(try store.checkIntegrity() == [])
    }
  }

  /// SQLite keeps the state of the log in a file of 32 KB beside the store, also for a reader.
  @Test(.enabled(if: MountedDisk.isPossible, MountedDisk.reason))
  func `a store that nobody has open is read on a full disk, and written to when there is space`() throws {
    try withMountedDisk(bytes: 4 << 20) { disk in
      let manager = try DatastoreManager(directory: disk.directory)
      defer { manager.close() }
      let store = try manager.datastore(named: "store")
      try store.ensureIndexed(["n"])
      try store.createDocument(from: DocumentDraft(id: "a", body: ["n": 1]))
      // With so few bytes left the shared memory can't be made, or not grow.
      for left in [0, 4_096, 8_192, 16_384, 28_672] {
        try manager.closeDatastore(named: "store")
        try Data(count: left).write(to: URL(filePath: "\(disk.directory)/reserve"))
        Self.takeTheRest(disk.directory)
        try FileManager.default.removeItem(atPath: "\(disk.directory)/reserve")
        let store = try manager.existingDatastore(named: "store")
        #expect(try store.find(["n": 1]).map(\.id) == ["a"])
        // Of so few documents, a scan may cost less once the index was measured.
        let plan = try store.explain(Query(["n": 1], useIndex: "n")).description
        #expect(plan.hasPrefix("index \"n\""), "\(left): \(plan)")
        let error = datastoreError { try store.createDocument(from: DocumentDraft(body: [:])) }
        #expect(error?.code == .full, "\(left): \(error?.message ?? "")")
        #expect(error?.message.hasSuffix("the disk is full; free some space") == true)
        try FileManager.default.removeItem(atPath: "\(disk.directory)/more")
        #expect(datastoreError { try store.read { try $0.documentCount() } }?.code == .closed)
        let again = try manager.existingDatastore(named: "store")
        let draft = DocumentDraft(id: "\(left)", body: [:])
        try again.deleteDocument(from: try again.createDocument(from: draft))
      }
    }
  }

  /// A document whose index rows take more room than itself.
  private static func wide(_ number: Int) -> DocumentDraft {
    let text = JSONValue.string("\(number) " + String(repeating: "x", count: 1_000))
    return DocumentDraft(id: "\(number)", body: ["n": .int(Int64(number)), "a": text, "b": text])
  }

  @Test(.enabled(if: MountedDisk.isPossible, MountedDisk.reason))
  func `an index that does not fit leaves documents and answers alone, and is filled when there is space`()
    throws
  {
    try withSmallDisk { store, directory in
      try store.write { transaction in
        for number in 0..<500 { try transaction.createDocument(from: Self.wide(number)) }
      }
      let before = try StoreState(store)
      // Each takes some of what is left.
      let (_, error) = fill(store) { try store.ensureIndexed(["a", "b"], name: "index \($0)") }
      #expect(error?.code == .full)
      #expect(error?.message.contains(directory) == true)
      #expect(try StoreState(store) == before)
      let query = try Query(["a": ["$beginsWith": "7 "]])
      #expect(try store.read { try $0.find(query) }.map(\.id) == ["7"])
      #expect(try store.count(["b": ["$gt": ""]]) == 500)
      #expect(try store.checkIntegrity() == [])

      try FileManager.default.removeItem(atPath: "\(directory)/filler")
      try store.updateIndexes()
      let indexes = try store.listIndexes()
      #expect(indexes.count > 1 && indexes.allSatisfy { $0.entries == 500 && $0.indexedSequence == 500 })
      #expect(try store.checkIndexes() == [])
      #expect(try store.read { try $0.find(query) }.map(\.id) == ["7"])
    }
  }

  /// Takes all that is left of the disk for a file named `more`.
  private static func takeTheRest(_ directory: String) {
    let descriptor = open("\(directory)/more", O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o600)
    defer { close(descriptor) }
    for size in [1 << 16, 1 << 12, 1] {
      let block = [UInt8](repeating: 0, count: size)
      while block.withUnsafeBytes({ write(descriptor, $0.baseAddress, $0.count) }) == size {}
    }
  }

  /// The index file can be written to no more, or not even be opened.
  @Test(.enabled(if: MountedDisk.isPossible, MountedDisk.reason), arguments: [true, false])
  func `documents are saved where index rows do not fit, and queries stay right`(isOpen: Bool) throws {
    try withSmallDisk { store, directory in
      try store.write { transaction in
        for number in 0..<400 { try transaction.createDocument(from: Self.wide(number)) }
      }
      // The documents' log begins again from here, so it has room.
      try withDatabase(of: "store", in: directory) { _ = try $0.scalar("PRAGMA wal_checkpoint") }
      try store.ensureIndexed(["n"], name: "by_n")
      for number in 0..<2 { try store.ensureIndexed(["a", "b"], name: "index \(number)") }
      let query = try Query(["n": ["$gte": 0]], sort: ["n"], useIndex: "by_n")
      if isOpen { #expect(try store.read { try $0.count(query) } == 400) }
      Self.takeTheRest(directory)
      var behind = 0
      let (saved, error) = fill(store) { number in
        try store.write { transaction in
          try transaction.createDocument(from: Self.wide(400 + number))
          try transaction.updateDocument(withID: "\(number)") { $0.body["n"] = -1 }
        }
        if try store.read({ try $0.explain(query) }).json["waiting"] != 0 { behind += 1 }
        #expect(try store.read { try $0.count(query) } == 400, "\(number)")
        #expect(try store.count(["n": -1]) == number + 1, "\(number)")
      }
      #expect(error?.code == .full)
      #expect(saved > 10)
      if isOpen { #expect(behind > 10, "\(behind) of \(saved)") }
      #expect(try store.read { try $0.documentCount() } == 400 + saved)
      let numbers = try store.read { try $0.find(query) }.compactMap { $0.body["n"]?.intValue }
      #expect(numbers == Array(saved..<400 + saved))
      #expect(try store.checkIntegrity() == [])

      for file in ["filler", "more"] { try FileManager.default.removeItem(atPath: "\(directory)/\(file)") }
      try store.createDocument(from: Self.wide(100_000))
      try store.updateIndexes()
      #expect(try store.read { try $0.explain(query) }.json["waiting"] == 0)
      let indexes = try store.listIndexes()
      let found = try store.checkIndexes()
      #expect(found == [], "\(found.map(\.description)) \(indexes.map(\.json.text)) \(saved)")
      #expect(try store.listIndexes().allSatisfy { $0.entries == 401 + saved })
      #expect(try store.count(["n": -1]) == saved)
    }
  }

  @Test(.enabled(if: MountedDisk.isPossible, MountedDisk.reason))
  func `compaction on a full disk gives space back, or says that it is full`() throws {
    try withSmallDisk { store, directory in
      try store.createDocument(from: DocumentDraft(id: "a", body: [:]))
      let text = JSONValue.string(String(repeating: "x", count: 20_000))
      let (_, error) = fill(store) { number in
        try store.updateDocument(withID: "a") { $0.body = ["n": .int(Int64(number)), "text": text] }
      }
      #expect(error?.code == .full)
      let before = try StoreState(store)
      do {
        try store.compact()
      } catch let error as DatastoreError {
        #expect(error.code == .full)
        try FileManager.default.removeItem(atPath: "\(directory)/filler")
        try store.compact()
      }
      #expect(try StoreState(store) == before)
      #expect(try store.sizeOnDisk() < 6 << 20)
      #expect(try store.checkIntegrity() == [])
    }
  }
}
