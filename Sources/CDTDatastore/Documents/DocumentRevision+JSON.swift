public import CDTJSON

extension DocumentRevision {
  /// The revision as CouchDB writes documents: `_id` and `_rev` first, `_deleted` for a tombstone, then the body.
  public var json: JSONObject {
    var json = JSONObject()
    json["_id"] = .string(id)
    json["_rev"] = .string(revisionID.description)
    if isDeleted { json["_deleted"] = true }
    for (key, value) in body { json[key] = value }
    return json
  }
}
