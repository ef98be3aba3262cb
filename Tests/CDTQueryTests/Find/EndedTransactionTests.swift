import CDTSQLite
import Testing

@testable import CDTDatastore
@testable import CDTQuery
@testable import CDTSelector

@Suite struct EndedTransactionTests {
  /// SQLite may end a transaction itself, after an I/O error for example. What follows must not be saved statement by
  /// statement.
  @Test func `a write that SQLite has ended is not continued`() throws {
    try withTemporaryDatastore { store in
      let error = #expect(throws: DatastoreError.self) {
        try store.write { transaction in
          try transaction.createDocument(from: DocumentDraft(id: "a", body: [:]))
          try transaction.connection().rollBack()
          let later: [() throws -> Void] = [
            { try transaction.createDocument(from: DocumentDraft(id: "b", body: [:])) },
            { _ = try transaction.count(Query([:])) },
          ]
          for use in later { #expect((try? use()) == nil) }
        }
      }
      #expect(error?.code == .io)
      #expect(try store.read { try $0.documentCount() } == 0)
      try store.createDocument(from: DocumentDraft(id: "c", body: [:]))
      #expect(try store.read { try $0.allDocumentIDs() } == ["c"])
    }
  }
}
