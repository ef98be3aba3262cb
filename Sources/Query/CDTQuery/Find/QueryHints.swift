import CDTJSON
package import CDTSelector

/// Hints about fields that no document has: those of the sort, of `fields` and of `include`, and, if a query found
/// nothing, those of its selector, with operators without their dollar sign. If the fields are there, about values of a type that they
/// never have.
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

  package init() {}

  /// The hints about a query that was answered. The search for them is short, and its failure is ignored.
  ///
  /// - Parameter read: Calls a closure with the JSON of each result of a query.
  package mutating func messages(
    about query: Query, foundNothing: Bool,
    _ read: (Query, @escaping (UnsafeRawBufferPointer) throws -> Void) throws -> Void
  ) -> [String] {
    (missing, expected, messages) = ([], [], [])
    if foundNothing { collect(query.selector.clause, below: []) }
    for path in query.sort.filter({ !$0.isScore }).map(\.path) + query.fields {
      if let path = try? FieldPath(path, allowsDollar: true) { add(path) }
    }
    for include in (try? ResolvedQuery(query))?.includes ?? [] { add(include.path) }
    for path in sums {
      if let path = try? FieldPath(path, allowsDollar: true) { expect([.number], of: path, isSum: true) }
    }
    guard !missing.isEmpty || !expected.isEmpty else { return [] }
    known.formUnion(missing)
    try? look(read)
    return messages
  }

  /// Collects the fields that a match must have. Negations also match documents without the field.
  private mutating func collect(_ clause: Clause, below parent: [FieldPath.Segment]) {
    switch clause {
    case .and(let clauses), .or(let clauses):
      for clause in clauses { collect(clause, below: parent) }
    case .field(let path, let predicate):
      let whole = FieldPath(segments: parent + path.segments)
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

  private mutating func collect(_ predicate: Predicate, of path: FieldPath) {
    switch predicate {
    case .elementMatches(.fields(let clause)), .allElementsMatch(.fields(let clause)):
      collect(clause, below: path.segments)
    default: return
    }
  }

  // MARK: Types

  /// The types that a query requires of a field's values.
  private struct Expected {
    let path: FieldPath
    var types: Set<JSONType>
    /// The value that was asked for, if it is one.
    var value: JSONValue?
    let isSum: Bool
    /// The types that the values of the documents have, with the first value of each.
    var found: [JSONType: JSONValue] = [:]

    /// Adds the values of a document, and those in them if they are arrays.
    mutating func add(_ document: JSONBytes) {
      var walk = PathWalk(document, from: 0, through: path.segments)
      while let value = walk.next() {
        note(document, value)
        // A sum does not look into arrays.
        guard !isSum, document.kind(at: value) == .array else { continue }
        var elements = document.elements(at: value)
        while let element = elements.next() { note(document, element) }
      }
    }

    private mutating func note(_ document: JSONBytes, _ offset: Int) {
      guard let type = JSONType(document.kind(at: offset)), found[type] == nil else { return }
      found[type] = document.value(at: offset)
    }

    var isMet: Bool { found.keys.contains(where: types.contains) }

    /// The value of a type that the documents have which reads like the one that was asked for.
    var suggestion: JSONValue? {
      switch value {
      case .string(let text)?:
        (try? JSONValue(parsing: text)).flatMap { found[JSONType(of: $0)] == nil ? nil : $0 }
      case let other?: found[.string] == nil ? nil : .string(other.text)
      case nil: nil
      }
    }
  }

  private mutating func expect(
    _ types: Set<JSONType>, of path: FieldPath, value: JSONValue? = nil, isSum: Bool = false
  ) {
    guard path.documentField == nil, !known.contains(path), known.count < Self.maximumPaths else { return }
    if let position = expected.firstIndex(where: { $0.path == path && $0.isSum == isSum }) {
      expected[position].types.formUnion(types)
      if expected[position].value != value { expected[position].value = nil }
    } else {
      expected.append(Expected(path: path, types: types, value: value, isSum: isSum))
    }
  }

  private mutating func expect(_ predicate: Predicate, of path: FieldPath) {
    switch predicate {
    case .equal(let value), .compare(_, let value):
      if value != .null { expect([JSONType(of: value)], of: path, value: value) }
    case .among(let values) where !values.isEmpty && !values.contains(.null):
      expect(Set(values.map { JSONType(of: $0) }), of: path, value: values.count == 1 ? values[0] : nil)
    case .beginsWith, .regex: expect([.string], of: path)
    case .modulo: expect([.number], of: path)
    case .collated(let predicate, _): expect(predicate, of: path)
    default: return
    }
  }

  private static func message(_ expected: Expected, _ isEach: Bool) -> String? {
    // Whether values are missing, or null, is not a matter of types.
    let found = JSONType.allCases.filter { $0 != .null && expected.found[$0] != nil }
    guard !expected.isMet, let first = found.first, let example = expected.found[first] else { return nil }
    let name = quoted(expected.path.text)
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
      + (expected.suggestion.map { "; did you mean \($0.text)?" } ?? "")
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
    var (missing, undecided) = (missing, expected)
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
        undecided.removeAll(where: \.isMet)
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
    messages += undecided.compactMap { Self.message($0, isEach) }
  }

  private static func has(_ path: FieldPath, _ document: JSONBytes) -> Bool {
    var walk = PathWalk(document, from: 0, through: path.segments)
    return walk.next() != nil
  }

  /// The probable remedy: another spelling of the path, or an operator; empty if none is found.
  private static func remedy(_ path: FieldPath, _ names: Set<String>) -> String {
    let parts = path.segments.map { String(decoding: $0.name, as: UTF8.self) }
    let dotted = parts.joined(separator: ".")
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

extension JSONType {
  /// - Returns: `nil` for a byte with which no value begins.
  fileprivate init?(_ kind: JSONKind) {
    switch kind {
    case .null: self = .null
    case .true, .false: self = .boolean
    case .number: self = .number
    case .string: self = .string
    case .array: self = .array
    case .object: self = .object
    case .invalid: return nil
    }
  }

  fileprivate init(of value: JSONValue) {
    switch value {
    case .null: self = .null
    case .bool: self = .boolean
    case .string: self = .string
    case .array: self = .array
    case .object: self = .object
    default: self = .number
    }
  }
}
