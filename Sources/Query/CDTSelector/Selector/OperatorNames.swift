/// The operators, and the likely meaning of a misspelled one.
package enum OperatorNames {
  static let combinations = ["$and", "$or", "$nor", "$text"]

  package static let all =
    combinations + [
      "$not", "$eq", "$ne", "$lt", "$lte", "$gt", "$gte", "$in", "$nin", "$exists", "$type", "$mod", "$size",
      "$all", "$elemMatch", "$allMatch", "$keyMapMatch", "$beginsWith", "$regex", "$options",
    ]

  /// The advice for an operator of MongoDB or SQL without a counterpart of a similar name here; `nil` for others.
  static func instead(of name: String) -> String? {
    if RuleAdditions.names.contains(name) {
      return "\"\(name)\" belongs to rules, which design documents have; see docs/rules.md"
    }
    return switch name.lowercased() {
    case "$oid": "an id is a string; write it without \"$oid\""
    case "$date", "$numberlong", "$numberint", "$numberdouble", "$numberdecimal":
      "values are plain JSON; write the number, or the date as a string, without it"
    case "$like", "$ilike", "$contains", "$text:contains":
      "use \"$beginsWith\" or \"$regex\" for text; an array matches if an element does"
    case "$startswith": "use \"$beginsWith\""
    case "$between": "use \"$gte\" and \"$lte\""
    case "$where", "$expr", "$function": "functions and expressions are not run; use operators on fields"
    case "$search": "use \"$text\", outside of a field"
    case "$near", "$geowithin", "$geointersects": "there are no operators for places"
    default: nil
    }
  }

  /// Whether a segment of a path is one of MongoDB's positional operators: `$`, `$[]`, `$[name]`.
  static func isPositional(_ segment: String) -> Bool { segment == "$" || segment.hasBytePrefix("$[") }

  /// The nearest operator at most two edits away, or `nil`.
  static func nearest(to name: String) -> String? { NearestName.of(name, among: all) }
}
