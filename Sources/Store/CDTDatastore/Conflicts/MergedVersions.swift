import CDTJSON

extension Array where Element == DocumentRevision {
  /// The first version with what the others have changed since their common ancestor; `nil` for an empty array.
  ///
  /// ```swift
  /// try transaction.resolveConflicts(for: "task") { _, leaves, base in leaves.merged(since: base) }
  /// ```
  ///
  /// Members are compared at any depth, arrays as a whole, and attachments by their content and type. What several versions
  /// have changed is taken from the first of them.
  ///
  /// - Parameter base: The common ancestor. Without it, what others have changed is not known, and the first version is
  ///   returned.
  ///
  /// See <doc:ResolvingConflicts#Resolving>.
  public func merged(since base: DocumentRevision?) -> DocumentRevision? {
    guard var merged = first, let base else { return first }
    for other in dropFirst() {
      merged.body = merged.body.merged(with: other.body, since: base.body)
      for name in Set(other.attachments.names + base.attachments.names) {
        let was = base.attachments[name]
        if other.attachments[name] != was, merged.attachments[name] == was {
          merged.attachments[name] = other.attachments[name]
        }
      }
    }
    return merged
  }
}

extension JSONObject {
  /// This object with what only another one has changed since a common ancestor, at any depth.
  func merged(with other: JSONObject, since base: JSONObject) -> JSONObject {
    var merged = self
    for (name, value) in other {
      let (was, mine) = (base[name], self[name])
      if value == was { continue }
      if mine == was {
        merged[name] = value
      } else if case (.object(let mine)?, .object(let value)) = (mine, value) {
        merged[name] = .object(mine.merged(with: value, since: was?.objectValue ?? [:]))
      }
    }
    for (name, was) in base where other[name] == nil && self[name] == was { merged[name] = nil }
    return merged
  }
}
