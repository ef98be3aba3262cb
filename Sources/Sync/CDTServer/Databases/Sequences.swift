import CDTDatastore
import CDTDigest
import CDTJSON
import CDTQuery
import CouchDB

/// The sequences that a user is given, as texts: a number, the database, and for all but admins what the user has seen by then.
///
///     12-1732791600000000                             for an admin
///     12-1732791600000000.W1szLCJzYWxlcyJdXQ.3fJ0…    for others: [[3,"sales"]], authenticated
///
/// What was seen is a list of reading rules, each with the roles that the user had. Rules are named by their number
/// (``DatabaseSettings``), or by a digest if the store can only be read and they have none. The last entry is that of the time of the
/// sequence. If rules or roles have changed since, changes begin again, and the present state is appended, until the user has read all
/// changes: what left by the change is listed once.
struct Sequences: Sendable {
  /// The rules and roles that decide which documents the user sees; `nil` for an admin.
  let state: ReadingState?
  private let database: OpenDatabase
  private let user: UserContext
  /// `nil` for an admin.
  private let present: Seen?
  private var seen: [Seen] = []
  private var suffix = ""

  private struct Seen: Sendable, Hashable {
    /// A number, or the digest of a text.
    let rules: JSONValue
    let roles: [String]

    var json: JSONValue { .array([rules] + roles.map { .string($0) }) }

    init(rules: JSONValue, roles: [String]) {
      (self.rules, self.roles) = (rules, roles)
    }

    init?(_ json: JSONValue) {
      guard case .array(let parts) = json, let rules = parts.first else { return nil }
      self.init(rules: rules, roles: parts.dropFirst().compactMap(\.stringValue))
    }
  }

  /// Changes of rules that a user has not read to the end; those before are forgotten.
  private static let maximumSeen = 8

  init(_ database: OpenDatabase, _ user: UserContext, _ state: ReadingState?, number: Int?) {
    (self.database, self.user, self.state) = (database, user, state)
    present = state.map { state in
      let digest = JSONValue.string(DatabaseSettings.digest(ofRules: state.rules))
      return Seen(rules: number.map { .int(Int64($0)) } ?? digest, roles: state.roles)
    }
    setSeen([])
  }

  /// The text of a sequence.
  func text(of sequence: Int64) -> String { "\(sequence)-\(database.created)\(suffix)" }

  /// Whether rules or roles have changed since the sequence with which the changes begin.
  var hasChanged: Bool { seen.count > 1 }

  /// Whether rules may withhold documents from the user.
  var isRestricted: Bool { state.map { !$0.rules.isEmpty } ?? false }

  /// Notes that the user has read all changes.
  mutating func noteEnd() { if seen.count > 1 { setSeen([]) } }

  /// Notes what the user saw before the present state.
  private mutating func setSeen(_ earlier: [Seen]) {
    guard let present else { return }
    seen = earlier.filter { $0 != present }.suffix(Self.maximumSeen - 1) + [present]
    let text = JSONValue.array(seen.map(\.json)).utf8Text
    suffix = ".\(Base64.urlText(text)).\(Base64.urlText(code(of: text)))"
  }

  private func code(of text: [UInt8]) -> [UInt8] {
    let name: JSONValue = user.name.map { .string($0) } ?? .null
    let message = JSONValue.array([.string(database.created), name]).utf8Text + text
    let code = AuthenticationCode.hmacSHA256(message, key: Array(database.settings.secret.utf8))
    return Array(code.prefix(16))
  }

  /// The documents that the user saw at the times of the sequence with which the changes begin, and sees now.
  var visibilities: [any DocumentVisibility] {
    seen.compactMap { seen in
      let known = seen.rules.intValue.flatMap { database.settings.rules(numbered: $0) }
      guard let rules = known ?? (seen.rules == present?.rules ? state?.rules : nil) else { return nil }
      return ReadingState(rules: rules, roles: seen.roles)
        .visibility(for: user.name, inDatabase: database.name) ?? EverythingVisible()
    }
  }

  /// The number after which the changes begin that follow a sequence: 0, or that of a sequence that this database has given; 0 for one
  /// of another database, of another user, or of a time with other rules of reading.
  mutating func start(since sent: String?, last: Int64) throws(CouchError) -> Int64 {
    guard var text = sent?[...] else { return 0 }
    // Clients send it as JSON, too.
    if text.utf8.count > 1, text.hasPrefix("\""), text.hasSuffix("\"") { text = text.dropFirst().dropLast() }
    if text == "now" { return last }
    if text == "0" { return 0 }
    let parts = text.split(separator: "-", maxSplits: 1)
    guard parts.count == 2, let sequence = Int64(parts[0]), sequence >= 0 else {
      throw .badRequest("Malformed sequence supplied in 'since' parameter.")
    }
    let rest = parts[1].split(separator: ".", omittingEmptySubsequences: false)
    // A later one is from before a backup was restored.
    guard rest[0] == database.created, sequence <= last else { return 0 }
    guard let state else { return sequence }
    guard rest.count == 3 else { return state.rules.isEmpty ? sequence : 0 }
    guard let json = Base64.decodeURLText(rest[1]), let code = Base64.decodeURLText(rest[2]),
      AuthenticationCode.areEqual(code, self.code(of: json)),
      let list = (try? JSONValue(parsing: json))?.arrayValue
    else { return 0 }
    let sent = list.compactMap(Seen.init)
    setSeen(sent)
    return sent.last == present ? sequence : 0
  }
}

/// Shows every document.
private struct EverythingVisible: DocumentVisibility {
  func shows(_ document: StoredParts) -> Bool { true }
}
