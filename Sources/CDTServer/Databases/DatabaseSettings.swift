import CDTDatastore
import CDTJSON
import CDTPlatform

/// What the server stores of a database besides its documents: a local document whose id no client can use.
struct DatabaseSettings: Sendable {
  /// When the server first saw the database, in microseconds since 1970.
  var created: String
  /// The object that clients set at `_security`; `nil` if none did.
  var security: JSONObject?
  /// What clients set at `_revs_limit`; `nil` if none did.
  var revisionsLimit: Int?

  private static let id = "\u{1}server"

  /// Whether the id of a local document is not for clients.
  static func isReserved(_ id: String) -> Bool { id.utf8.first == 1 }

  /// The settings of a datastore, saved when they are read for the first time.
  static func of(_ store: Datastore) async throws -> DatabaseSettings {
    if let known = try await store.localDocument(withID: id) { return DatabaseSettings(known) }
    do {
      return try await change(of: store) { _ in }
    } catch let error as DatastoreError where error.code == .io {
      // A store that can only be read has other settings in each run.
      return DatabaseSettings()
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
    created = String(Int64(Date.now.timeIntervalSince1970 * 1_000_000))
  }

  private init(_ json: JSONObject) {
    self.init()
    if case .string(let text)? = json["created"] { created = text }
    if case .object(let object)? = json["security"] { security = object }
    if let limit = json["revisionsLimit"]?.intValue { revisionsLimit = limit }
  }

  private var json: JSONObject {
    var json: JSONObject = ["created": .string(created)]
    if let security { json["security"] = .object(security) }
    if let revisionsLimit { json["revisionsLimit"] = .int(Int64(revisionsLimit)) }
    return json
  }
}
