public import CDTJSON

/// A field in which two revisions differ.
///
/// ```swift
/// print(changed.differences(from: stored).map(\.json.text))  // ["{\"path\":\"title\",\"old\":\"Milk\",\"new\":\"Oat milk\"}"]
/// ```
public struct FieldDifference: Sendable, Hashable {
  /// The path, such as `owner.city` or `_attachments.photo.jpg`. A dot in a name of the body is written `\.`.
  public let path: String
  /// The value in the older revision; `nil` if the field is not there. An attachment is shown by its type, digest and length.
  public let old: JSONValue?
  /// The value in the newer revision; `nil` if the field is not there.
  public let new: JSONValue?

  /// `{"path": "age", "old": 36, "new": 37}`; what is not there is left out.
  package var json: JSONObject {
    var json: JSONObject = ["path": .string(path)]
    json["old"] = old
    json["new"] = new
    return json
  }
}

extension DocumentRevision {
  /// The fields in which the revision differs from an older one. Objects are compared member by member, arrays as a whole.
  ///
  /// ```swift
  /// for field in changed.differences(from: stored) {
  ///   print(field.path, field.old ?? .null, field.new ?? .null)
  /// }
  /// ```
  ///
  /// - Parameter old: The older revision; without it, every field is new. A revision whose body was compacted has no fields: see
  ///   ``hasBody``.
  public func differences(from old: DocumentRevision?) -> [FieldDifference] {
    var found: [FieldDifference] = []
    Self.compare(old?.body ?? [:], body, below: "", &found)
    let former = old?.attachments ?? []
    for name in attachments.names + former.names.filter({ attachments[$0] == nil }) {
      let (left, right) = (former[name]?.summary, attachments[name]?.summary)
      if left != right {
        found.append(FieldDifference(path: "_attachments.\(name)", old: left, new: right))
      }
    }
    return found
  }

  private static func compare(
    _ old: JSONObject, _ new: JSONObject, below start: String, _ found: inout [FieldDifference]
  ) {
    for name in new.map(\.key) + old.map(\.key).filter({ new[$0] == nil }) {
      let path = start + name.asPathSegment
      let (left, right) = (old[name], new[name])
      if let left = left?.objectValue, let right = right?.objectValue {
        compare(left, right, below: path + ".", &found)
      } else if let left, let right, left.isSpelled(like: right) {
        continue
      } else {
        found.append(FieldDifference(path: path, old: left, new: right))
      }
    }
  }
}

extension String {
  /// The name of a member in a path, where a dot in it is written `\.`.
  var asPathSegment: String { splitBytes(at: ".").joined(separator: "\\.") }
}
