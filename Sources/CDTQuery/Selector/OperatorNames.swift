/// The operators, and the likely meaning of a misspelled one.
package enum OperatorNames {
  static let combinations = ["$and", "$or", "$nor", "$text"]

  package static let all =
    combinations + [
      "$not", "$eq", "$ne", "$lt", "$lte", "$gt", "$gte", "$in", "$nin", "$exists", "$type", "$mod", "$size",
      "$all", "$elemMatch", "$allMatch", "$keyMapMatch", "$beginsWith", "$regex", "$options",
    ]

  /// The nearest operator at most two edits away, or `nil`.
  static func nearest(to name: String) -> String? { NearestName.of(name, among: all) }
}
