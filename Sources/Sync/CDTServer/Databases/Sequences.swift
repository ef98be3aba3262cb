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
  /// The documents that the user sees; `nil` for all.
  let visibility: Visibility?
  private let database: OpenDatabase
  /// `nil` for an admin.
  private let user: UserContext?
  /// The number after which the changes begin: 0, or that of a sequence that this database has given; 0 for a sequence of another
  /// database, of another user, or of a time with other rules of reading.
  private(set) var start: Int64 = 0
  /// The number after which a change can be of a document that the user has seen, and does not see any more.
  private(set) var leftAfter: Int64 = 0
  /// An array of the rules, as their number or digest, and the roles; `nil` for an admin.
  private let present: JSONValue?
  private var seen: [JSONValue] = []
  private var suffix = ""

  /// Changes of rules that a user has not read to the end; those before are forgotten.
  private static let maximumSeen = 8

  /// - Parameters:
  ///   - user: `nil` for an admin.
  ///   - number: The number of the rules; `nil` if they have none.
  ///   - sent: The text of the sequence with which the changes begin, or `now`; `nil` for the beginning.
  ///   - last: The number of the last change.
  /// - Throws: `CouchError`: 400 if the text is malformed.
  init(
    _ database: OpenDatabase, _ user: UserContext?, _ visibility: Visibility?, number: Int?,
    since sent: String?, last: Int64
  ) throws(CouchError) {
    (self.database, self.user, self.visibility) = (database, user, visibility)
    present = user.map { _ in
      let digest = { JSONValue.string(DatabaseSettings.digest(ofRules: visibility?.rules ?? "")) }
      let roles = visibility?.roles.map { JSONValue.string($0) } ?? []
      return .array([number.map { .int(Int64($0)) } ?? digest()] + roles)
    }
    setSeen([])
    start = try start(since: sent, last: last)
    leftAfter = start > 0 || seen.count > 1 ? 0 : last
  }

  /// The text of a sequence.
  func text(of sequence: Int64) -> String { "\(sequence)-\(database.created)\(suffix)" }

  /// The sequences after the user has read all changes.
  var ended: Sequences {
    var ended = self
    if seen.count > 1 { ended.setSeen([]) }
    return ended
  }

  /// Notes what the user saw before the present state.
  private mutating func setSeen(_ earlier: [JSONValue]) {
    guard let present else { return }
    seen = earlier.filter { $0 != present }.suffix(Self.maximumSeen - 1) + [present]
    let text = JSONValue.array(seen).utf8Text
    suffix = ".\(Base64.urlText(text)).\(Base64.urlText(code(of: text)))"
  }

  private func code(of text: [UInt8]) -> [UInt8] {
    let name: JSONValue = user?.name.map { .string($0) } ?? .null
    let message = JSONValue.array([.string(database.created), name]).utf8Text + text
    let code = AuthenticationCode.hmacSHA256(message, key: Array(database.settings.secret.utf8))
    return Array(code.prefix(16))
  }

  /// The documents that the user saw at the times of the sequence with which the changes begin, and sees now.
  var visibilities: [any DocumentVisibility] {
    seen.compactMap { seen in
      guard let parts = seen.arrayValue, let name = parts.first else { return nil }
      let known = name.intValue.flatMap { database.settings.rules(numbered: $0) }
      let isPresent = name == present?.arrayValue?.first
      guard let rules = known ?? (isPresent ? visibility?.rules : nil) else { return nil }
      let roles = parts.dropFirst().compactMap(\.stringValue)
      let user = UserContext(name: user?.name, roles: roles)
      return database.rules.visibility(under: rules, for: user, inDatabase: database.name)
    }
  }

  /// Reads what the user has seen by a sequence.
  ///
  /// - Returns: The number after which the changes begin.
  private mutating func start(since sent: String?, last: Int64) throws(CouchError) -> Int64 {
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
    if present == nil { return sequence }
    guard rest.count == 3 else { return visibility == nil ? sequence : 0 }
    guard let json = Base64.decodeURLText(rest[1]), let code = Base64.decodeURLText(rest[2]),
      AuthenticationCode.areEqual(code, self.code(of: json)),
      let list = (try? JSONValue(parsing: json))?.arrayValue
    else { return 0 }
    setSeen(list)
    return list.last == present ? sequence : 0
  }
}
