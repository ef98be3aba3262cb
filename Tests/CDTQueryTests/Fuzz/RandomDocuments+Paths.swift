import JSON

extension RandomDocuments {
  mutating func path() -> String {
    var segments = [segment()]
    while chance(25), segments.count < 3 { segments.append(segment()) }
    return segments.joined(separator: ".")
  }

  /// A name as paths spell it. The empty name has no spelling, so no path leads to it.
  mutating func segment() -> String {
    var drawn = name()
    while drawn.isEmpty { drawn = name() }
    let escaped = drawn.split(separator: ".", omittingEmptySubsequences: false).joined(separator: "\\.")
    return escaped.hasPrefix("$") ? "\\" + escaped : escaped
  }

  mutating func sort() -> [JSONValue] {
    directed((0..<number(below: 3)).map { _ in documentPath(10) }, percentDirected: 70)
  }

  /// The fields of an index, as `ensureIndexed` takes them.
  mutating func indexFields() -> [JSONValue] {
    directed((0..<(1 + number(below: 3))).map { _ in path() }, percentDirected: 30)
  }

  /// The paths of a projection.
  mutating func fields() -> [JSONValue] {
    (0..<(1 + number(below: 3))).map { _ in .string(path()) }
  }

  /// A path that is `_id` or `_rev` in so many of a hundred draws.
  mutating func documentPath(_ percent: Int) -> String {
    guard chance(percent) else { return path() }
    return scope == .everything && chance(20) ? "_rev" : "_id"
  }

  private mutating func directed(_ paths: [String], percentDirected: Int) -> [JSONValue] {
    var distinct: [String] = []
    for path in paths where !distinct.contains(where: { $0.hasSameBytes(as: path) }) { distinct.append(path) }
    return distinct.map { path in
      chance(percentDirected)
        ? .object(JSONObject([(path, .string(chance(50) ? "desc" : "asc"))])) : .string(path)
    }
  }
}
