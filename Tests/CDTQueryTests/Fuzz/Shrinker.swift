import CDTJSON

/// Makes a history that fails as small as it can: fewer steps, then smaller ones.
///
/// Every candidate is smaller than the last that failed, so shrinking ends; a bound on the attempts makes it end soon.
struct Shrinker {
  /// Whether a history still fails.
  let fails: (History) -> Bool
  private(set) var attempts = 0
  private let maximumAttempts: Int

  init(maximumAttempts: Int = 4_000, fails: @escaping (History) -> Bool) {
    self.fails = fails
    self.maximumAttempts = maximumAttempts
  }

  mutating func shrink(_ history: History) -> History {
    var history = history
    var size = Int.max
    while history.size < size, attempts < maximumAttempts {
      size = history.size
      removeSteps(from: &history)
      for number in history.steps.indices.reversed() { shrinkStep(number, of: &history) }
    }
    return history
  }

  /// Leaves out ever smaller runs of steps.
  private mutating func removeSteps(from history: inout History) {
    var length = max(history.steps.count / 2, 1)
    while true {
      var start = 0
      while start < history.steps.count {
        var candidate = history
        candidate.steps.removeSubrange(start..<min(start + length, history.steps.count))
        if !take(candidate, for: &history) { start += length }
      }
      if length == 1 { return }
      length /= 2
    }
  }

  private mutating func shrinkStep(_ number: Int, of history: inout History) {
    var isSmaller = true
    while isSmaller {
      isSmaller = false
      for simpler in history.steps[number].simpler {
        var candidate = history
        candidate.steps[number] = simpler
        if take(candidate, for: &history) {
          isSmaller = true
          break
        }
      }
    }
  }

  /// Goes on with a candidate if it fails as well.
  private mutating func take(_ candidate: History, for history: inout History) -> Bool {
    guard attempts < maximumAttempts else { return false }
    attempts += 1
    guard fails(candidate) else { return false }
    history = candidate
    return true
  }
}

extension History {
  /// What shrinking makes less of.
  var size: Int { steps.reduce(0) { $0 + $1.size } }
}

extension Step {
  fileprivate var size: Int { 2 + plainness + argument.size }

  /// Steps that do less than others are simpler.
  private var plainness: Int {
    switch name {
    case .miss: 2
    case .rival, .begin: 1
    default: 0
    }
  }

  /// Steps that may fail in the same way, each smaller than this one.
  fileprivate var simpler: [Step] {
    let plainer: [Step] =
      switch name {
      case .miss: [Step(writes, argument)]
      case .rival: [Step(.put, argument)]
      case .begin: [Step(.index, argument)]
      default: []
      }
    return plainer + argument.simpler.map { Step(name, $0) }
  }
}

extension JSONValue {
  /// What shrinking makes less of.
  fileprivate var size: Int {
    switch self {
    case .null, .int(0): 1
    case .bool: 2
    case .int(let int): 2 + String(int.magnitude).utf8.count + (int < 0 ? 1 : 0)
    case .double: 24
    case .spelled: 30
    case .string(let string): 2 + 2 * string.utf8.count
    case .array(let elements): elements.reduce(3) { $0 + $1.size }
    case .object(let object): object.reduce(3) { $0 + 2 * $1.key.utf8.count + $1.value.size }
    }
  }

  /// Values that are smaller, the boldest first.
  fileprivate var simpler: [JSONValue] {
    candidates.filter { $0.size < size }
  }

  private var candidates: [JSONValue] {
    switch self {
    case .null: []
    case .bool: [.null]
    case .int(let int): [0, 1, .int(int / 2), .int(int.magnitude > 9 ? int / 10 : 0)]
    case .double(let double): [0, 1, Int64(exactly: double.rounded()).map(JSONValue.int) ?? .int(.max)]
    case .spelled: [0, .int(.max), .int(.min)]
    case .string(let string): [0] + Self.shorter(string).map(JSONValue.string)
    case .array(let elements): [0] + Self.simplerArrays(elements)
    case .object(let object): [0] + Self.simplerObjects(object)
    }
  }

  private static func shorter(_ string: String) -> [String] {
    let scalars = Array(string.unicodeScalars)
    func text(_ scalars: some Sequence<Unicode.Scalar>) -> String {
      var view = String.UnicodeScalarView()
      view.append(contentsOf: scalars)
      return String(view)
    }
    let halves = [text(scalars.prefix(scalars.count / 2)), text(scalars.dropFirst(scalars.count / 2))]
    let shorter = scalars.prefix(40).indices.map { text(scalars[..<$0] + scalars[($0 + 1)...]) }
    return ["", "a"] + halves + shorter
  }

  private static func simplerArrays(_ elements: [JSONValue]) -> [JSONValue] {
    let halves = [Array(elements.prefix(elements.count / 2)), Array(elements.dropFirst(elements.count / 2))]
    var arrays = halves.map(JSONValue.array)
    for index in elements.indices {
      arrays.append(.array(Array(elements[..<index] + elements[(index + 1)...])))
    }
    arrays += elements
    for index in elements.indices {
      for simpler in elements[index].simpler {
        var changed = elements
        changed[index] = simpler
        arrays.append(.array(changed))
      }
    }
    return arrays
  }

  private static func simplerObjects(_ object: JSONObject) -> [JSONValue] {
    var objects: [JSONValue] = []
    for (key, _) in object {
      var changed = object
      changed[key] = nil
      objects.append(.object(changed))
    }
    // What an operator holds in place of it, as in {"$not": {"$eq": 1}}, and of what it combines each member.
    for (_, value) in object {
      objects += [value] + (value.arrayValue ?? [])
    }
    for (key, value) in object {
      for simpler in value.simpler {
        var changed = object
        changed[key] = simpler
        objects.append(.object(changed))
      }
    }
    return objects
  }
}
