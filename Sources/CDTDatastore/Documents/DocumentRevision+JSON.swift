public import JSON

extension DocumentRevision {
  /// The revision as CouchDB writes documents: `_id` and `_rev` first, `_deleted` on a tombstone, then the body.
  public var json: JSONObject {
    var json = JSONObject()
    if let id { json["_id"] = .string(id) }
    if let revision { json["_rev"] = .string(revision.description) }
    if isDeleted { json["_deleted"] = true }
    for (key, value) in body { json[key] = value }
    return json
  }
}
