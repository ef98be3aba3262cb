// Groups, look-arounds, options, and references to groups.
extension PatternParser {
  mutating func group() throws(Failure) -> PatternPiece {
    let start = position
    let outer = options
    guard depth < Self.maximumDepth else { throw failure(.tooDeep) }
    for kind in ["(?:", "(?>"] where skip(kind) { return .group(kind, try body(from: start, outer)) }
    for kind in ["(?=", "(?!", "(?<=", "(?<!"] where skip(kind) {
      let alternatives = try body(from: start, outer)
      guard !kind.hasPrefix("(?<") || alternatives.allSatisfy({ $0.length ?? .max <= Self.maximumLookBehind })
      else { throw failure(.lengthOfLookBehind, at: start) }
      return .look(kind, alternatives)
    }
    let name = skip("(?<") || skip("(?P<") ? try self.name(until: ">") : nil
    guard name != nil || !starts(with: "(?") else { return try optionSetting(from: start) }
    if let name {
      guard names[name] == nil else { throw failure(.name(name), at: start) }
      names[name] = groups + 1
    } else {
      guard !starts(with: "(*") else { throw failure(.construct("(*")) }
      position += 1
    }
    groups += 1
    let number = groups
    let alternatives = try body(from: start, outer)
    closedGroups.insert(number)
    return .group("(", alternatives)
  }

  /// Options in parentheses, which hold up to the end of the enclosing group, or of their own: `(?i)` and `(?i-s:…)`.
  private mutating func optionSetting(from start: Int) throws(Failure) -> PatternPiece {
    let outer = options
    position += 2
    var value = true
    while let letter = next, letter != ")", letter != ":" {
      let isRepeated = starts(with: "xx")
      position += 1
      if letter == "-", value {
        value = false
      } else if isRepeated || !options.set(letter, value) {
        throw failure(.construct(String(scalars[start..<start + 3])), at: start)
      }
    }
    if skip(":") { return .group("(?:", try body(from: start, outer)) }
    guard skip(")") else { throw failure(.unfinished("(?"), at: start) }
    return PatternPiece()
  }

  /// The alternatives of a group whose beginning has been read, and its end, after which the options are the outer ones again.
  private mutating func body(from start: Int, _ outer: Options) throws(Failure) -> [PatternPiece] {
    depth += 1
    let alternatives = try self.alternatives()
    depth -= 1
    options = outer
    guard skip(")") else { throw failure(.unfinished("("), at: start) }
    return alternatives
  }

  private mutating func name(until end: Unicode.Scalar) throws(Failure) -> String {
    let start = position
    let name = String(scalars[start...].prefix { $0 != end })
    let isValid = name.unicodeScalars.allSatisfy { $0 == "_" || $0.digit(radix: 36) != nil }
    position += name.unicodeScalars.count + 1
    guard position <= scalars.count, isValid, name.utf8.count <= 32,
      let first = name.unicodeScalars.first, first.digit(radix: 10) == nil
    else { throw failure(.name(name), at: start) }
    return name
  }

  /// A reference such as `\1`, `\g{1}` or `\k<name>`, after its backslash; `nil` if something else follows.
  mutating func reference(from start: Int) throws(Failure) -> PatternPiece? {
    var group: Int?
    if skip("k<") {
      group = names[try name(until: ">")]
    } else if skip("g{") {
      group = number()
      guard skip("}") else { throw failure(.construct("\\g"), at: start) }
    } else if next == "0" {
      return nil
    } else {
      group = number()
      guard group != nil else { return nil }
    }
    let text = String(scalars[start..<position])
    guard let group, closedGroups.contains(group) else { throw failure(.reference(text), at: start) }
    guard !options.ignoresCase else { throw failure(.caselessReference(text), at: start) }
    hasReference = true
    // A digit may follow.
    return .group("(?:\\\(group))", canBeEmpty: true)
  }
}
