import CouchDB

/// A setting that server admins can change by request, under CouchDB's names.
struct ServerSetting: Sendable {
  /// Section and key, such as `chttpd/enable_cors`. The file of settings has the first name.
  let names: [String]
  let value: @Sendable (ServerConfiguration) -> String
  /// Reads a value; throws 400 for one that the setting can't have.
  let set: @Sendable (inout ServerConfiguration, String) throws(CouchError) -> Void

  var name: String { names[0] }

  static func named(_ name: String) -> ServerSetting? { all.first { $0.names.contains(name) } }

  static let all = [
    flag(["chttpd/require_valid_user", "chttpd_auth/require_valid_user"], \.requiresUser),
    flag(["chttpd/enable_cors", "httpd/enable_cors"], \.allowsOrigins),
    flag(["cors/credentials"], \.allowsCredentials),
    ServerSetting(
      names: ["cors/origins"], value: { $0.origins.sorted().joined(separator: ",") },
      set: { configuration, text throws(CouchError) in
        let origins = text.split(separator: ",").map { $0.filter { $0 != " " } }.filter { !$0.isEmpty }
        do throws(ServerError) {
          _ = try CrossOrigin(origins: origins)
        } catch {
          throw .badRequest("cors/origins: \(error.message)")
        }
        configuration.origins = Set(origins)
      }),
    ServerSetting(
      names: ["httpd/WWW-Authenticate", "chttpd/WWW-Authenticate"], value: \.authenticationChallenge,
      set: { configuration, text throws(CouchError) in
        guard text.utf8.count <= 1_000, text.utf8.allSatisfy({ 0x20...0x7E ~= $0 }) else {
          throw .badRequest("httpd/WWW-Authenticate: a header has at most 1000 characters of ASCII.")
        }
        configuration.authenticationChallenge = text
      }),
    size("chttpd/max_http_request_size", \.limits.requestLength),
    size("couchdb/max_document_size", \.limits.documentLength),
    size("couchdb/max_attachment_size", \.limits.attachmentLength),
  ]

  private typealias Member<Value> = WritableKeyPath<ServerConfiguration, Value> & Sendable

  private static func flag(_ names: [String], _ member: any Member<Bool>) -> ServerSetting {
    ServerSetting(
      names: names, value: { $0[keyPath: member].description },
      set: { configuration, text throws(CouchError) in
        guard let value = Bool(text) else { throw .badRequest("\(names[0]) must be \"true\" or \"false\".") }
        configuration[keyPath: member] = value
      })
  }

  private static func size<Count: FixedWidthInteger & Sendable>(_ name: String, _ member: any Member<Count>)
    -> ServerSetting
  {
    ServerSetting(
      names: [name], value: { $0[keyPath: member].description },
      set: { configuration, text throws(CouchError) in
        guard let value = Count(text), value > 0 else {
          throw .badRequest("\(name) must be a number of bytes, such as \"8000000\".")
        }
        configuration[keyPath: member] = value
      })
  }
}
