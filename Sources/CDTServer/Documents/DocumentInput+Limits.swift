import CouchDB

extension DocumentInput {
  func check(_ limits: ServerConfiguration.Limits, id: String) throws(CouchError) {
    guard length <= limits.documentLength else { throw CouchError(413, "document_too_large", id) }
  }
}
