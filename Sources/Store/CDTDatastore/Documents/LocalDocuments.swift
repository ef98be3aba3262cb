public import CDTJSON
import CDTPlatform
import CDTSQLite

/// A local document with the number of the changes that were made to it by HTTP, which CouchDB writes as `0-<number>`.
package struct LocalDocument: Sendable {
  package var body: JSONObject
  package var revision: Int

  /// - Parameter revision: 0 if it was never changed by HTTP.
  package init(body: JSONObject, revision: Int = 0) {
    self.body = body
    self.revision = revision
  }

  /// The text to store: the body, after a member `_rev` if there is a number.
  var text: [UInt8] {
    guard revision > 0 else { return body.utf8Text }
    var stored: JSONObject = ["_rev": .string("0-\(revision)")]
    for (key, value) in body { stored[key] = value }
    return stored.utf8Text
  }

  /// Reads what ``text`` writes.
  package init(stored: JSONObject) {
    body = stored
    revision = 0
    guard case .string(let text)? = body["_rev"] else { return }
    body["_rev"] = nil
    revision = Self.revision(text) ?? 0
  }

  /// The number in `0-<number>`; `nil` for other text.
  package static func revision(_ text: String) -> Int? {
    guard text.utf8.starts(with: "0-".utf8) else { return nil }
    let digits = text.utf8.dropFirst(2)
    guard !digits.isEmpty, digits.allSatisfy(\.isDigit) else { return nil }
    return Int(String(text.dropFirst(2)))
  }
}

extension ReadTransaction {
  /// A local document; `nil` if it does not exist.
  package func localDocumentEntry(withID id: String) throws -> LocalDocument? {
    try reading { try $0.localDocument(withID: id) }
  }
}

extension WriteTransaction {
  /// Saves the body of a local document, replacing the previous one; `nil` removes it.
  ///
  /// - Throws: ``DatastoreError``: `.invalidID` for an empty id, `.reservedKey`, `.invalidBody`.
  public func setLocalDocument(_ body: JSONObject?, withID id: String) throws {
    guard !id.isEmpty else { throw DatastoreError(.invalidID(id)) }
    if let body { return try setLocalDocument(LocalDocument(body: body), withID: id) }
    try use { connection in
      let statement = try connection.statement("DELETE FROM local_documents WHERE id = ?1")
      try statement.bind(id, at: 1)
      try statement.run()
    }
  }

  /// Saves a local document with its number.
  package func setLocalDocument(_ document: LocalDocument, withID id: String) throws {
    guard !id.isEmpty else { throw DatastoreError(.invalidID(id)) }
    // Validated without the number, which is a reserved member.
    let body = try BodyText(document.body, id: id).text
    let text = document.revision > 0 ? document.text : body
    try use { connection in
      let statement = try connection.statement("INSERT OR REPLACE INTO local_documents VALUES (?1, ?2)")
      try statement.bind(id, at: 1)
      try statement.bind(text: text, at: 2)
      try statement.run()
    }
  }

  package func hasLocalDocument(_ id: String) throws -> Bool {
    try use { connection in
      let statement = try connection.statement("SELECT 1 FROM local_documents WHERE id = ?1")
      defer { statement.reset() }
      try statement.bind(id, at: 1)
      return try statement.step()
    }
  }
}
