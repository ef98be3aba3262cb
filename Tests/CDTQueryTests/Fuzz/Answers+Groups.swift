import CDTDatastore
import CDTJSON

@testable import CDTQuery
@testable import CDTSelector

extension World {
  /// Puts a request for groups to every way of answering it, and compares the rows with those of plain code.
  func checkGroups(_ request: JSONObject, against reference: ReferenceAnswers) throws {
    guard let query = try? GroupQuery(request: request) else { return }
    try check(query, against: reference)
    // An index has the values of this one.
    for index in definitions where index.type == .json {
      let (first, last) = (index.fields[0].path, index.fields[index.fields.count - 1].path)
      var covered = Query(query.query.selector)
      covered.limit = query.query.limit
      if let query = try? GroupQuery(
        covered, by: [first], [.count(as: "n0"), .sum(last, as: "n1"), .minimum(last, as: "n2")])
      {
        try check(query, against: reference)
      }
      try check(GroupQuery(distinct: first, covered), against: reference)
      guard let grouped = index.groupedFields, let summed = index.options.sums?.first else { continue }
      let paths = index.fields.map(\.path)
      for level in 0...grouped {
        let aggregates: [GroupQuery.Aggregate] = [
          .count(as: "n0"), .sum(summed, as: "n1"), .average(paths[paths.count - 1], as: "n2"),
          .maximum(summed, as: "n3"),
        ]
        guard
          let query = try? GroupQuery(
            covered, by: Array(paths.prefix(level)), level % 2 == 0 ? aggregates : aggregates.dropLast())
        else { continue }
        try check(query, against: reference)
      }
    }
  }

  /// Compares the groups of every summary with a recount, the total too: a wrong sum may be gone after the next write.
  func checkSummaries() throws {
    for summary in definitions {
      guard let grouped = summary.groupedFields, let summed = summary.options.sums else { continue }
      let filter = summary.options.filter ?? [:]
      let held = documents.filter {
        !$0.id.hasBytePrefix("_design/") && Oracle.matches(filter, $0.body, id: $0.id)
      }
      let aggregates: [GroupQuery.Aggregate] =
        [.count(as: "n")] + summed.enumerated().map { .sum($1, as: "n\($0)") }
      for level in 0...grouped {
        guard
          let groups = try? GroupQuery(
            Query(filter, useIndex: summary.name), by: summary.fields.prefix(level).map(\.path), aggregates)
        else { continue }
        try Expectation.compare(
          indexed.read { try $0.group(groups) }.map(\.text), GroupOracle(groups, held).rows.map(\.text),
          way: "level \(level) of \(summary.name) after a write")
      }
    }
  }

  private func check(_ query: GroupQuery, against reference: ReferenceAnswers) throws {
    var query = query
    var all = Query(query.query.selector)
    all.includesDesignDocuments = documents.count % 3 == 0
    query.query.includesDesignDocuments = all.includesDesignDocuments
    let matches: [DocumentRevision]
    do {
      matches = try reference(all, documents, textIndex(for: query.query))
    } catch is QueryError {
      return
    }
    let expected = try GroupOracle(query, matches).rows.map(\.text)
    func compare(_ rows: [JSONObject], way: String) throws {
      try Expectation.compare(rows.map(\.text), expected, way: "\(way), groups by \(query.fields)")
    }
    try compare(plain.read { try $0.group(query) }, way: "without an index")
    try compare(indexed.read { try $0.group(query) }, way: "with the indexes")
    for index in definitions where index.type == .json {
      var forced = query
      forced.query.useIndex = index.name
      try compare(indexed.read { try $0.group(forced) }, way: "with the index \(index.name)")
    }
    let groups = try ResolvedGroups(query)
    for memory in [0, 1 << 20] {
      for way in try indexed.read({ try QueryEngine($0).everyPlan(groups) }).indices {
        let rows = try indexed.read { transaction in
          let engine = try QueryEngine(transaction)
          let plans = try engine.everyPlan(groups)
          return try engine.run(plans[way % plans.count], memory: memory).rows
        }
        try compare(rows, way: "in way \(way) with \(memory) bytes")
      }
    }
    let streamed = try StreamedGroups(query)
    for document in matches { try document.json.utf8Text.withUnsafeBytes { try streamed.add($0) } }
    try compare(streamed.finish(), way: "streamed")
    _ = try indexed.read { try $0.explain(query) }.description
  }
}

/// The meaning of groups written a second time, on trees.
struct GroupOracle {
  private(set) var rows: [JSONObject] = []

  private struct Group {
    var values: [JSONValue?]
    var members: [[JSONValue?]] = []
  }

  /// - Parameter documents: Those that the selector matches.
  init(_ query: GroupQuery, _ documents: [DocumentRevision]) throws {
    let paths = query.fields.map(Oracle.segments)
    let aggregated = query.aggregates.map { $0.path.map(Oracle.segments) }
    let unwind = query.unwind.map(Oracle.segments)
    var groups: [[JSONValue?]: Group] = query.fields.isEmpty ? [[]: Group(values: [])] : [:]
    for document in documents {
      var whole = document.body
      whole["_id"] = .string(document.id)
      whole["_rev"] = .string(document.revisionID.description)
      let root = JSONValue.object(whole)
      let elements =
        unwind.map { Oracle.reach($0, root).flatMap { $0.arrayValue ?? [$0] } } ?? [root]
      for element in elements {
        func value(_ path: [String]) -> JSONValue? {
          var reached: [JSONValue]
          if let unwind, Self.starts(path, with: unwind) {
            reached = Oracle.reach(Array(path.dropFirst(unwind.count)), element)
          } else {
            reached = Oracle.reach(path, root)
          }
          return reached.count > 1 ? .array(reached) : reached.first
        }
        let key = paths.map(value)
        groups[key, default: Group(values: key)].members.append(aggregated.map { $0.flatMap(value) })
      }
    }
    // Null and missing are equal in the order of values; missing comes first.
    let ordered = groups.values.sorted { left, right in
      for (left, right) in zip(left.values, right.values) where (left ?? .null) != (right ?? .null) {
        return (left ?? .null) < (right ?? .null)
      }
      return zip(left.values, right.values).first { ($0 == nil) != ($1 == nil) }.map { $0.0 == nil } ?? false
    }
    rows = ordered.map { Self.row(of: $0, query, paths) }
    let having = query.having
    rows = try rows.filter {
      try having.matches($0, id: $0["_id"]?.stringValue ?? "", revision: $0["_rev"]?.stringValue ?? "")
    }
    for field in query.query.sort.reversed() {
      let isDescending = field.direction == .descending
      func key(_ row: JSONObject) -> JSONValue {
        let values = Oracle.reach(Oracle.segments(field.path), .object(row)).flatMap { $0.arrayValue ?? [$0] }
        return (isDescending ? values.max() : values.min()) ?? .null
      }
      rows = rows.enumerated().sorted { left, right in
        let (first, second) = (key(left.element), key(right.element))
        return first == second ? left.offset < right.offset : (first < second) != isDescending
      }.map(\.element)
    }
    rows = Array(rows.dropFirst(query.query.skip).prefix(query.query.limit ?? .max))
  }

  private static func starts(_ path: [String], with prefix: [String]) -> Bool {
    path.count >= prefix.count && zip(path, prefix).allSatisfy { $0.hasSameBytes(as: $1) }
  }

  private static func row(of group: Group, _ query: GroupQuery, _ paths: [[String]]) -> JSONObject {
    var row = JSONObject()
    for (path, value) in zip(paths, group.values) {
      guard let value else { continue }
      set(plain(value), at: path[...], in: &row)
    }
    for (number, aggregate) in query.aggregates.enumerated() {
      let values = group.members.compactMap { $0[number] }.filter { $0 != .null }
      var sum = ExactSum()
      for value in values { JSONNumber(value).map { sum.add($0) } }
      row[aggregate.name] =
        switch aggregate.function {
        case .count: .int(Int64(group.members.count))
        case .sum: sum.total
        case .average: sum.average
        case .minimum: values.min().map(plain) ?? .null
        case .maximum: values.max().map(plain) ?? .null
        }
    }
    return row
  }

  private static func set(_ value: JSONValue, at path: ArraySlice<String>, in object: inout JSONObject) {
    guard let name = path.first else { return }
    guard path.count > 1 else { return object[name] = value }
    var inner = object[name]?.objectValue ?? [:]
    set(value, at: path.dropFirst(), in: &inner)
    object[name] = .object(inner)
  }

  /// A value in its shortest form.
  private static func plain(_ value: JSONValue) -> JSONValue {
    switch value {
    case .array(let elements): .array(elements.map(plain))
    case .object(let object):
      .object(JSONObject(object.sorted { $0.key.precedesInBytes($1.key) }.map { ($0.key, plain($0.value)) }))
    case .double, .spelled:
      value.doubleValue.flatMap { Int64(exactly: $0) }.map(JSONValue.int) ?? .double(value.doubleValue ?? 0)
    default: value
    }
  }
}
