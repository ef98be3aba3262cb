import CDTDatastore
import CDTJSON
import CDTQuery

/// The meaning of selectors written a second time, on trees and straight from the specification, sharing no code with the
/// engine: what the matcher is held against.
enum Oracle {
  /// How strings are compared, other than ids, revisions and the names of members; `nil` if by their bytes.
  @TaskLocal static var collation: Collation?

  private static func compared(_ value: JSONValue) -> JSONValue { collation?.folded(value) ?? value }

  static func matches(_ selector: JSONObject, _ document: JSONObject, id: String) -> Bool {
    var whole = document
    whole["_id"] = .string(id)
    return holds(selector, .object(whole), isDocument: true)
  }

  /// A selector of fields and combinations, asked of an object.
  private static func holds(
    _ selector: JSONObject, _ value: JSONValue, isDocument: Bool = false
  ) -> Bool {
    func holds(_ selector: JSONObject) -> Bool { Self.holds(selector, value, isDocument: isDocument) }
    for (key, argument) in selector {
      let members = argument.arrayValue ?? []
      switch key {
      case "$and": if !members.allSatisfy({ holds($0.objectValue ?? [:]) }) { return false }
      case "$or": if !members.contains(where: { holds($0.objectValue ?? [:]) }) { return false }
      case "$nor": if members.contains(where: { holds($0.objectValue ?? [:]) }) { return false }
      case "$not":
        if holds(argument.objectValue ?? [:]) { return false }
      case "_id" where isDocument, "_rev" where isDocument:
        if !($collation.withValue(nil) { field([key], argument, value) }) { return false }
      default:
        if !field(segments(key), argument, value) { return false }
      }
    }
    return true
  }

  static func segments(_ path: String) -> [String] {
    var segments = [""]
    var characters = Array(path.unicodeScalars)
    while !characters.isEmpty {
      let scalar = characters.removeFirst()
      if scalar == "\\", let next = characters.first, next == "." || (next == "$" && segments.last == "") {
        segments[segments.count - 1].unicodeScalars.append(characters.removeFirst())
      } else if scalar == "." {
        segments.append("")
      } else {
        segments[segments.count - 1].unicodeScalars.append(scalar)
      }
    }
    return segments
  }

  private static func field(_ path: [String], _ argument: JSONValue, _ root: JSONValue) -> Bool {
    guard case .object(let object) = argument else { return ask("$eq", argument, reach(path, root)) }
    if object.first(where: { _ in true })?.key.hasPrefix("$") != true {
      return object.allSatisfy { field(path + segments($0.key), $0.value, root) }
    }
    for (name, argument) in object where name != "$options" {
      if name == "$not" {
        let inner = argument.objectValue ?? [:]
        if inner.isEmpty || field(path, argument, root) { return false }
      } else if !ask(name, argument, reach(path, root)) {
        return false
      }
    }
    return true
  }

  /// Every value a path reaches.
  static func reach(_ path: [String], _ value: JSONValue) -> [JSONValue] {
    guard let name = path.first else { return [value] }
    let rest = Array(path.dropFirst())
    switch value {
    case .object(let object): return object[name].map { reach(rest, $0) } ?? []
    case .array(let elements):
      if let position = position(name) {
        return position < elements.count ? reach(rest, elements[position]) : []
      }
      return elements.filter { $0.objectValue != nil }.flatMap { reach(path, $0) }
    default: return []
    }
  }

  private static func ask(_ name: String, _ argument: JSONValue, _ values: [JSONValue]) -> Bool {
    let opened = values.flatMap { [$0] + ($0.arrayValue ?? []) }
    switch name {
    case "$ne": return !ask("$eq", argument, values)
    case "$nin": return !ask("$in", argument, values)
    case "$exists": return argument == .bool(!values.isEmpty)
    case "$all":
      let members = argument.arrayValue ?? []
      return !members.isEmpty && members.allSatisfy { ask("$eq", $0, values) }
    case "$size", "$type", "$elemMatch", "$allMatch": return values.contains { one(name, argument, $0) }
    case "$near": return near(argument, values)
    case "$gt" where argument == .null: return values.contains { $0 != .null }
    case "$gte" where argument == .null: return !values.isEmpty
    default: return opened.contains { one(name, argument, $0) }
    }
  }

  /// One operator of one value, which is not looked into.
  private static func one(_ name: String, _ argument: JSONValue, _ value: JSONValue) -> Bool {
    switch name {
    case "$eq": return compared(value) == compared(argument)
    case "$in": return (argument.arrayValue ?? []).map(compared).contains(compared(value))
    case "$lt", "$lte", "$gt", "$gte": return range(name, compared(argument), compared(value))
    case "$type": return argument == .string(type(value))
    case "$size": return value.arrayValue.map { .int(Int64($0.count)) == argument } ?? false
    case "$beginsWith":
      guard case .string(let text) = compared(value), case .string(let prefix) = compared(argument) else {
        return false
      }
      return Array(text.utf8).starts(with: Array(prefix.utf8))
    case "$mod":
      guard case .int(let number) = value, let pair = argument.arrayValue, case .int(let divisor) = pair[0],
        case .int(let remainder) = pair[1]
      else {
        guard let number = value.doubleValue, let pair = argument.arrayValue,
          case .int(let divisor) = pair[0],
          case .int(let remainder) = pair[1]
        else { return false }
        return number.rounded(.towardZero).truncatingRemainder(dividingBy: Double(divisor))
          == Double(remainder)
      }
      return number % divisor == remainder
    case "$regex":
      // Patterns are drawn as ^literal or literal, which need no engine.
      guard case .string(let text) = value, case .string(let pattern) = argument else { return false }
      let bytes = Array(text.utf8)
      if pattern.hasPrefix("^") { return bytes.starts(with: Array(pattern.utf8).dropFirst()) }
      let wanted = Array(pattern.utf8)
      return bytes.indices.contains { bytes[$0...].starts(with: wanted) } || wanted.isEmpty
    case "$geoWithin": return place(value).map { isWithin(argument, $0) } ?? false
    case "$keyMapMatch":
      return $collation.withValue(nil) {
        (value.objectValue ?? [:]).contains { element(argument, .string($0.key)) }
      }
    case "$elemMatch": return (value.arrayValue ?? []).contains { element(argument, $0) }
    case "$allMatch":
      let elements = value.arrayValue ?? []
      return !elements.isEmpty && elements.allSatisfy { element(argument, $0) }
    default: return false
    }
  }

  private static func element(_ argument: JSONValue, _ value: JSONValue) -> Bool {
    guard case .object(let object) = argument else { return false }
    if isSelector(object) { return value.objectValue != nil && holds(object, value) }
    for (name, argument) in object {
      switch name {
      case "$ne": if compared(value) == compared(argument) { return false }
      case "$nin": if one("$in", argument, value) { return false }
      case "$all":
        let members = argument.arrayValue ?? []
        if members.isEmpty || !members.allSatisfy({ compared($0) == compared(value) }) { return false }
      case "$exists": if argument != true { return false }
      case "$gt" where argument == .null: if value == .null { return false }
      case "$gte" where argument == .null: break
      case "$not": if argument == [:] || element(argument, value) { return false }
      default: if !one(name, argument, value) { return false }
      }
    }
    return true
  }

  /// Whether an element is asked for its fields: by names and combinations, or by `$not` alone around those.
  private static func isSelector(_ object: JSONObject) -> Bool {
    if object.count == 1, let inner = object["$not"]?.objectValue { return isSelector(inner) }
    return object.contains { !$0.key.hasPrefix("$") || ["$and", "$or", "$nor"].contains($0.key) }
  }

  private static func range(_ name: String, _ argument: JSONValue, _ value: JSONValue) -> Bool {
    func scale(_ value: JSONValue) -> Int? {
      switch value {
      case .int, .double, .spelled, .string: 0
      case .bool: 1
      default: nil
      }
    }
    if argument == .null { return name == "$lte" && value == .null }
    guard let left = scale(value), left == scale(argument) else { return false }
    switch name {
    case "$lt": return value < argument
    case "$lte": return value < argument || value == argument
    case "$gt": return argument < value
    default: return argument < value || value == argument
    }
  }

  private static func type(_ value: JSONValue) -> String {
    switch value {
    case .null: "null"
    case .bool: "boolean"
    case .int, .double, .spelled: "number"
    case .string: "string"
    case .array: "array"
    case .object: "object"
    }
  }

  // MARK: Order

  /// The value a document sorts by, in the form that is compared: the smallest of its values when ascending, the largest when descending.
  static func sortValue(_ path: String, isDescending: Bool, _ document: JSONObject, id: String) -> JSONValue {
    var whole = document
    whole["_id"] = .string(id)
    let isDocumentField = path == "_id" || path == "_rev"
    let values = reach(segments(path), .object(whole)).flatMap { $0.arrayValue ?? [$0] }
      .map { isDocumentField ? $0 : compared($0) }
    return (isDescending ? values.max() : values.min()) ?? .null
  }

  /// Whether a document comes before another in an order of fields, and then of ids.
  static func precedes(
    _ left: DocumentRevision, _ right: DocumentRevision, by fields: [(path: String, isDescending: Bool)]
  ) -> Bool {
    for (path, isDescending) in fields {
      let values = [left, right].map { document in
        var body = document.body
        body["_rev"] = .string(document.revisionID.description)
        return sortValue(path, isDescending: isDescending, body, id: document.id)
      }
      if values[0] != values[1] { return (values[0] < values[1]) != isDescending }
    }
    return left.id.precedesInBytes(right.id)
  }

  // MARK: Projection

  /// What of a body its fields leave: members by name, elements by position, names in every element that is an object.
  static func project(_ paths: [String], _ body: JSONObject) -> JSONObject {
    keep(paths.map(segments), .object(body))?.objectValue ?? [:]
  }

  private static func keep(_ paths: [[String]], _ value: JSONValue) -> JSONValue? {
    if paths.contains([]) { return value }
    switch value {
    case .object(let object):
      let kept = object.compactMap { member in
        let inner = paths.filter { $0[0].hasSameBytes(as: member.key) }.map { Array($0.dropFirst()) }
        return keep(inner, member.value).map { (member.key, $0) }
      }
      return kept.isEmpty ? nil : .object(JSONObject(kept))
    case .array(let elements):
      let kept = elements.enumerated().compactMap { position, element in
        let picked = paths.filter { self.position($0[0]) == position }.map { Array($0.dropFirst()) }
        let names = element.objectValue == nil ? [] : paths.filter { self.position($0[0]) == nil }
        return keep(picked + names, element)
      }
      return kept.isEmpty ? nil : .array(kept)
    default: return nil
    }
  }

  private static func position(_ segment: String) -> Int? {
    guard let position = Int(segment), position >= 0, String(position) == segment else { return nil }
    return position
  }
}
