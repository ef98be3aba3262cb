package import CDTJSON

/// An operand of a rule that is computed from the values of its input: `{"$data": "oldDoc.owner"}`.
package indirect enum Operand: Sendable, Hashable {
  case literal(JSONValue)
  /// `$data`: the value at a path, from the root, or from a number of levels above the value that is tested.
  case data(up: Int, FieldPath)
  /// `$cat`: strings joined.
  case joined([Operand])
  case list([Operand])

  /// The value; `nil` if a part of it is missing or not a string where `$cat` needs one.
  ///
  /// - Parameter skipsMissing: Whether members of a list that are missing are left out.
  func value(in bytes: JSONBytes, for start: Int, skipsMissing: Bool = false) -> JSONValue? {
    switch self {
    case .literal(let value): return value
    case .data(let up, let path):
      let base = up == 0 ? 0 : bytes.container(levels: up, above: start)
      return base.flatMap { bytes.value(at: path, from: $0) }
    case .joined(let parts):
      var text = ""
      for part in parts {
        guard let string = part.value(in: bytes, for: start)?.stringValue else { return nil }
        text += string
      }
      return .string(text)
    case .list(let members):
      var values: [JSONValue] = []
      for member in members {
        if let value = member.value(in: bytes, for: start) {
          values.append(value)
        } else if !skipsMissing {
          return nil
        }
      }
      return .array(values)
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
  package func value(in bytes: JSONBytes, for start: Int) -> JSONValue? {
    operand.value(in: bytes, for: start, skipsMissing: name == "$in")
  }

  /// The clause that a value has to satisfy; `nil` if the operand is missing, or of the wrong type for the operator.
  private func clause(in bytes: JSONBytes, for start: Int) -> Clause? {
    guard let value = value(in: bytes, for: start) else { return nil }
    return try? OperatorArgument.clause(name, value, on: .value, at: "")
  }

  func holds(_ bytes: JSONBytes, at start: Int) throws(MatchFailure) -> Bool {
    guard let clause = clause(in: bytes, for: start) else { return false }
    return try holds(clause, bytes, at: start)
  }

  private func holds(_ clause: Clause, _ bytes: JSONBytes, at start: Int) throws(MatchFailure) -> Bool {
    switch clause {
    case .always: return true
    case .not(let clause): return try !holds(clause, bytes, at: start)
    case .value(let predicate):
      let test = ValueTest(predicate, MatchBudget())
      return try looksIntoArrays ? test.holdsInside(bytes, at: start) : test.holds(bytes, at: start)
    case .and(let members):
      for member in members where try !holds(member, bytes, at: start) { return false }
      return true
    case .never, .or, .field, .text, .rule: return false
    }
  }
}

extension JSONBytes {
  /// A step into an object or an array.
  package enum Step: Sendable, Hashable {
    case member(String)
    case element(Int)
  }

  /// The containers that enclose a value, from the root to the innermost, each with the step that leads further to the value.
  ///
  /// - Complexity: O(*n*) in the number of members and elements of these containers.
  package func enclosing(_ start: Int) -> [(container: Int, step: Step)] {
    var path: [(container: Int, step: Step)] = []
    var container = 0
    while container < start || path.isEmpty {
      var next: (value: Int, step: Step)?
      switch kind(at: container) {
      case .object:
        var members = members(at: container)
        while let member = members.next(), member.keyStart <= start + 1 {
          next = (member.value, .member(value(at: member.keyStart - 1).stringValue ?? ""))
        }
      case .array:
        var elements = elements(at: container)
        var number = 0
        while let element = elements.next(), element <= start {
          next = (element, .element(number))
          number += 1
        }
      default: break
      }
      guard start > 0, let next, next.value > container else { break }
      path.append((container, next.step))
      container = next.value
    }
    return path
  }

  /// The container a number of levels above a value; `nil` above the root.
  fileprivate func container(levels: Int, above start: Int) -> Int? {
    let path = enclosing(start)
    return levels <= path.count ? path[path.count - levels].container : nil
  }

  /// The value at a path, in which an array has positions alone.
  fileprivate func value(at path: FieldPath, from start: Int) -> JSONValue? {
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
    return value(at: place)
  }
}
