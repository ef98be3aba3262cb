import CDTDatastore
import CDTDigest
import CDTJSON
import CDTPlatform
import CouchDB

/// The settings that the server stores with a database: a local document whose id no client can use.
struct DatabaseSettings: Sendable {
  /// The time at which the server first saw the database, in microseconds since 1970.
  var created: String
  /// The object that clients set at `_security`; `nil` if none did.
  var security: JSONObject?
  /// The number that clients set at `_revs_limit`; `nil` if none did.
  var revisionsLimit: Int?
  /// Authenticates what sequences say of the documents that a user saw. In hexadecimal.
  private(set) var secret: String
  /// The texts of reading rules that there have been, by number, those that are too long as digests.
  private(set) var rules: [(number: Int, text: String)] = []

  private static let id = DatabaseIdentity.id

  /// Whether the id of a local document is not for clients.
  static func isReserved(_ id: String) -> Bool { id.utf8.first == 1 }

  /// The settings of a datastore, saved when they are read for the first time.
  ///
  /// - Parameter known: The settings so far, if they were read before.
  static func of(_ store: Datastore, known: DatabaseSettings? = nil) async throws -> DatabaseSettings {
    if let known = try await store.readDocuments({ try $0.localDocument(withID: id) }) {
      return DatabaseSettings(known)
    }
    do {
      return try await change(of: store) { _ in }
    } catch let error as DatastoreError where [.io, .full].contains(error.code) {
      // A store that can only be read has other settings in each run.
      return known ?? DatabaseSettings()
    }
  }

  /// Changes the settings in a transaction, as another server may change them, too.
  static func change(
    of store: Datastore, _ change: @escaping @Sendable (inout DatabaseSettings) -> Void
  ) async throws -> DatabaseSettings {
    try await store.write { transaction in
      var settings =
        try transaction.localDocument(withID: id).map { DatabaseSettings($0) } ?? DatabaseSettings()
      change(&settings)
      try transaction.setLocalDocument(settings.json, withID: id)
      return settings
    }
  }

  private init() {
    created = DatabaseIdentity.now()
    secret = RandomID.digits() + RandomID.digits()
  }

  private init(_ json: JSONObject) {
    self.init()
    if case .string(let text)? = json[DatabaseIdentity.created] { created = text }
    if case .object(let object)? = json["security"] { security = object }
    if let limit = json["revisionsLimit"]?.intValue { revisionsLimit = limit }
    if let text = json["secret"]?.stringValue { secret = text }
    for entry in json["readingRules"]?.arrayValue ?? [] {
      guard let number = entry["number"]?.intValue, let text = entry["text"]?.stringValue else { continue }
      rules.append((number, text))
    }
  }

  private var json: JSONObject {
    var json: JSONObject = [DatabaseIdentity.created: .string(created)]
    if let security { json["security"] = .object(security) }
    if let revisionsLimit { json["revisionsLimit"] = .int(Int64(revisionsLimit)) }
    json["secret"] = .string(secret)
    if !rules.isEmpty {
      json["readingRules"] = .array(
        rules.map { ["number": .int(Int64($0.number)), "text": .string($0.text)] })
    }
    return json
  }

  // MARK: Rules of reading

  private static let maximumRules = 20
  private static let maximumLength = 1 << 20

  /// The number of a text that was added; 0 is that of no rules.
  func number(ofRules text: String) -> Int? {
    text.isEmpty ? 0 : rules.last { $0.text == Self.stored(text) }?.number
  }

  /// The text with a number; `nil` if it is unknown or was too long.
  func rules(numbered number: Int) -> String? {
    guard number > 0 else { return "" }
    return rules.first { $0.number == number && !$0.text.hasPrefix("#") }?.text
  }

  /// Adds a text of rules. Those of the oldest are forgotten.
  mutating func add(rules text: String) {
    guard number(ofRules: text) == nil else { return }
    rules.append(((rules.last?.number ?? 0) + 1, Self.stored(text)))
    rules.removeFirst(max(0, rules.count - Self.maximumRules))
  }

  /// The text itself, or a digest of one that is too long.
  private static func stored(_ text: String) -> String {
    text.utf8.count <= maximumLength ? text : digest(ofRules: text)
  }

  static func digest(ofRules text: String) -> String {
    "#" + Base64.urlText(AuthenticationCode.hmacSHA256(Array(text.utf8), key: []))
  }
}
