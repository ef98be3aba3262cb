package import CDTJSON

/// An operand of a rule that is computed from the values of its input: `{"$data": "oldDoc.owner"}`.
package indirect enum Operand: Sendable, Hashable {
  case literal(JSONValue)
  /// `$data`: the value at a path, from the root, or from a number of levels above the value that is tested.
  case data(up: Int, FieldPath)
  /// `$cat`: strings joined.
  case joined([Operand])
  case list([Operand])

  /// The paths of its values, in the order in which they are written.
  var data: [(up: Int, path: FieldPath)] {
    switch self {
    case .literal: []
    case .data(let up, let path): [(up, path)]
    case .joined(let parts), .list(let parts): parts.flatMap(\.data)
    }
  }

  /// The value; `nil` if a part of it is missing or not a string where `$cat` needs one.
  ///
  /// - Parameters:
  ///   - places: The places of the values of ``data``, which are taken from it.
  ///   - skipsMissing: Whether members of a list that are missing are left out.
  ///   - limit: The maximum length of a value's text; a longer one is replaced by the operand as it is written.
  fileprivate func value(
    in bytes: JSONBytes, at places: inout ArraySlice<Int?>, skipsMissing: Bool, limit: Int
  ) -> JSONValue? {
    switch self {
    case .literal(let value): return value
    case .data:
      guard let place = places.popFirst() ?? nil else { return nil }
      return limit < .max && bytes.endOfValue(at: place) - place > limit ? json : bytes.value(at: place)
    case .joined(let parts):
      var text: String? = ""
      for part in parts {
        let value = part.value(in: bytes, at: &places, skipsMissing: false, limit: limit)
        guard let string = value?.stringValue else {
          if value != nil, limit < .max { return json }
          text = nil
          continue
        }
        text? += string
      }
      return text.map { .string($0) }
    case .list(let members):
      var values: [JSONValue] = []
      var isComplete = true
      for member in members {
        if let value = member.value(in: bytes, at: &places, skipsMissing: false, limit: limit) {
          values.append(value)
        } else {
          isComplete = false
        }
      }
      return isComplete || skipsMissing ? .array(values) : nil
    }
  }

  /// The operand as it is written.
  package var json: JSONValue {
    switch self {
    case .literal(let value): value
    case .data(let up, let path): ["$data": .string(String(repeating: ".", count: up) + path.text)]
    case .joined(let parts): ["$cat": .array(parts.map(\.json))]
    case .list(let members): .array(members.map(\.json))
    }
  }
}

/// An operator whose operand is computed for each value that it tests. Only rules have it.
package struct ComputedPredicate: Sendable, Hashable {
  /// `$eq`, `$lt`, `$lte`, `$gt`, `$gte`, `$in`, `$all` or `$mod`.
  package let name: String
  package let operand: Operand
  /// Whether an array also satisfies it if any of its elements does.
  package let looksIntoArrays: Bool

  package init(_ name: String, _ operand: Operand, looksIntoArrays: Bool) {
    self.name = name
    self.operand = operand
    self.looksIntoArrays = looksIntoArrays
  }

  /// The operand; `nil` if it is missing.
  ///
  /// - Parameter limit: The maximum length of a value's text; a longer one is replaced by the operand as it is written.
  package func value(in bytes: JSONBytes, for start: Int, limit: Int) -> JSONValue? {
    var walk = EnclosingWalk()
    let places = operand.data.map { data in
      walk.base(up: data.up, above: start, in: bytes).flatMap { bytes.place(at: data.path, from: $0) }
    }
    return value(in: bytes, at: places, limit: limit)
  }

  func value(in bytes: JSONBytes, at places: [Int?], limit: Int = .max) -> JSONValue? {
    var places = places[...]
    return operand.value(in: bytes, at: &places, skipsMissing: name == "$in", limit: limit)
  }
}

extension ComputedPredicate {
  /// The clause of a target in which the values of the user are literals.
  ///
  /// - Parameters:
  ///   - context: An object with the user's context.
  ///   - target: The clause of a predicate.
  package func bound(to context: JSONObject, _ target: (Predicate) -> Clause) -> Clause {
    guard let operand = operand.bound(to: context, skipsMissing: name == "$in") else { return .never }
    guard case .literal(let value) = operand else {
      return target(.computed(ComputedPredicate(name, operand, looksIntoArrays: looksIntoArrays)))
    }
    // A value of the wrong type for the operator matches nothing, as where it is computed.
    let clause = try? OperatorArgument.clause(name, value, on: .value, at: "")
    return clause?.withValues(on: target) ?? .never
  }
}

extension Clause {
  fileprivate func withValues(on target: (Predicate) -> Clause) -> Clause {
    switch self {
    case .value(let predicate): target(predicate)
    case .and(let members): .all(members.map { $0.withValues(on: target) })
    case .or(let members): .any(members.map { $0.withValues(on: target) })
    case .not(let clause): clause.withValues(on: target).complement
    case .always, .never, .field, .text, .rule: self
    }
  }
}

extension Operand {
  /// The operand with the values of the user as literals; `nil` if one that is needed is missing.
  fileprivate func bound(to context: JSONObject, skipsMissing: Bool) -> Operand? {
    switch self {
    case .literal: return self
    case .data(let up, let path):
      guard up == 0, path.isOfUser else { return self }
      return path.value(in: .object(context)).map { .literal($0) }
    case .joined(let parts):
      let bound = parts.compactMap { $0.bound(to: context, skipsMissing: false) }
      guard bound.count == parts.count else { return nil }
      var text = ""
      for part in bound {
        guard case .literal(let value) = part else { return .joined(bound) }
        guard let string = value.stringValue else { return nil }
        text += string
      }
      return .literal(.string(text))
    case .list(let members):
      let bound = members.compactMap { $0.bound(to: context, skipsMissing: false) }
      guard bound.count == members.count || skipsMissing else { return nil }
      var values: [JSONValue] = []
      for member in bound {
        guard case .literal(let value) = member else { return .list(bound) }
        values.append(value)
      }
      return .literal(.array(values))
    }
  }
}

extension FieldPath {
  /// The value at the path, in which an array has positions alone.
  fileprivate func value(in root: JSONValue) -> JSONValue? {
    segments.reduce(root as JSONValue?) { value, segment in
      switch value {
      case .object(let object)?: object[String(decoding: segment.name, as: UTF8.self)]
      case .array(let elements)?:
        segment.position.flatMap { elements.indices.contains($0) ? elements[$0] : nil }
      default: nil
      }
    }
  }
}

extension EnclosingWalk {
  /// The container a number of levels above a value, the root for none; `nil` above the root.
  mutating func base(up: Int, above start: Int, in bytes: JSONBytes) -> Int? {
    if up == 0 { return 0 }
    let path = containers(of: start, in: bytes)
    return up <= path.count ? path[path.count - up] : nil
  }
}

extension JSONBytes {
  /// The place of the value at a path, in which an array has positions alone.
  func place(at path: FieldPath, from start: Int) -> Int? {
    var place = start
    for segment in path.segments {
      let next: Int? =
        switch kind(at: place) {
        case .object: member(spelled: segment.spelling, at: place)
        case .array: segment.position.flatMap { element(at: $0, of: place) }
        default: nil
        }
      guard let next else { return nil }
      place = next
    }
    return place
  }
}
