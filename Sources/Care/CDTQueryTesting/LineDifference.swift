/// The difference of two texts, line by line.
enum LineDifference {
  /// Every line of both: ` ` before common lines, `-` before old ones, `+` before new ones.
  static func lines(from old: [String], to new: [String]) -> [String] {
    let difference = new.difference(from: old) { $0.utf8.elementsEqual($1.utf8) }
    var removed = Set<Int>()
    var inserted = Set<Int>()
    for change in difference {
      switch change {
      case .remove(let offset, _, _): removed.insert(offset)
      case .insert(let offset, _, _): inserted.insert(offset)
      }
    }
    var lines: [String] = []
    var (o, n) = (0, 0)
    while o < old.count || n < new.count {
      if o < old.count, removed.contains(o) {
        lines.append("-\(old[o])")
        o += 1
      } else if n < new.count, inserted.contains(n) {
        lines.append("+\(new[n])")
        n += 1
      } else if o < old.count {
        lines.append(" \(old[o])")
        o += 1
        n += 1
      } else {
        break
      }
    }
    return lines
  }
}
