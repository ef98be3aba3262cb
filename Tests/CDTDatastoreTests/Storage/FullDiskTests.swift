import CDTDatastore
import Foundation
import JSON
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
        try store.createDocument(from: DocumentRevision(id: "\(number)", body: ["text": text]))
      }
      #expect(saved > 10)
      #expect(error?.code == .full)
      #expect(error?.status == 507)
      let before = try StoreState(store)
      #expect(before.count == saved)
      for _ in 0..<3 {
        let again = datastoreError {
          try store.createDocument(from: DocumentRevision(id: "more", body: ["text": text]))
        }
        #expect(again?.code == .full)
      }
      #expect(try StoreState(store) == before)
      #expect(try store.checkIntegrity() == [])

      try FileManager.default.removeItem(atPath: "\(directory)/filler")
      try store.createDocument(from: DocumentRevision(id: "more", body: ["text": text]))
      #expect(try store.documentCount == saved + 1)
      #expect(try store.checkIntegrity() == [])
    }
  }

  @Test(.enabled(if: MountedDisk.isPossible, MountedDisk.reason))
  func `an attachment that does not fit leaves no file`() throws {
    try withSmallDisk { store, directory in
      var revision = try store.createDocument(from: DocumentRevision(id: "a", body: [:]))
      revision.attachments = [Attachment(data: Data(count: Self.size), name: "x", type: "")]
      let source = Attachment(file: "/proc/self/exe", name: "x", type: "")
      let attempts: [() throws -> Void] = [
        { try store.updateDocument(from: revision) },
        { try store.createDocument(from: DocumentRevision(body: [:], attachments: [source])) },
        { try store.write { _ = try $0.updateDocument(withID: "a") { $0.attachments = [source] } } },
      ]
      for attempt in attempts {
        let error = datastoreError(attempt)
        #expect(error?.code == .full)
        #expect(store.attachmentFileNames == [])
      }
      #expect(try store.documentCount == 1)
      revision.attachments = [Attachment(data: Data(count: 1 << 19), name: "x", type: "")]
      try store.updateDocument(from: revision)
      #expect(try store.checkIntegrity() == [])
    }
  }

  @Test(.enabled(if: MountedDisk.isPossible, MountedDisk.reason))
  func `compaction on a full disk gives space back, or says that it is full`() throws {
    try withSmallDisk { store, directory in
      try store.createDocument(from: DocumentRevision(id: "a", body: [:]))
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
