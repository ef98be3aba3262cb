package import CDTJSON

extension RandomDocuments {
  package mutating func path() -> String {
    var segments = [segment()]
    while chance(25), segments.count < 3 { segments.append(segment()) }
    return segments.joined(separator: ".")
  }

  /// A name as paths spell it. The empty name has no spelling, so no path leads to it.
  package mutating func segment() -> String {
    var drawn = name()
    while drawn.isEmpty { drawn = name() }
    return Self.spelling(of: drawn)
  }

  private static func spelling(of name: String) -> String {
    let escaped = name.split(separator: ".", omittingEmptySubsequences: false).joined(separator: "\\.")
    return escaped.hasPrefix("$") ? "\\" + escaped : escaped
  }

  package mutating func sort() -> [JSONValue] {
    directed((0..<number(below: 3)).map { _ in documentPath(10) }, percentDirected: 70)
  }

  /// The fields of an index, as `ensureIndexed` takes them.
  package mutating func indexFields() -> [JSONValue] {
    directed((0..<(1 + number(below: 3))).map { _ in documentPath(10) }, percentDirected: 30)
  }

  /// The paths of a projection.
  package mutating func fields() -> [JSONValue] {
    (0..<(1 + number(below: 3))).map { _ in .string(path()) }
  }

  /// The paths of a projection that mostly lead to something.
  package mutating func fields(of body: JSONObject) -> [String] {
    (0..<(1 + number(below: 3))).map { _ in
      let walked = path(into: .object(body))
      return walked.isEmpty || chance(20) ? path() : walked.joined(separator: ".")
    }
  }

  /// The spelled segments of a walk into a value: members by name, elements by position or passed through.
  private mutating func path(into value: JSONValue) -> [String] {
    switch value {
    case .object(let object):
      let names = object.keys.filter { !$0.isEmpty }
      guard !names.isEmpty, !chance(10) else { return [] }
      let name = pick(names)
      return [Self.spelling(of: name)] + path(into: object[name] ?? .null)
    case .array(let elements):
      guard !elements.isEmpty, !chance(10) else { return [] }
      let position = number(below: elements.count)
      let below = path(into: elements[position])
      return chance(50) ? ["\(position)"] + below : below
    default: return []
    }
  }

  /// A path that is `_id` or `_rev` in so many of a hundred draws.
  package mutating func documentPath(_ percent: Int) -> String {
    guard chance(percent) else { return path() }
    return scope == .everything && chance(40) ? "_rev" : "_id"
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
