import CDTDatastore
import CDTJSON
import CDTQuery

/// Hints on standard error about fields that no document has: those of the sort and of `fields`, and, if a query found nothing, those
/// of its selector, with operators without their dollar sign.
struct QueryHints {
  /// How many documents are read to look for fields, and how many of their bytes.
  private static let mostDocuments = 10_000
  private static let mostBytes = 16 * 1024 * 1024
  private static let mostNames = 1_000

  private static let mostPaths = 1_000

  private var missing: [FieldPath] = []
  private var messages: [String] = []
  /// The fields that were looked for already. A run with many queries looks for each once, and for a limited number.
  private var known: Set<FieldPath> = []

  /// Writes hints about a query that was answered. The search for them is short, and its failure is no error.
  ///
  /// - Parameter read: Calls a closure with the JSON of each result of a query.
  mutating func write(
    about query: Query, foundNothing: Bool,
    _ read: (Query, @escaping (UnsafeRawBufferPointer) throws -> Void) throws -> Void
  ) {
    (missing, messages) = ([], [])
    if foundNothing { collect(query.selector.clause, below: []) }
    for path in query.sort.filter({ !$0.isScore }).map(\.path) + query.fields {
      if let path = try? FieldPath(path, allowsDollar: true) { add(path) }
    }
    guard !missing.isEmpty else { return }
    known.formUnion(missing)
    guard (try? look(read)) != nil else { return }
    for message in messages { Message.write("cdtquery: \(message)") }
  }

  /// Collects the fields that a match must have. Negations also match documents without the field.
  private mutating func collect(_ clause: Clause, below parent: [FieldPath.Segment]) {
    switch clause {
    case .and(let clauses), .or(let clauses):
      for clause in clauses { collect(clause, below: parent) }
    case .field(let path, let predicate):
      let whole = FieldPath(segments: parent + path.segments)
      if add(whole) { collect(predicate, of: whole) }
    case .always, .never, .not, .text, .value: return
    }
  }

  /// Adds a field of the body, and returns whether it is one.
  @discardableResult private mutating func add(_ path: FieldPath) -> Bool {
    guard path.documentField == nil, path.text != "_attachments" else { return false }
    if !known.contains(path), !missing.contains(path), known.count < Self.mostPaths { missing.append(path) }
    return true
  }

  private mutating func collect(_ predicate: Predicate, of path: FieldPath) {
    switch predicate {
    case .elementMatches(.fields(let clause)), .allElementsMatch(.fields(let clause)):
      collect(clause, below: path.segments)
    default: return
    }
  }

  /// Looks for the fields in the first documents.
  private mutating func look(
    _ read: (Query, @escaping (UnsafeRawBufferPointer) throws -> Void) throws -> Void
  ) throws {
    var query = try Query([:])
    query.limit = Self.mostDocuments
    var (documents, bytes) = (0, 0)
    var missing = missing
    var names: Set<String> = []
    /// Ends the search.
    struct Enough: Error {}
    do {
      try read(query) { text in
        documents += 1
        bytes += text.count
        let document = JSONBytes(text)
        missing.removeAll { Self.has($0, document) }
        if missing.isEmpty || bytes > Self.mostBytes { throw Enough() }
        var members = document.members(at: 0)
        while names.count < Self.mostNames, let member = members.next() {
          names.insert(document.string(at: member.keyStart - 1))
        }
      }
    } catch is Enough {}
    guard documents > 0 else { return }
    let isEach = documents < Self.mostDocuments && bytes <= Self.mostBytes
    let none = isEach ? "no document" : "none of the first \(documents) documents"
    for path in missing {
      messages.append("\(none) has the field \(Self.quoted(path.text))\(Self.remedy(path, names))")
    }
  }

  private static func has(_ path: FieldPath, _ document: JSONBytes) -> Bool {
    var walk = PathWalk(document, from: 0, through: path.segments)
    return walk.next() != nil
  }

  /// What was probably meant.
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
    return NearestName.of(first, among: names.sorted()).map { "; did you mean \(quoted($0))?" } ?? ""
  }

  private static func quoted(_ name: String) -> String { "\"\(name)\"" }
}
