import CDTJSON
package import CDTSelector

/// Hints about fields that no document has: those of the sort, of `fields` and of `include`, and, if a query found
/// nothing, those of its selector, with operators without their dollar sign. If the fields are there, about values of a type that they
/// never have, and about values that are there in another type. A comparison that finds values of another type gets this hint, too.
package struct QueryHints {
  /// The limits of the search for fields: documents, bytes and names.
  private static let maximumDocuments = 10_000
  private static let maximumBytes = 16 * 1024 * 1024
  private static let maximumNames = 1_000

  private static let maximumPaths = 1_000

  /// The fields whose numbers were summed, without there being any.
  package var sums: [String] = []

  private var missing: [FieldPath] = []
  private var expected: [Expected] = []
  private var messages: [String] = []
  /// The fields that were looked for already. A run with many queries looks for each once, and for a limited number.
  private var known: Set<FieldPath> = []
  /// The fields whose comparisons found something.
  private var compared: Set<FieldPath> = []

  package init() {}

  /// The hints about a query that was answered. The search for them is short, and its failure is ignored.
  ///
  /// - Parameter read: Calls a closure with the JSON of each result of a query.
  package mutating func messages(
    about query: Query, foundNothing: Bool,
    _ read: (Query, @escaping (UnsafeRawBufferPointer) throws -> Void) throws -> Void
  ) -> [String] {
    (missing, expected, messages) = ([], [], [])
    collect(query.selector.clause, below: [], foundNothing)
    if !foundNothing { keepComparisons(of: query, read) }
    for path in query.sort.filter({ !$0.isScore }).map(\.path) + query.fields
    where path != NearCondition.member || !query.returnsDistance {
      if let path = try? FieldPath(path, allowsDollar: true) { add(path) }
    }
    for include in (try? ResolvedQuery(query))?.includes ?? [] { add(include.path) }
    for path in sums {
      if let path = try? FieldPath(path, allowsDollar: true) { expect([.number], of: path, isSum: true) }
    }
    guard !missing.isEmpty || !expected.isEmpty else { return messages }
    known.formUnion(missing)
    try? look(read)
    return messages
  }

  /// Collects the fields that a match must have, or those that are compared. Negations also match documents without the field.
  private mutating func collect(
    _ clause: Clause, below parent: [FieldPath.Segment], _ foundNothing: Bool = true
  ) {
    switch clause {
    case .and(let clauses), .or(let clauses):
      for clause in clauses { collect(clause, below: parent, foundNothing) }
    case .field(let path, let predicate):
      let whole = FieldPath(segments: parent + path.segments)
      guard foundNothing else {
        if case .compare = predicate, compared.insert(whole).inserted { expect(predicate, of: whole) }
        return
      }
      expect(predicate, of: whole)
      if add(whole) { collect(predicate, of: whole) }
    case .always, .never, .not, .text, .value, .rule: return
    }
  }

  /// Adds a field of the body, and returns whether it is one.
  @discardableResult private mutating func add(_ path: FieldPath) -> Bool {
    guard path.documentField == nil, path.text != "_attachments" else { return false }
    if !known.contains(path), !missing.contains(path), known.count < Self.maximumPaths {
      missing.append(path)
    }
    return true
  }

  /// Keeps the fields that have only values of other types in the first result.
  private mutating func keepComparisons(
    of query: Query, _ read: (Query, @escaping (UnsafeRawBufferPointer) throws -> Void) throws -> Void
  ) {
    guard !expected.isEmpty else { return }
    let all = expected
    var (first, kept) = (query.withoutPage, [Expected]())
    first.limit = 1
    try? read(first) { text in
      kept = all.filter { expected in
        var expected = expected
        expected.add(JSONBytes(text))
        return !expected.found.isEmpty && !expected.isMet
      }
    }
    expected = kept
  }

  private mutating func collect(_ predicate: Predicate, of path: FieldPath) {
    switch predicate {
    case .elementMatches(.fields(let clause)), .allElementsMatch(.fields(let clause)):
      collect(clause, below: path.segments)
    default: return
    }
  }

  // MARK: Types

  private mutating func expect(
    _ types: Set<JSONType>, of path: FieldPath, _ values: [JSONValue] = [], isSum: Bool = false,
    seeksOther: Bool = false
  ) {
    guard path.documentField == nil, !known.contains(path), known.count < Self.maximumPaths else { return }
    if let position = expected.firstIndex(where: { $0.path == path && $0.isSum == isSum }) {
      expected[position].add(types, values)
    } else {
      expected.append(Expected(types, of: path, values, isSum: isSum, seeksOther: seeksOther))
    }
  }

  private mutating func expect(_ predicate: Predicate, of path: FieldPath) {
    switch predicate {
    case .equal(let value):
      if value != .null {
        expect([JSONType(of: value)], of: path, [value], seeksOther: value.stringValue != nil)
      }
    case .compare(_, let value): expect([JSONType(of: value)], of: path, [value])
    case .among(let values) where !values.isEmpty && !values.contains(.null):
      expect(Set(values.map { JSONType(of: $0) }), of: path, values)
    case .regex(let expression):
      expect([.string], of: path)
      if let plain = Self.withoutSlashes(expression) {
        messages.append(
          "the slashes of \(JSONValue.string(expression.pattern).text) are a part of the pattern; without them it is \(plain.text)"
        )
      }
    case .collated(let predicate, _): expect(predicate, of: path)
    case .near(let near):
      expect(predicate.types, of: path)
      if case .vector(let vector, _) = near.distance,
        let position = expected.firstIndex(where: { $0.path == path })
      {
        expected[position].vectorLength = vector.count
      }
    case .within: expect(predicate.types, of: path)
    case .among: return
    default: if predicate.looksIntoArrays, let type = predicate.onlyType { expect([type], of: path) }
    }
  }

  private static func message(_ expected: Expected, _ isEach: Bool) -> String? {
    // Whether values are missing, or null, is not a matter of types.
    let found = JSONType.allCases.filter { $0 != .null && expected.found[$0] != nil }
    let name = quoted(expected.path.text)
    if expected.isMet, let other = expected.other {
      return
        "some documents have the \(JSONType(of: other).rawValue) \(shortened(other)) in \(name); did you mean \(other.text)?"
    }
    if let wanted = expected.vectorLength, let length = expected.lengthOfVectors, length != wanted {
      return
        "the \"$vector\" has \(wanted) numbers, and \(name) has \(length); use a vector of the same model"
    }
    guard !expected.isMet, let first = found.first, let example = expected.found[first] else { return nil }
    let place = isEach ? "" : " in the first documents"
    let types = names(of: found)
    if expected.isSum {
      return
        "no value of \(name)\(place) is a number: it is \(types), such as \(shortened(example)), which a sum or an average leaves out"
        + (first == .string ? "; tables are imported with --quoted-numbers or --decimal-comma" : "")
    }
    let wanted = names(of: JSONType.allCases.filter(expected.types.contains))
    return
      "the query needs \(wanted) in \(name), which is \(types)\(place), such as \(shortened(example))"
      + (expected.remedy.map { "; \($0)" } ?? "")
  }

  /// A pattern as JavaScript writes it, `/dune/i`, without the slashes; `nil` for another pattern.
  private static func withoutSlashes(_ expression: RegularExpression) -> JSONObject? {
    let parts = expression.pattern.splitBytes(at: "/")
    guard parts.count > 2, parts[0].isEmpty, let flags = parts.last,
      flags.allSatisfy({ "dgimsuvy".contains($0) })
    else { return nil }
    var plain: JSONObject = ["$regex": .string(parts[1..<parts.count - 1].joined(separator: "/"))]
    let options = "imsx".filter { (flags + expression.options).contains($0) }
    if !options.isEmpty { plain["$options"] = .string(options) }
    return plain
  }

  /// As in `a number or an array`.
  private static func names(of types: [JSONType]) -> String {
    types.map { [.array, .object].contains($0) ? "an \($0.rawValue)" : "a \($0.rawValue)" }
      .joined(separator: " or ")
  }

  private static func shortened(_ value: JSONValue) -> String {
    let text = value.text
    return text.count > 40 ? "\(text.prefix(40))…" : text
  }

  /// Looks for the fields in the first documents.
  private mutating func look(
    _ read: (Query, @escaping (UnsafeRawBufferPointer) throws -> Void) throws -> Void
  ) throws {
    var query = try Query([:])
    query.limit = Self.maximumDocuments
    var (documents, bytes) = (0, 0)
    var (missing, undecided, decided) = (missing, expected, [Expected]())
    var names: Set<String> = []
    /// Ends the search.
    struct Enough: Error {}
    do {
      try read(query) { text in
        documents += 1
        bytes += text.count
        let document = JSONBytes(text)
        missing.removeAll { Self.has($0, document) }
        for position in undecided.indices { undecided[position].add(document) }
        decided += undecided.filter(\.isDecided)
        undecided.removeAll(where: \.isDecided)
        if missing.isEmpty && undecided.isEmpty || bytes > Self.maximumBytes { throw Enough() }
        var members = document.members(at: 0)
        while names.count < Self.maximumNames, let member = members.next() {
          names.insert(document.string(at: member.keyStart - 1))
        }
      }
    } catch is Enough {}
    guard documents > 0 else { return }
    let isEach = documents < Self.maximumDocuments && bytes <= Self.maximumBytes
    let none = isEach ? "no document" : "none of the first \(documents) documents"
    for path in missing {
      messages.append("\(none) has the field \(Self.quoted(path.text))\(Self.remedy(path, names))")
    }
    messages += (decided + undecided).compactMap { Self.message($0, isEach) }
  }

  private static func has(_ path: FieldPath, _ document: JSONBytes) -> Bool {
    var walk = PathWalk(document, from: 0, through: path.segments)
    return walk.next() != nil
  }

  /// The probable remedy: another spelling of the path, or an operator; empty if none is found.
  private static func remedy(_ path: FieldPath, _ names: Set<String>) -> String {
    let parts = path.segments.map { String(decoding: $0.name, as: UTF8.self) }
    let dotted = parts.joined(separator: ".")
    if dotted == NearCondition.member {
      return "; without a sort, \"$near\" orders the results by their distance"
    }
    if parts.count > 1, names.contains(where: { $0.hasSameBytes(as: dotted) }) {
      let literal = FieldPath(segments: [FieldPath.Segment(name: Array(dotted.utf8))])
      return ", but there is one with a dot in its name; write \(literal.text)"
    }
    if let name = parts.dropFirst().first(where: { OperatorNames.all.contains("$\($0)") }) {
      return "; the operator is written \"$\(name)\""
    }
    guard let first = parts.first, !names.contains(first) else { return "" }
    return NearestName.of(first, among: names.sorted()).map { name in
      "; did you mean \(quoted(([name] + parts.dropFirst()).joined(separator: ".")))?"
    } ?? ""
  }

  private static func quoted(_ name: String) -> String { "\"\(name)\"" }
}
