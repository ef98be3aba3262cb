package import CDTJSON

/// The fields of a document to return.
///
/// ```
/// ["name", "pet.species"]   of {"name": "mike", "age": 3, "pet": {"species": "cat", "name": "zoe"}}
///                           →  {"name": "mike", "pet": {"species": "cat"}}
/// ```
///
/// Nesting and the order of members are kept; missing fields are omitted. A path through an array returns an array of
/// the projected objects and omits other elements.
package struct Projection: Sendable, Hashable {
  /// The tree of selected names: a name without children selects the whole value.
  fileprivate indirect enum Node: Sendable, Hashable {
    case whole
    case members(Members)
  }

  /// The selected members of an object, or elements of an array.
  fileprivate struct Members: Sendable, Hashable {
    private(set) var nodes: [FieldPath.Segment: Node] = [:]
    /// Whether a name also selects an element by its position.
    private(set) var hasPositions = false

    subscript(_ segment: FieldPath.Segment) -> Node? { nodes[segment] }

    /// Changes what is selected of a member, first nothing.
    mutating func change(_ segment: FieldPath.Segment, _ body: (inout Node) -> Void) {
      if segment.position != nil { hasPositions = true }
      body(&nodes[segment, default: .members(Members())])
    }

    /// The members that are selected by their names alone.
    var named: Members {
      guard hasPositions else { return self }
      var named = Members()
      named.nodes = nodes.filter { $0.key.position == nil }
      return named
    }
  }

  private var root: Node

  package static let everything = Projection(root: .whole)

  package var isEverything: Bool { root == .whole }

  package init(paths: [FieldPath]) {
    root = .members(Members())
    for path in paths { Self.add(path.segments[...], to: &root) }
  }

  private init(root: Node) {
    self.root = root
  }

  private static func add(_ segments: ArraySlice<FieldPath.Segment>, to node: inout Node) {
    guard let first = segments.first else {
      node = .whole
      return
    }
    guard case .members(var members) = node else { return }
    // So that the dictionary is not copied.
    node = .whole
    members.change(first) { add(segments.dropFirst(), to: &$0) }
    node = .members(members)
  }

  /// The projected body. `_id` and `_rev` are not part of a body and are ignored.
  package func apply(to body: JSONObject) -> JSONObject {
    guard case .members(let members) = root else { return body }
    return Self.project(body, members)
  }

  private static func project(_ object: JSONObject, _ members: Members) -> JSONObject {
    var result = JSONObject()
    for (key, value) in object {
      guard let node = members[FieldPath.Segment(name: Array(key.utf8))],
        let projected = project(value, node)
      else { continue }
      result[key] = projected
    }
    return result
  }

  /// The selected part of a value, or `nil` if there is none.
  private static func project(_ value: JSONValue, _ node: Node) -> JSONValue? {
    guard case .members(let members) = node else { return value }
    switch value {
    case .object(let object):
      let projected = project(object, members)
      return projected.isEmpty ? nil : .object(projected)
    case .array(let elements):
      let names = Node.members(members.named)
      let projected = elements.enumerated().compactMap { position, element in
        project(element, at: position, of: members, names: names)
      }
      return projected.isEmpty ? nil : .array(projected)
    default:
      return nil
    }
  }

  /// An element is selected by its position and, if it is an object, also by the names.
  private static func project(
    _ element: JSONValue, at position: Int, of members: Members, names: Node
  ) -> JSONValue? {
    let picked = members.hasPositions ? members[FieldPath.Segment(name: Array(String(position).utf8))] : nil
    guard case .object = element else { return picked.flatMap { project(element, $0) } }
    return project(element, picked.map { names.joined(with: $0) } ?? names)
  }
}

extension Projection.Node {
  /// The union of both.
  fileprivate func joined(with other: Self) -> Self {
    guard case .members(var members) = self, case .members(let others) = other else { return .whole }
    for (segment, node) in others.nodes { members.change(segment) { $0 = $0.joined(with: node) } }
    return .members(members)
  }
}
