/// The operators, and the likely meaning of a misspelled one.
enum OperatorNames {
  static let combinations = ["$and", "$or", "$nor", "$text"]

  static let all =
    combinations + [
      "$not", "$eq", "$ne", "$lt", "$lte", "$gt", "$gte", "$in", "$nin", "$exists", "$type", "$mod", "$size",
      "$all", "$elemMatch", "$allMatch", "$keyMapMatch", "$beginsWith", "$regex", "$options",
    ]

  /// The nearest operator at most two edits away, or `nil`.
  static func nearest(to name: String) -> String? {
    guard name.utf8.count <= 20 else { return nil }
    let lowered = name.lowercased()
    let ranked = all.map { (name: $0, edits: edits(from: lowered, to: $0.lowercased())) }
    guard let best = ranked.min(by: { $0.edits < $1.edits }), best.edits <= 2,
      best.edits < max(2, name.utf8.count - 1)
    else { return nil }
    return best.name
  }

  /// The Levenshtein distance in bytes.
  private static func edits(from source: String, to target: String) -> Int {
    let target = Array(target.utf8)
    var row = Array(0...target.count)
    for (i, byte) in source.utf8.enumerated() {
      var diagonal = row[0]
      row[0] = i + 1
      for j in target.indices {
        let substitution = diagonal + (byte == target[j] ? 0 : 1)
        diagonal = row[j + 1]
        row[j + 1] = min(substitution, row[j] + 1, diagonal + 1)
      }
    }
    return row[target.count]
  }
}
