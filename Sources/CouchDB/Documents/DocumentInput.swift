package import CDTDatastore
package import CDTJSON

/// A document that a client sends: its special members, and its other members as text that can be stored.
package struct DocumentInput: Sendable {
  package let document: IncomingDocument
  /// The revision that the document names as its own, or as the one to replace.
  package var revisionID: RevisionID?
  package let body: BodyText
  /// The length of the text, without inline attachments.
  package let length: Int

  /// Reads one JSON object and nothing else.
  package static func object(_ bytes: UnsafeRawBufferPointer) throws(CouchError) -> NormalizedObject {
    do throws(JSONError) {
      return try JSONText.normalize(whole: bytes)
    } catch {
      throw error.code == .notAnObject ? .documentNotAnObject : .invalidJSON(error)
    }
  }

  /// Reads a document that is one JSON object and nothing else.
  package init(_ bytes: UnsafeRawBufferPointer) throws(CouchError) {
    try self.init(Self.object(bytes))
  }

  package init(_ object: NormalizedObject) throws(CouchError) {
    document = try IncomingDocument(JSONObject(object.reserved.map { ($0.name, $0.value) }))
    revisionID = document.revisionID
    body = BodyText(object)
    length = body.text.count
  }
}

extension CouchError {
  package static func invalidJSON(_ error: JSONError) -> CouchError {
    .badRequest("invalid UTF-8 JSON: \(error)")
  }
}
