package import CDTJSON

/// The operators, and the likely meaning of a misspelled one.
package enum OperatorNames {
  static let combinations = ["$and", "$or", "$nor", "$text"]

  package static let all =
    combinations + [
      "$not", "$eq", "$ne", "$lt", "$lte", "$gt", "$gte", "$in", "$nin", "$exists", "$type", "$mod", "$size",
      "$all", "$elemMatch", "$allMatch", "$keyMapMatch", "$beginsWith", "$regex", "$options", "$near",
      "$geoWithin",
    ]

  /// The advice for an operator of MongoDB or SQL without a counterpart of a similar name here; `nil` for others.
  static func instead(of name: String) -> String? {
    if RuleAdditions.names.contains(name) {
      return "\"\(name)\" belongs to rules, which design documents have; see docs/rules.md"
    }
    return switch name.lowercased() {
    case "$oid": "an id is a string; write it without \"$oid\""
    case "$date": "a date is a string, such as \"2026-08-01T00:00:00Z\"; write it without \"$date\""
    case "$numberlong", "$numberint", "$numberdouble", "$numberdecimal":
      "a number is written as it is; write it without \"\(name)\""
    case "$like", "$ilike", "$contains", "$text:contains":
      "use \"$beginsWith\" or \"$regex\" for text; an array matches if an element does"
    case "$startswith": "use \"$beginsWith\""
    case "$between": "use \"$gte\" and \"$lte\""
    case "$where", "$expr", "$function": "functions and expressions are not run; use operators on fields"
    case "$search": "use \"$text\", outside of a field"
    case "$maxdistance", "$mindistance", "$metric", "$vector", "$geometry":
      "it is a member of \"$near\"; move it there"
    case "$box", "$polygon", "$centersphere": "it is a member of \"$geoWithin\"; move it there"
    case "$geointersects", "$nearsphere": "use \"$near\" or \"$geoWithin\" for places"
    default: nil
    }
  }

  /// The advice for a value that MongoDB's programs write as `{"$oid": …}`, or with another such name; `nil` for other values.
  package static func instead(of value: JSONValue) -> String? {
    value.objectValue.flatMap { $0.count == 1 ? $0.first : nil }.flatMap { instead(of: $0.key) }
  }

  /// Whether a segment of a path is one of MongoDB's positional operators: `$`, `$[]`, `$[name]`.
  static func isPositional(_ segment: String) -> Bool { segment == "$" || segment.hasBytePrefix("$[") }

  /// The nearest operator at most two edits away, or `nil`.
  static func nearest(to name: String) -> String? { NearestName.of(name, among: all) }
}
