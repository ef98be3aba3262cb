import CDTCommandLine
import CDTDatastore
import CDTPlatform
import CDTQuery
import CDTQueryTesting
import CDTReplication

/// A database at a server with a fixture's documents.
struct FixtureDatabase {
  private let fixture: QueryFixture
  private let database: RemoteDatabase

  init(_ fixture: QueryFixture, _ database: RemoteDatabase) {
    self.fixture = fixture
    self.database = database
  }

  /// Runs the cases, and deletes the database.
  func run() async throws -> [FixtureOutcome] {
    let remote = RemoteDatastore(database, textIndex: fixture.indexes.first { $0.type == .text })
    try await remote.createDatabase()
    do {
      try await fill()
      var findings = try await fixture.findings("at the server") {
        try await remote.find($0)
      } count: {
        try await remote.count($0)
      }
      for index in fixture.indexes where index.type == .json {
        try await remote.createIndex(on: index.fields.map(\.path))
      }
      let indexed = try await fixture.findings("at the server, with indexes") {
        try await remote.find($0)
      } count: {
        try await remote.count($0)
      }
      for number in findings.indices { findings[number] += indexed[number] }
      try await remote.deleteDatabase()
      return fixture.outcomes(findings)
    } catch {
      try? await remote.deleteDatabase()
      throw error
    }
  }

  /// Documents are pushed from a store.
  private func fill() async throws {
    let directory = try FixtureFiles.makeDirectory()
    defer { try? Files.removeTree(directory) }
    let manager = try DatastoreManager(directory: directory)
    let store = try await manager.datastore(named: "fixture")
    try await store.write { transaction in
      for document in fixture.documents {
        try transaction.createDocument(from: DocumentDraft(id: document.id, body: document.body))
      }
    }
    let result = try await Replicator(Replication(.push, with: database), of: store).replicate()
    if let rejected = result.rejected.first {
      throw ToolError(.data, "\(fixture.name): the server rejects \(rejected.id): \(rejected.reason)")
    }
  }
}
