import CDTDatastore
import CDTJSON
import CDTQuery
import CDTTestSupport
import Foundation
import Glibc
import Testing

/// Deleting a datastore that is in use.
@Suite struct DeletionTests {
  @Test func `a datastore goes with its indexes and attachments, under open readers`() throws {
    try withTemporaryDirectory { directory in
      let manager = try DatastoreManager(directory: directory)
      let store = try manager.datastore(named: "store")
      let content = Data(repeating: 7, count: 600_000)
      try store.write { transaction in
        for number in 0..<100 {
          try transaction.createDocument(
            from: DocumentDraft(
              id: "\(number)", body: ["n": .int(Int64(number))],
              attachments: [DocumentAttachment(data: content, name: "x", contentType: "")]))
        }
      }
      try store.ensureIndexed(["n"], name: "by_n")
      let results = try store.results(for: Query(["n": ["$gte": 50]]))
      let first = try #require(try results.next())
      let attachment = try #require(first.attachments["x"])
      try attachment.write(toFile: "\(directory)/copy")

      var given = 0
      try attachment.forEachChunk { chunk in
        if given == 0 { try manager.deleteDatastore(named: "store") }
        given += chunk.count
      }
      #expect(given == content.count)
      #expect(try FileManager.default.contentsOfDirectory(atPath: directory) == ["copy"])
      #expect(datastoreError { try attachment.data() }?.code == .closed)
      #expect(datastoreError { try store.find([:]) }?.code == .closed)
      // What was begun either goes on or says that the datastore is closed.
      do {
        #expect(try results.documents().count == 49)
      } catch let error as DatastoreError {
        #expect(error.code == .closed)
      }
      results.close()
      #expect(openFiles(below: directory) == 0)

      let again = try manager.datastore(named: "store")
      #expect(try again.read { try $0.documentCount() } == 0)
      #expect(try again.listIndexes().isEmpty)
      #expect(again.attachmentFileNames == [])
    }
  }

  @Test func `threads that write, read and delete at once meet only what is documented`() throws {
    try withTemporaryDirectory { directory in
      let manager = try DatastoreManager(directory: directory)
      let expected: Set<DatastoreError.Code> = [.closed, .notFound]
      onThreads(6) { thread in
        for round in 0..<30 {
          do {
            let store = try manager.datastore(named: "store")
            if thread == 0 {
              try manager.deleteDatastore(named: "store")
            } else {
              let data = Data("\(thread) \(round)".utf8)
              let saved = try store.createDocument(
                from: DocumentDraft(
                  body: [:], attachments: [DocumentAttachment(data: data, name: "x", contentType: "")]))
              guard try saved.attachments["x"]?.data() == data else { throw CocoaError(.fileReadUnknown) }
              _ = try store.read { try $0.allDocuments() }
            }
          } catch let error as DatastoreError where expected.contains(error.code) {
          } catch {
            Issue.record("\(error)")
          }
        }
      }
      let entries = try FileManager.default.contentsOfDirectory(atPath: directory)
      #expect(entries == [] || entries == ["store"])
      let findings = try manager.datastore(named: "store").checkIntegrity()
      #expect(findings == [])
    }
  }

  @Test(.enabled(if: geteuid() != 0, "root is not held back by permissions"))
  func `a store that can't be written is refused and left as it is`() throws {
    try withTemporaryDirectory { directory in
      let manager = try DatastoreManager(directory: directory)
      let store = try manager.datastore(named: "store")
      let saved = try store.createDocument(
        from: DocumentDraft(
          id: "a", body: [:],
          attachments: [DocumentAttachment(data: Data("x".utf8), name: "x", contentType: "")]))
      let attachments = "\(store.directory)/attachments"
      let files = FileManager.default
      try files.setAttributes([.posixPermissions: 0o500], ofItemAtPath: attachments)
      var changed = saved
      changed.attachments["y"] = DocumentAttachment(data: Data("y".utf8), name: "y", contentType: "")
      #expect(datastoreError { try store.updateDocument(from: changed) }?.code == .io)
      #expect(try store.document(withID: "a") == saved)
      try files.setAttributes([.posixPermissions: 0o700], ofItemAtPath: attachments)

      try manager.closeDatastore(named: "store")
      for (path, mode) in [("\(store.directory)/db.sync", 0o400), (store.directory, 0o500)] {
        try files.setAttributes([.posixPermissions: mode], ofItemAtPath: path)
      }
      defer { try? files.setAttributes([.posixPermissions: 0o700], ofItemAtPath: store.directory) }
      #expect(datastoreError { try manager.datastore(named: "store") }?.code == .io)
    }
  }
}
