package import CDTJSON

/// A user of the server.
package struct User: Sendable {
  /// The maximum length of a name and of a role, in bytes.
  package static let maximumLength = 128
  package static let maximumRoles = 100
  package static let maximumPasswordLength = 1_024

  package let name: String
  package let password: PasswordHash
  package let roles: [String]

  /// - Throws: ``UserFileError`` if the name or a role is not allowed.
  package init(name: String, password: PasswordHash, roles: [String]) throws(UserFileError) {
    try Self.check(name: name, roles: roles)
    self.name = name
    self.password = password
    var known: Set<KeyBytes> = []
    self.roles = roles.filter { known.insert(KeyBytes($0)).inserted }
  }

  /// What may be shown of a user.
  package var summary: JSONObject {
    ["name": .string(name), "roles": .array(roles.map { .string($0) })]
  }

  func identity(_ handler: Identity.Handler) -> Identity {
    Identity(name: name, roles: roles, handler: handler)
  }

  /// - Throws: ``UserFileError`` if the name or a role is not allowed.
  package static func check(name: String, roles: [String]) throws(UserFileError) {
    guard isName(name) else { throw .invalidName(name) }
    for role in roles where !isRole(role) { throw .invalidRole(role) }
    guard roles.count <= maximumRoles else { throw .tooManyRoles(name) }
  }

  /// Whether a text can be a name. Basic authentication ends the name at a colon; CouchDB reserves a leading underscore.
  static func isName(_ text: String) -> Bool {
    isWord(text) && !text.utf8.contains(UInt8(ascii: ":"))
  }

  static func isRole(_ text: String) -> Bool {
    isWord(text) || text.hasSameBytes(as: Identity.adminRole)
  }

  private static func isWord(_ text: String) -> Bool {
    (1...maximumLength).contains(text.utf8.count) && text.utf8.first != UInt8(ascii: "_")
      && !hasControlCharacters(text)
  }

  static func checkPassword(_ password: String) throws(UserFileError) {
    guard (1...maximumPasswordLength).contains(password.utf8.count), !hasControlCharacters(password) else {
      throw .invalidPassword
    }
  }

  private static func hasControlCharacters(_ text: String) -> Bool {
    text.unicodeScalars.contains { $0.properties.generalCategory == .control }
  }
}
