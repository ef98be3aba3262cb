package import CDTJSON

/// Documents that a query includes: those whose ids stand at a path in its results.
///
/// ```
/// items[].product   in {"items": [{"product": "p1"}, {"product": ["p2", 3]}]}   →  "p1", "p2"
/// ```
package struct Include: Sendable, Hashable {
  package let name: String
  /// The path without `[]`: it goes through arrays with or without it.
  package let path: FieldPath

  /// Parses ``Query/include``, in the order of the names.
  static func all(_ wanted: [String: String]) throws(QueryError) -> [Include] {
    guard wanted.count <= Query.maximumIncludes else {
      throw QueryError(.tooManyIncludes(wanted.count, most: Query.maximumIncludes))
    }
    guard wanted[""] == nil else { throw QueryError(.nameOfInclude("")) }
    var includes: [Include] = []
    for (name, text) in wanted.sorted(by: { $0.key.precedesInBytes($1.key) }) {
      let plain = String("\(text).".replacing("[].", with: ".").dropLast())
      let path = try ResolvedQuery.path(plain, at: "include.\(name)")
      guard path.documentField == nil else { throw QueryError(.pathOfInclude(text), at: "include.\(name)") }
      includes.append(Include(name: name, path: path))
    }
    return includes
  }
}

/// The ids at the paths of a query's includes, each once.
package final class LinkedIDs {
  private let includes: [Include]
  package private(set) var ids: [String] = []
  private var positions: [KeyBytes: Int] = [:]
  /// For each id the bits of the includes in which it is.
  private var sets: [UInt32] = []
  /// For each include the positions of its ids, in the order in which the results name them.
  private var orders: [[Int]]
  private var values = FieldValues()

  /// - Returns: `nil` if there are no includes.
  package init?(_ includes: [Include]) {
    if includes.isEmpty { return nil }
    self.includes = includes
    orders = includes.map { _ in [] }
  }

  package var names: [String] { includes.map(\.name) }

  /// The ids in an include, in the order in which the results name them.
  package func ids(ofInclude number: Int) -> [String] { orders[number].map { ids[$0] } }

  /// Adds the ids of a result, which has this stored body.
  package func add(from body: JSONBytes) {
    for (number, include) in includes.enumerated() {
      values.read(include.path, in: body)
      for offset in values.offsets where body.kind(at: offset) == .string {
        let id = body.string(at: offset)
        let position = positions[KeyBytes(id)] ?? ids.count
        if position == ids.count {
          positions[KeyBytes(id)] = position
          ids.append(id)
          sets.append(0)
        }
        guard sets[position] & 1 << UInt32(number) == 0 else { continue }
        sets[position] |= 1 << UInt32(number)
        orders[number].append(position)
      }
    }
  }
}

extension Query {
  /// Throws if the query includes documents, for results that come alone.
  package func checkIncludesNothing(_ remedy: String) throws(QueryError) {
    if !include.isEmpty { throw QueryError(.includeNotReturned(remedy)) }
  }

  /// Reads the member `include` of a request.
  static func include(json: JSONValue) throws(QueryError) -> [String: String] {
    guard case .object(let members) = json else { throw QueryError(.invalidInclude(json)) }
    var include: [String: String] = [:]
    for (name, path) in members {
      guard case .string(let path) = path else { throw QueryError(.invalidInclude(json)) }
      // Names that Unicode considers equal are one key of a dictionary.
      guard include.updateValue(path, forKey: name) == nil else { throw QueryError(.nameOfInclude(name)) }
    }
    return include
  }
}
