import CDTJSON
package import CouchDB

/// The name and the password of an `Authorization` header.
package struct BasicCredentials: Hashable, Sendable {
  package let name: String
  package let password: String

  package init(name: String, password: String) {
    self.name = name
    self.password = password
  }

  /// Reads the header.
  ///
  /// The first colon ends the name, so a password can have colons. As in CouchDB, a text without a colon and `_:_` are no
  /// credentials.
  ///
  /// - Returns: `nil` if there are no credentials: also, as in CouchDB, for an unknown scheme.
  /// - Throws: 400 for invalid Base64; 401 for bearer tokens, and for a text that is not UTF-8.
  package static func read(_ header: String?) throws(CouchError) -> BasicCredentials? {
    guard let parts = header?.split(separator: " ", maxSplits: 1), parts.count == 2 else { return nil }
    switch parts[0].lowercased() {
    case "basic": break
    case "bearer": throw .bearerToken
    default: return nil
    }
    guard let bytes = Base64.decode(String(parts[1]), ignoresSpace: true) else { throw .invalidBase64 }
    // No name and no password has such bytes.
    guard let text = String(validating: bytes, as: UTF8.self) else { throw .wrongPassword }
    guard let colon = text.utf8.firstIndex(of: UInt8(ascii: ":")) else { return nil }
    let credentials = BasicCredentials(
      name: String(text[..<colon]), password: String(text[text.utf8.index(after: colon)...]))
    return credentials.name == "_" && credentials.password == "_" ? nil : credentials
  }
}
