import CDTJSON

/// A query for groups with validated and parsed parts.
struct ResolvedGroups: Sendable {
  /// A value of each document: that of a field of the group, or one that is aggregated.
  struct Input: Sendable, Hashable {
    let path: FieldPath
    let documentField: FieldPath.DocumentField?
    /// The path in the unwound element, if the value is in it.
    let inElement: [FieldPath.Segment]?
  }

  /// The source of the value of an aggregate.
  enum Output: Sendable {
    case count
    case sum(Int), average(Int)
    case extreme(Int)
  }

  struct Extreme: Sendable, Hashable {
    let input: Int
    let isMaximum: Bool
  }

  /// The query for the documents, without order and page.
  let documents: ResolvedQuery
  /// The values of the fields first.
  private(set) var inputs: [Input] = []
  /// The number of fields.
  let fields: Int
  private(set) var outputs: [(name: String, output: Output)] = []
  /// The inputs that are summed.
  private(set) var sums: [Int] = []
  private(set) var extremes: [Extreme] = []
  let unwind: FieldPath?
  let having: QuerySelector
  /// The order of the rows.
  let sort: SortOrder
  let skip: Int
  let limit: Int?

  /// The names of the members that the fields are in a row, each inside the one before.
  let memberNames: [[String]]

  /// - Throws: ``QueryError`` with the path of the invalid part.
  init(_ query: GroupQuery) throws(QueryError) {
    let page = try ResolvedQuery(query.query)
    if !query.query.fields.isEmpty { throw QueryError(.unusableWithGroups("fields", "name them in \"by\"")) }
    if query.query.bookmark != nil || query.query.isBackward {
      throw QueryError(.unusableWithGroups("bookmark", "use skip and limit"))
    }
    if page.collation != nil {
      throw QueryError(
        .unusableWithGroups("collation", "leave it out, as groups compare strings by their bytes"))
    }
    if query.query.snippets != nil {
      throw QueryError(.unusableWithGroups("snippets", "leave them out, as rows are not documents"))
    }
    if query.query.returnsDistance {
      throw QueryError(.unusableWithGroups("distance", "leave it out, as rows are not documents"))
    }
    if !page.includes.isEmpty {
      throw QueryError(.unusableWithGroups("include", "leave it out, as rows are not documents"))
    }
    if page.sort.isByScore {
      throw QueryError(.unusableWithGroups("sort", "rows have no score; sort by a member"))
    }
    guard query.having.clause.textSearch == nil else {
      throw QueryError(.unusableWithGroups("$text", "search the documents with the selector"))
    }
    documents = try ResolvedQuery(query.query.withoutPage)
    (sort, skip, limit) = (page.sort.distance == nil ? page.sort : .byID, page.skip, page.limit)
    having = query.having
    fields = query.fields.count
    for (count, place) in [(query.fields.count, "by"), (query.aggregates.count, "aggregates")]
    where count > GroupQuery.maximumFields {
      throw QueryError(
        .tooManyGroupMembers(count, place == "by" ? "fields" : "aggregates", most: GroupQuery.maximumFields),
        at: place)
    }
    guard fields > 0 || !query.aggregates.isEmpty else { throw QueryError(.groupWithoutMembers) }
    let unwind = try query.unwind.map { path throws(QueryError) in try Self.path(path, at: "unwind") }
    if let unwind, unwind.documentField != nil { throw QueryError(.unwoundDocumentField(unwind.text)) }
    self.unwind = unwind
    var paths: [FieldPath] = []
    for (number, text) in query.fields.enumerated() {
      let place = "by[\(number)]"
      let path = try Self.path(text, at: place)
      let overlaps = paths.contains { other in
        path.segments.starts(with: other.segments) || other.segments.starts(with: path.segments)
      }
      if overlaps { throw QueryError(.overlappingFields(text), at: place) }
      paths.append(path)
    }
    memberNames =
      query.names?.map { [$0] } ?? paths.map { $0.segments.map { String(decoding: $0.name, as: UTF8.self) } }
    inputs = paths.map { Input($0, unwound: unwind) }
    var members = memberNames.compactMap(\.first)
    if let names = query.names, let name = names.first(where: { name in names.count { $0 == name } > 1 }) {
      throw QueryError(.repeatedMember(name), at: "by")
    }
    for aggregate in query.aggregates {
      let (name, place) = (aggregate.name, "aggregates.\(aggregate.name)")
      guard !name.isEmpty, !name.utf8.contains(where: { ".$\\".utf8.contains($0) }) else {
        throw QueryError(.invalidAggregateName(name), at: place)
      }
      if members.contains(where: { $0.hasSameBytes(as: name) }) {
        throw QueryError(.repeatedMember(name), at: place)
      }
      members.append(name)
      outputs.append((name, try output(of: aggregate, at: place)))
    }
    for (number, field) in sort.fields.enumerated() {
      try Self.check(field.path, members, at: "sort[\(number)]")
    }
    try Self.check(having.clause, members)
  }

  private static func path(_ text: String, at place: String) throws(QueryError) -> FieldPath {
    do {
      return try FieldPath(text)
    } catch {
      throw QueryError(.invalidPath(text, error), at: place)
    }
  }

  private mutating func output(
    of aggregate: GroupQuery.Aggregate, at place: String
  ) throws(QueryError) -> Output {
    guard let text = aggregate.path else { return .count }
    let input = Input(try Self.path(text, at: place), unwound: unwind)
    let number = inputs.position(of: input)
    switch aggregate.function {
    case .count: return .count
    case .sum: return .sum(sums.position(of: number))
    case .average: return .average(sums.position(of: number))
    case .minimum: return .extreme(extremes.position(of: Extreme(input: number, isMaximum: false)))
    case .maximum: return .extreme(extremes.position(of: Extreme(input: number, isMaximum: true)))
    }
  }

  /// Throws if the rows never have a member that is sorted by or asked for, which is probably misspelled.
  private static func check(_ path: FieldPath, _ members: [String], at place: String) throws(QueryError) {
    let name = path.segments.first.map { String(decoding: $0.name, as: UTF8.self) } ?? ""
    guard members.contains(where: { $0.hasSameBytes(as: name) }) else {
      throw QueryError(.notOfRows(name, members: members), at: place)
    }
  }

  private static func check(_ having: Clause, _ members: [String]) throws(QueryError) {
    switch having {
    case .field(let path, _): try check(path, members, at: "having.\(path.text)")
    case .and(let clauses), .or(let clauses):
      for clause in clauses { try check(clause, members) }
    case .not(let clause): try check(clause, members)
    case .always, .never, .text, .value, .rule: break
    }
  }
}

extension ResolvedGroups.Input {
  fileprivate init(_ path: FieldPath, unwound: FieldPath?) {
    self.path = path
    documentField = path.documentField
    inElement = unwound.flatMap { unwound in
      path.segments.starts(with: unwound.segments)
        ? Array(path.segments.dropFirst(unwound.segments.count)) : nil
    }
  }
}

extension Array where Element: Equatable {
  /// The position of an element, which is appended if it is not there.
  fileprivate mutating func position(of element: Element) -> Int {
    if let known = firstIndex(of: element) { return known }
    append(element)
    return count - 1
  }
}
