import CDTQuery
import CDTReplication
import Foundation

/// The tools that neighbours lend each other, on the device of one of them.
///
/// It has no state of its own: the store is the state, and a view is a query. An app for a phone uses this file and the models as
/// they are; `docs/apple.md` shows a list of it.
struct ToolLibrary: Sendable {
  let store: Datastore
  /// The neighbour whose device this is.
  let user: Person.ID

  /// Opens the library in a directory. The files are encrypted, and each write is checked by the rules as one of the user.
  init(directory: String, user: Person.ID, passphrase: String) async throws {
    var options = DatastoreOptions(encryption: .passphrase(passphrase))
    options.rules = .enforced(as: UserContext(name: user))
    store = try await DatastoreManager(directory: directory, options: options).datastore(named: "library")
    self.user = user
    try await store.ensureIndexed(Tool.self, \.kind, \.name)
    try await store.ensureIndexed(Tool.self, \.name, \.notes, options: .text(.porter))
  }

  // MARK: People and tools

  /// Saves the user as a neighbour, or gives the user another name.
  func join(as name: String) async throws {
    let (user, known) = (user, try await store.documents(withIDs: [user]).first?.revisionID)
    try await store.save(Person(id: user, revision: known, name: name))
  }

  @discardableResult
  func offer(_ name: String, notes: String = "") async throws -> Tool {
    try await store.save(Tool(name: name, notes: notes, owner: Reference(id: user)))
  }

  /// The tools by name: as they are now, and again after every change, also one that a replication brings.
  func tools() throws -> LiveQuery<Tool> {
    try store.live(Tool.self, where: { $0.kind == .tool }, sort: \.name.ascending)
  }

  /// The tools that have all words in their names and notes, also other forms of the words.
  func search(_ words: String) async throws -> [Tool] {
    try await store.find(
      Tool.self, where: { $0.kind == .tool && $0.search(for: words) }, sort: \.name.ascending)
  }

  // MARK: Loans

  /// A loan with its tool and the neighbour who has it, if they are on this device.
  typealias OpenLoan = (loan: Loan, tool: Tool?, borrower: Person?)

  /// The tools that are lent, the longest first.
  func openLoans() async throws -> [OpenLoan] {
    let query = try ModelQuery(
      Loan.self, where: { $0.kind == .loan && $0.returned == nil }, sort: \.since.ascending
    )
    .including(\.tool)
    .including(\.borrower)
    let (loans, tools, people) = try await store.read { try $0.find(query) }
    return loans.map { ($0, tools[$0.tool], people[$0.borrower]) }
  }

  /// Lends a tool to the user. Nobody can lend it in the middle of the transaction.
  @discardableResult
  func borrow(_ tool: Tool) async throws -> Loan {
    let user = user
    return try await store.write { transaction in
      let open = try ModelQuery(Loan.self, where: { $0.tool == Reference(tool) && $0.returned == nil })
      if let loan = try transaction.first(open) { throw LibraryError.lent(tool.name, loan.borrower.id) }
      return try transaction.save(
        Loan(tool: Reference(tool), owner: tool.owner, borrower: Reference(id: user)))
    }
  }

  func giveBack(_ loan: Loan) async throws {
    try await store.update(Loan.self, where: { $0.id == loan.id }, .set(\.returned, .now))
  }

  /// Notes a remark on a loan, such as that the tool is missed.
  func remark(_ text: String, on loan: Loan) async throws {
    try await store.update(Loan.self, where: { $0.id == loan.id }, .set(\.remark, text))
  }

  // MARK: Sync

  /// The rules of the server and of every device.
  static let rules: JSONObject = [
    "validate_doc_update": [
      "$if": ["newDoc._deleted": ["$exists": false]],
      "$then": [
        "$or": [
          ["newDoc.kind": "person", "newDoc._id": ["$data": "userCtx.name"]],
          ["newDoc.kind": "tool", "newDoc.owner": ["$data": "userCtx.name"]],
          ["newDoc.kind": "loan", "newDoc.owner": ["$data": "userCtx.name"]],
          ["newDoc.kind": "loan", "newDoc.borrower": ["$data": "userCtx.name"]],
        ],
        "$reason": "neighbours change only what is theirs",
      ],
    ]
  ]

  /// Exchanges changes with a server, and merges loans that were changed in two places.
  func sync(with url: String, password: String) async throws {
    let database = try RemoteDatabase(url, credentials: .basic(user, password))
    var replication = Replication(.both, with: database)
    // The server has checked what others have written, as them.
    replication.enforcesRules = false
    repeat {
      try await Replicator(replication, of: store).replicate()
    } while try await merge() > 0
  }

  /// Merges the versions of loans of the user: one side may have returned a tool while the other has noted a remark.
  ///
  /// - Returns: The number of loans that were merged.
  func merge() async throws -> Int {
    let user = user
    return try await store.write { transaction in
      let mine = try transaction.conflictedDocumentIDs().filter { id in
        let body = try transaction.document(withID: id).body
        return body["kind"] == "loan" && [body["owner"], body["borrower"]].contains(.string(user))
      }
      // Each field is that of the side that has changed it. What both have changed is left to people.
      let left = try transaction.resolveConflicts(Loan.self, ids: mine, by: .fields)
      return mine.count - left.count
    }
  }
}

/// An error that people make.
enum LibraryError: Error, CustomStringConvertible {
  case lent(_ tool: String, Person.ID)
  case unknown(_ tool: String)
  case notLent(_ tool: String)

  var description: String {
    switch self {
    case .lent(let tool, let person): "the \(tool) is lent to \(person); ask when it comes back"
    case .unknown(let tool): "nobody offers a \(tool); sync, or choose a name of \"borrow list\""
    case .notLent(let tool): "the \(tool) is not lent"
    }
  }
}
