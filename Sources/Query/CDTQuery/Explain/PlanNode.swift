import CDTJSON
import CDTPlan

/// A source of a plan with its parts, in words, and once it has been measured with the counts of its rows and documents.
///
/// ```
/// any of: …                              estimated 120 rows, 120 documents; actual 131, 129
/// ├ index "age": age in a range          estimated 100 rows, 100 documents; actual 110, 110
/// └ index "city": city at one value      estimated 20 rows, 20 documents; actual 21, 21
/// ```
struct PlanNode {
  typealias Counts = (rows: Double, documents: Double)

  var title: String
  var index: String?
  var parts: [PlanNode]
  var estimated: Counts?
  var actual: Counts?

  init(_ source: QueryPlan.Source) {
    title = source.title
    parts = source.parts.map(PlanNode.init)
    index = parts.isEmpty ? source.indexes.first?.definition.name : nil
  }

  /// The source in one line.
  var text: String { parts.isEmpty ? title : "\(title): \(parts.map(\.text).joined(separator: "; "))" }

  var json: JSONObject {
    var json: JSONObject = ["source": .string(title), "index": index.map { .string($0) } ?? .null]
    for (name, count) in [("estimated", estimated), ("actual", actual)] {
      guard let count else { continue }
      json[name] = [
        "rows": .int(Int64(count.rows.rounded())), "documents": .int(Int64(count.documents.rounded())),
      ]
    }
    if !parts.isEmpty { json["parts"] = .array(parts.map { .object($0.json) }) }
    return json
  }
}

extension QueryPlan.Source {
  fileprivate var title: String {
    switch self {
    case .nothing: "no document can match"
    case .scan(let range):
      range.isEverything ? "every document" : "the documents whose ids are in a range"
    case .ids(let ids): ids.count == 1 ? "one document by its id" : "\(ids.count) documents by their ids"
    case .index(let access): access.text
    case .nearest(let access): access.text
    case .text(let access): "text index \"\(access.index.definition.name)\": \(access.match)"
    case .union: "any of"
    case .intersection: "all of"
    }
  }
}

extension NearestAccess {
  fileprivate var text: String {
    let constants = zip(index.definition.fields, leading).map { field, _ in "\(field.path) at one value, " }
    return
      "index \"\(index.definition.name)\"\(constants.isEmpty ? " " : ": ")\(constants.joined())in the order of the distances"
  }
}

extension IndexAccess {
  fileprivate var text: String {
    let parts = zip(index.definition.fields, fields).enumerated().map { number, part in
      "\(part.0.path) \(absence[number].map(\.text) ?? part.1.text)"
    }
    let whole = parts.isEmpty ? "all of it" : parts.joined(separator: ", ")
    let rows = "index \"\(index.definition.name)\": \(whole)"
    if filters.isEmpty, ids.isEverything { return rows }
    var requested = filters.map {
      "\(index.definition.fields[$0.field].path) \($0.absence?.text ?? $0.access.text)"
    }
    if !ids.isEverything { requested.append("_id in a range") }
    return "\(rows), of these \(requested.joined(separator: ", "))"
  }
}

extension PredicateAccess.AbsenceFilter {
  fileprivate var text: String {
    switch self {
    case .only(IndexRows.Absence.missing): "missing"
    case .only: "null"
    case .except: "present"
    }
  }
}

extension FieldAccess {
  fileprivate var text: String {
    switch self {
    case .points(let keys): keys.count == 1 ? "at one value" : "at \(keys.count) values"
    case .range(nil, nil): "at any value"
    case .range: "in a range"
    case .ranges(let ranges): ranges.count == 1 ? "in a range of cells" : "in \(ranges.count) ranges of cells"
    }
  }
}
