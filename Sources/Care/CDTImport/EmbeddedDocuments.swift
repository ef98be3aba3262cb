import CDTDatastore
import CDTJSON
import CDTPlatform

/// Documents that one object may have in it.
enum EmbeddedDocuments {
  /// Arrays and objects of several objects, at most three, the largest.
  case groups([Group])
  /// Every member is an object, and they have a name in common.
  case members(count: Int)
  /// Every member is a column of a table, with the numbers of the rows as names: `{"name": {"0": "Ann", "1": "Zoe"}}`.
  case columns(count: Int)

  struct Group: Hashable {
    let path: [String]
    let count: Int
    /// Whether the objects are the members of an object; otherwise they are the elements of an array.
    let areMembers: Bool
  }

  /// The longest path that is looked at.
  private static let longestPath = 5
  /// The most groups, and the most names in the members of an object, that are remembered.
  private static let maximumCount = 1_000

  init?(_ text: JSONBytes) {
    if let shape = Self.shape(text, 0), shape.count > 1, shape.sharing == shape.count {
      self = shape.areColumns ? .columns(count: shape.count) : .members(count: shape.count)
      return
    }
    var groups: [Group] = []
    Self.collect(text, 0, [], into: &groups)
    guard !groups.isEmpty else { return nil }
    let largest = groups.indices.sorted { (groups[$1].count, $0) < (groups[$0].count, $1) }.prefix(3).sorted()
    self = .groups(largest.map { groups[$0] })
  }

  /// The reason not to import the object as one document; `nil` if it may be meant.
  var doubt: String? {
    switch self {
    case .groups: nil
    case .members(let count):
      "the text is one object whose \(count) members are objects of one kind; give --at . to import each of them with its name as the id, or --format json to import the object as one document"
    case .columns(let count):
      "the text is one object whose \(count) members are the columns of a table, as pandas writes it; write it with to_json(orient=\"records\"), or give --format json to import the object as one document"
    }
  }

  private static func collect(_ text: JSONBytes, _ start: Int, _ path: [String], into groups: inout [Group]) {
    var members = text.members(at: start)
    while groups.count < maximumCount, let member = members.next() {
      let inner = path + [text.string(at: member.keyStart - 1)]
      switch text.kind(at: member.value) {
      case .array:
        guard let count = countOfObjects(text, member.value) else { continue }
        // Elasticsearch's hits have their documents in them.
        let hit = text.element(at: 0, of: member.value)
        let source = hit.flatMap { text.member(spelled: Array("_source".utf8), at: $0) }
        groups.append(
          Group(path: source == nil ? inner : inner + ["_source"], count: count, areMembers: false))
      case .object where inner.count < longestPath:
        if let shape = shape(text, member.value), shape.count > 2, 2 * shape.sharing >= shape.count {
          groups.append(Group(path: inner, count: shape.count, areMembers: true))
        } else {
          collect(text, member.value, inner, into: &groups)
        }
      default: break
      }
    }
  }

  /// The number of members of an object, how many share the most frequent name, and whether they are columns; `nil` if not all
  /// are objects.
  private static func shape(
    _ text: JSONBytes, _ start: Int
  ) -> (count: Int, sharing: Int, areColumns: Bool)? {
    var found = (count: 0, sharing: 0, areColumns: true)
    var names: [String: Int] = [:]
    var members = text.members(at: start)
    while let member = members.next() {
      guard text.kind(at: member.value) == .object else { return nil }
      found.count += 1
      var (row, inner) = (0, text.members(at: member.value))
      while let name = inner.next() {
        let name = text.string(at: name.keyStart - 1)
        if names[name] != nil || names.count < maximumCount { names[name, default: 0] += 1 }
        found.areColumns = found.areColumns && name == String(row)
        row += 1
      }
    }
    found.sharing = names.values.max() ?? 0
    return found
  }

  /// The number of elements if there are several and all are objects.
  private static func countOfObjects(_ text: JSONBytes, _ start: Int) -> Int? {
    var count = 0
    var elements = text.elements(at: start)
    while let element = elements.next() {
      guard text.kind(at: element) == .object else { return nil }
      count += 1
    }
    return count > 1 ? count : nil
  }
}
