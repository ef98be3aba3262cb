import CDTDatastore
import CDTPlatform
import CDTSQLite
import CDTTestSupport
import Testing

/// When revisions were written to a store, and by whom.
@Suite struct ArrivalTests {
  /// The marks of writers, on a connection of their own.
  private struct Marks {
    let connection: Connection

    init() throws {
      connection = try Connection(path: ":memory:", mode: .readWriteCreate)
      try connection.execute("CREATE TABLE meta (key TEXT PRIMARY KEY, value NOT NULL) WITHOUT ROWID")
      try connection.execute("INSERT INTO meta VALUES ('store', 'x'), ('winners', 'bytes')")
      try connection.execute("CREATE TABLE documents (sequence INTEGER); INSERT INTO documents VALUES (0)")
    }

    /// Writes changes as one transaction of a writer.
    func write(
      _ sequences: ClosedRange<Int64>, by user: String? = nil, at time: Int64, with writer: inout ArrivalMarks
    ) throws {
      for sequence in sequences { try writer.note(sequence, by: user, now: time, on: connection) }
      try connection.execute("UPDATE documents SET sequence = \(sequences.upperBound)")
      try writer.finish(on: connection)
    }

    func at(_ sequence: Int64) throws -> String {
      guard let arrival = try ArrivalMarks.arrival(of: sequence, on: connection) else { return "unknown" }
      return "\(Int(arrival.time.timeIntervalSince1970)) \(arrival.user ?? "-")"
    }

    var count: Int64 {
      get throws { try connection.scalar("SELECT count(*) FROM meta WHERE key LIKE 'arrival:%'") }
    }
  }

  @Test func `changes within a minute share a mark`() throws {
    let marks = try Marks()
    var writer = ArrivalMarks()
    for sequence in Int64(5)...204 {
      try marks.write(sequence...sequence, at: 1_000 + sequence, with: &writer)
    }
    #expect(try marks.count == 4)
    #expect(try marks.at(4) == "unknown")
    #expect(try marks.at(5) == "1005 -")
    #expect(try marks.at(64) == "1005 -")
    #expect(try marks.at(65) == "1065 -")
    #expect(try marks.at(.max) == "1185 -")
    // The clock was set back.
    try marks.write(205...205, at: 900, with: &writer)
    #expect(try marks.at(205) == "900 -")
  }

  @Test func `the changes of a user are those of visible documents, with any writes in between`() throws {
    let marks = try Marks()
    var (server, app, other) = (ArrivalMarks(), ArrivalMarks(), ArrivalMarks())
    try marks.write(1...1, at: 0, with: &app)
    try marks.write(2...2, by: "anna", at: 1, with: &server)
    // The app's mark is recent, so it sets none.
    try marks.write(3...3, at: 2, with: &app)
    try marks.write(4...5, by: "anna", at: 3, with: &server)
    try marks.write(6...6, by: "anna", at: 4, with: &server)
    try marks.write(7...7, by: "bob b", at: 5, with: &other)
    try marks.write(8...8, by: "anna", at: 6, with: &server)
    try marks.write(9...9, at: 7, with: &server)
    let expected = ["0 -", "1 anna", "1 -", "3 anna", "3 anna", "3 anna", "5 bob b", "6 anna", "7 -", "7 -"]
    #expect(try (1...10).map { try marks.at($0) } == expected)
    #expect(try marks.connection.scalar("SELECT count(*) FROM meta WHERE key NOT LIKE 'arrival:%'") == 2)
  }

  @Test func `many changes of one user share a mark, and sequences that come again have new ones`() throws {
    let marks = try Marks()
    var writer = ArrivalMarks()
    for sequence in Int64(1)...50 { try marks.write(sequence...sequence, by: "anna", at: 10, with: &writer) }
    #expect(try marks.count == 2)
    var restored = ArrivalMarks()
    try marks.write(20...20, at: 90, with: &restored)
    #expect(try [19, 20, 50].map { try marks.at($0) } == ["10 anna", "90 -", "90 -"])
  }

  @Test func `the oldest marks are removed while a writer goes on`() throws {
    let marks = try Marks()
    var writer = ArrivalMarks()
    try marks.connection.transaction(.immediate) {
      for sequence in Int64(1)...30_000 {
        try marks.write(sequence...sequence, by: sequence % 2 == 0 ? "anna" : "bob", at: 5, with: &writer)
      }
    }
    #expect(try (20_000...22_001).contains(marks.count))
    #expect(try [30_000, 29_999].map { try marks.at($0) } == ["5 anna", "5 bob"])
  }

  @Test func `revisions of a store have their times, also those that another connection has written`() throws
  {
    try withTemporaryDirectory { directory in
      let managers = try (0..<2).map { _ in try DatastoreManager(directory: directory) }
      defer { for manager in managers { manager.close() } }
      let stores = try managers.map { try $0.datastore(named: "store") }
      let before = Int(Date.now.timeIntervalSince1970)
      var document = try stores[0].createDocument(from: DocumentDraft(id: "a", body: ["n": 1]))
      document.body = ["n": 2]
      try stores[1].updateDocument(from: document)
      for store in stores {
        let arrival = try #require(try store.read { try $0.arrival(of: $0.document(withID: "a")) })
        #expect(abs(Int(arrival.time.timeIntervalSince1970) - before) <= 120)
        #expect(arrival.user == nil)
      }
    }
  }
}
