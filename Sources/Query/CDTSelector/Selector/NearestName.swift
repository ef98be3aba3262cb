/// What a misspelled name probably means.
package enum NearestName {
  /// The nearest of some names, at most two edits away; `nil` if there is none.
  package static func of(_ name: String, among names: some Sequence<String>) -> String? {
    guard name.utf8.count <= 20 else { return nil }
    let lowered = name.lowercased()
    let ranked = names.map { (name: $0, edits: edits(from: lowered, to: $0.lowercased())) }
    guard let best = ranked.min(by: { $0.edits < $1.edits }), best.edits <= 2,
      best.edits < max(2, name.utf8.count - 1)
    else { return nil }
    return best.name
  }

  /// The Levenshtein distance in bytes, where two neighbors that are swapped are one edit.
  private static func edits(from source: String, to target: String) -> Int {
    let (source, target) = (Array(source.utf8), Array(target.utf8))
    var (beforeLast, last) = ([Int](), Array(0...target.count))
    for (i, byte) in source.enumerated() {
      var row = [i + 1]
      for j in target.indices {
        let substitution = last[j] + (byte == target[j] ? 0 : 1)
        var best = min(substitution, row[j] + 1, last[j + 1] + 1)
        if i > 0, j > 0, byte == target[j - 1], source[i - 1] == target[j] {
          best = min(best, beforeLast[j - 1] + 1)
        }
        row.append(best)
      }
      (beforeLast, last) = (last, row)
    }
    return last[target.count]
  }
}
