package import JSON

/// Which fields of a document a result has.
///
/// ```
/// ["name", "pet.species"]   of {"name": "mike", "age": 3, "pet": {"species": "cat", "name": "zoe"}}
///                           →  {"name": "mike", "pet": {"species": "cat"}}
/// ```
///
/// Nesting and the order of members are kept, fields that are missing are left out. Through an array a path gives an
/// array of the projected objects, the other elements left out.
package struct Projection: Sendable, Hashable {
  /// The tree of wanted names: a name with nothing below it is wanted whole.
  fileprivate indirect enum Node: Sendable, Hashable {
    case whole
    case members([Member])
  }

  fileprivate struct Member: Sendable, Hashable {
    let segment: FieldPath.Segment
    var node: Node
  }

  private var root: Node

  package static let everything = Projection(root: .whole)

  package var isEverything: Bool { root == .whole }

  package init(paths: [FieldPath]) {
    root = .members([])
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
    if let known = members.firstIndex(where: { $0.segment == first }) {
      add(segments.dropFirst(), to: &members[known].node)
    } else {
      var member = Member(segment: first, node: .members([]))
      add(segments.dropFirst(), to: &member.node)
      members.append(member)
    }
    node = .members(members)
  }

  /// The projected body. `_id` and `_rev` are no part of a body, so they are not looked for.
  package func apply(to body: JSONObject) -> JSONObject {
    guard case .members(let members) = root else { return body }
    return Self.project(body, members)
  }

  private static func project(_ object: JSONObject, _ members: [Member]) -> JSONObject {
    var result = JSONObject()
    for (key, value) in object {
      let name = Array(key.utf8)
      guard let member = members.first(where: { $0.segment.name == name }),
        let projected = project(value, member.node)
      else { continue }
      result[key] = projected
    }
    return result
  }

  /// The part of a value that is wanted, or `nil` when nothing of it is.
  private static func project(_ value: JSONValue, _ node: Node) -> JSONValue? {
    guard case .members(let members) = node else { return value }
    switch value {
    case .object(let object):
      let projected = project(object, members)
      return projected.isEmpty ? nil : .object(projected)
    case .array(let elements):
      let names = Node.members(members.filter { $0.segment.position == nil })
      let projected = elements.enumerated().compactMap { position, element in
        project(element, at: position, of: members, names: names)
      }
      return projected.isEmpty ? nil : .array(projected)
    default:
      return nil
    }
  }

  /// An element is wanted by its position; where it is an object, by the names too.
  private static func project(
    _ element: JSONValue, at position: Int, of members: [Member], names: Node
  ) -> JSONValue? {
    let picked = members.first { $0.segment.position == position }?.node
    guard case .object = element else { return picked.flatMap { project(element, $0) } }
    return project(element, picked.map { names.joined(with: $0) } ?? names)
  }
}

extension Projection.Node {
  /// What either of them wants.
  fileprivate func joined(with other: Self) -> Self {
    guard case .members(var members) = self, case .members(let others) = other else { return .whole }
    for member in others {
      if let known = members.firstIndex(where: { $0.segment == member.segment }) {
        members[known].node = members[known].node.joined(with: member.node)
      } else {
        members.append(member)
      }
    }
    return .members(members)
  }
}
