import CDTDatastore
import CDTTestSupport
import Foundation
import Testing

/// Compaction keeps the attachments of every state that is being read, in any process.
@Suite(.timeLimit(.usual)) struct AttachmentCompactionTests {
  private struct Report: Codable {
    let rounds: Int
    let failures: [String]
  }

  private static func draft(_ id: String, _ text: String) -> DocumentDraft {
    DocumentDraft(
      id: id, body: [:], attachments: [DocumentAttachment(data: Data(text.utf8), name: "a", contentType: "")])
  }

  @Test func `checks, exports and reads beside writers and compaction miss no attachment`() async throws {
    let directory = try temporaryDirectory()
    defer { removeDirectory(directory) }
    let manager = try DatastoreManager(directory: directory)
    defer { manager.close() }
    let store = try await manager.datastore(named: "store")
    for number in 0..<40 { try await store.createDocument(from: Self.draft("\(number)", "first")) }

    let seconds = ProcessInfo.processInfo.environment["STRESS_SECONDS"].flatMap(Int.init) ?? 3
    // Two writers, two that compact, three readers.
    let workers = try [0, 0, 1, 1, 2, 2, 2].map { role in
      try BuiltProgram("cdt-store-worker", ["attachments", directory, "\(role)", "\(seconds)"])
    }
    for worker in workers {
      let (status, output) = try await worker.ended()
      #expect(status == 0)
      let report = try JSONDecoder().decode(Report.self, from: Data(output.utf8))
      #expect(report.failures == [])
      #expect(report.rounds > 0)
    }
    try await store.compact()
    let findings = try await store.checkIntegrity()
    #expect(findings == [])
    #expect(store.attachmentFileNames.count <= 80)
  }

  @Test func `an attachment is kept while a state with it is read, and then removed`() throws {
    try withTemporaryDirectory { directory in
      let manager = try DatastoreManager(directory: directory)
      defer { manager.close() }
      var options = DatastoreOptions()
      options.busyTimeout = .milliseconds(50)
      let elsewhere = try DatastoreManager(directory: directory, options: options)
      defer { elsewhere.close() }
      let store = try manager.datastore(named: "store")
      try store.createDocument(from: Self.draft("a", "text"))
      let other = try elsewhere.datastore(named: "store")
      try store.read { snapshot in
        let document = try snapshot.document(withID: "a")
        try other.updateDocument(withID: "a") { $0.attachments = [] }
        let report = try other.compact()
        #expect(report.revisions == 1)
        #expect(report.attachments == 0)
        #expect(try document.attachments["a"]?.data() == Data("text".utf8))
        // A state that begins later does not need it.
        #expect(try store.read { try $0.attachmentCount() } == 0)
      }
      #expect(try other.compact().attachments == 1)
      #expect(store.attachmentFileNames == [])
    }
  }
}
