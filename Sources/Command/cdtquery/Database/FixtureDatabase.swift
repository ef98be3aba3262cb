#if Replication
  import CDTDatastore
  import CDTJSON
  import CDTPlatform
  import CDTQuery
  import CDTQueryTesting
  import CDTRemote
  import CDTReplication

  /// A server at which fixtures are run.
  struct FixtureServer: FixturePlace {
    private let root: String
    /// The credentials and the trust that the databases have.
    private let model: RemoteDatabase

    init(_ url: String, _ options: ServerOptions) throws {
      root = url.hasSuffix("/") ? String(url.dropLast()) : url
      model = try options.database("\(root)/cdtquery_test")
    }

    /// Runs the cases with a database that exists meanwhile.
    func run(_ fixture: QueryFixture) throws -> [FixtureOutcome] {
      var database = try RemoteDatabase(
        "\(root)/cdtquery_test_\(RandomID.digits().prefix(8))", credentials: model.credentials)
      database.tls = model.tls
      let filled = FixtureDatabase(fixture, database)
      return try waiting { try await filled.run() }
    }
  }

  /// A database at a server with a fixture's documents.
  private struct FixtureDatabase {
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
        var findings = try await findings("at the server", remote)
        var definitions: [JSONValue] = []
        for index in fixture.indexes where index.type == .json {
          do {
            let fields = JSONValue.array(index.fields.map { .string($0.path) })
            definitions.append(.string(try await remote.createIndex(["fields": fields]).id))
          } catch let error as ReplicationError where error.status == 400 {
            // CouchDB can't have an index of these fields.
          }
        }
        let indexed = try await self.findings("at the server, with indexes", remote, without: definitions)
        for number in findings.indices { findings[number] += indexed[number] }
        try await remote.deleteDatabase()
        return fixture.outcomes(findings)
      } catch {
        try? await remote.deleteDatabase()
        throw error
      }
    }

    /// - Parameter ids: Documents that are not in the file: CouchDB keeps indexes in design documents.
    private func findings(
      _ way: String, _ remote: RemoteDatastore, without ids: [JSONValue] = []
    ) async throws -> [[FixtureOutcome.Finding]] {
      let others = Clause.field(try FieldPath("_id"), .among(ids)).complement
      func requested(_ query: Query) -> Query {
        var requested = query
        if !ids.isEmpty { requested.selector = QuerySelector(clause: .all([query.selector.clause, others])) }
        return requested
      }
      return try await fixture.findings(way) {
        try await remote.find(requested($0))
      } count: {
        try await remote.count(requested($0))
      }
    }

    /// Documents are pushed from a store.
    private func fill() async throws {
      let directory = try LocalFixtures.makeDirectory()
      defer { withExtendedLifetime(directory) {} }
      let manager = try DatastoreManager(directory: directory.path)
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
#endif
