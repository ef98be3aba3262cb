import CDTDatastore
import CDTImport
import CDTSQLite
import Foundation
import Synchronization
import Testing

/// Documents larger than SQLite can store. The limit is lowered here; by default it is 1,000,000,000 bytes.
@Suite struct LargeDocumentTests {
  private func withLimitedDatastore(_ body: (Datastore) throws -> Void) throws {
    try withTemporaryDatastore { store in
      try store.write { try $0.connection().maximumLength = 20_000 }
      try body(store)
    }
  }

  private static let text = JSONValue.string(String(repeating: "x", count: 20_000))

  @Test func `an import reports its line, or goes on without it`() throws {
    try withLimitedDatastore { store in
      let file = "\(store.directory)/../large.jsonl"
      let lines = [#"{"_id":"a"}"#, #"{"_id":"b","text":\#(Self.text.text)}"#, #"{"_id":"c"}"#]
      try lines.joined(separator: "\n").write(toFile: file, atomically: true, encoding: .utf8)
      let message =
        #"document "b" has 20012 bytes, but SQLite can't store more than 19000; split it, or save a part as an attachment"#
      let expected = "\(file):2: \(message)"
      var importer = DocumentImporter(into: store)
      #expect { try importer.run([file]) } throws: { ($0 as? ImportError)?.description == expected }
      #expect(try store.read { try $0.documentCount() } == 0)

      let problems = Mutex<[String]>([])
      importer.continuesOnError = true
      importer.onInvalidDocument = { problem in problems.withLock { $0.append(problem.description) } }
      for _ in 0..<2 {
        importer.onConflict = .replace
        let report = try importer.run([file])
        #expect(report.failed == 1)
        #expect(report.written == 2)
      }
      #expect(problems.withLock { $0 } == [expected, expected])
      #expect(try store.read { try $0.allDocumentIDs() } == ["a", "c"])
      #expect(try store.checkIntegrity() == [])
    }
  }

  @Test func `a write of one is refused, and the transaction goes on`() throws {
    try withLimitedDatastore { store in
      let small = try store.createDocument(from: DocumentDraft(id: "a", body: [:]))
      try store.write { transaction in
        let error = datastoreError {
          try transaction.createDocument(from: DocumentDraft(id: "b", body: ["text": Self.text]))
        }
        #expect(error?.code == .invalidBody)
        #expect(error?.documentID == "b")
        let update = datastoreError {
          try transaction.updateDocument(withID: "a") { $0.body["text"] = Self.text }
        }
        #expect(update?.code == .invalidBody)
        let forced = DocumentRevision(id: "a", revisionID: small.revisionID, body: ["text": Self.text])
        #expect(datastoreError { try transaction.forceInsert(forced) }?.code == .invalidBody)
        try transaction.createDocument(from: DocumentDraft(id: "c", body: [:]))
      }
      #expect(try store.read { try $0.allDocumentIDs() } == ["a", "c"])
      #expect(try store.document(withID: "a") == small)
    }
  }
}
