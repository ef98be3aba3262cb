import CDTDatastore
import CDTJSON
import CDTQuery
import CouchDB

extension DesignDocument {
  /// What to say of a document that a client saves; `nil` unless it is a design document with something that is never used.
  ///
  /// - Parameter isStrict: Whether such a document is refused.
  static func warning(of id: String, _ body: BodyText, isStrict: Bool) throws(CouchError) -> String? {
    guard DocumentID.isDesign(id), let json = try? JSONObject(parsing: body.text) else { return nil }
    let notes = DesignDocument(id: id, body: json).notes
    if notes.isEmpty { return nil }
    let warning = notes.joined(separator: "\n")
    if isStrict { throw CouchError(400, "invalid_design_doc", warning) }
    return warning
  }
}
