extension JSONObject {
  /// Applies a JSON Merge Patch: members of the patch are added or replaced, `null` removes a member, and objects are merged member by
  /// member.
  ///
  /// ```swift
  /// var body: JSONObject = ["name": "Rex", "owner": ["city": "Bern", "zip": 3000]]
  /// body.merge(patch: ["name": nil, "owner": ["zip": 3011]])  // {"owner":{"city":"Bern","zip":3011}}
  /// ```
  ///
  /// Source: RFC 7396.
  public mutating func merge(patch: JSONObject) {
    for (name, value) in patch {
      switch value {
      case .null: self[name] = nil as JSONValue?
      case .object(let inner):
        var merged = self[name]?.objectValue ?? [:]
        merged.merge(patch: inner)
        self[name] = .object(merged)
      default: self[name] = value
      }
    }
  }
}
