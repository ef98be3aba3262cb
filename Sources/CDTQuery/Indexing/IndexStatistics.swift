import JSON

/// What was measured of an index's rows, for the planner to tell how many a query would meet.
///
/// Values are a sample of those that the documents have, in order: what part of them lies in a range is about the part of
/// the rows that do, and a value that is there again and again is as frequent among the rows. Rarer values are taken to be
/// as frequent as values are on average.
package struct IndexStatistics: Sendable, Hashable {
  /// The sequence up to which the index was complete when it was measured.
  package let sequence: Int64
  /// How many documents there were, deleted ones too.
  package let documents: Double
  /// How many rows the index had.
  package let rows: Double
  /// How many different values the first field had, the first two fields together, and so on.
  package let distinct: [Double]
  /// A sample of each field's values.
  package let fields: [Field]

  package struct Field: Sendable, Hashable {
    /// In order.
    package let keys: [IndexKey]
    /// About how many different values the field has.
    package let distinct: Double
  }

  package init(
    sequence: Int64, documents: Double, rows: Double, distinct: [Double], samples: [[IndexKey]]
  ) {
    self.sequence = sequence
    self.documents = documents
    self.rows = rows
    self.distinct = distinct
    fields = samples.enumerated().map { number, keys in
      Field(
        keys: keys,
        distinct: number == 0 ? distinct.first ?? 1 : Self.distinct(keys, rows: rows))
    }
  }

  /// How many different values some rows have, after what a sample of them has: Duj1, as PostgreSQL counts.
  static func distinct<Value: Hashable>(_ sample: [Value], rows: Double) -> Double {
    var counts: [Value: Int] = [:]
    for value in sample { counts[value, default: 0] += 1 }
    let single = Double(counts.values.count { $0 == 1 })
    let count = Double(sample.count)
    guard count > 0, rows > 0 else { return 1 }
    return count * Double(counts.count) / max(1, count - single + single * count / rows)
  }

  // MARK: Estimates

  /// How many rows lie where the leading fields have these values.
  package func rows(at fields: [FieldAccess]) -> Double {
    var found = rows
    var before = 1.0
    for (number, access) in fields.enumerated() {
      guard case .points(let keys) = access else {
        found *= part(access, field: number)
        continue
      }
      let together = max(before, distinct.indices.contains(number) ? distinct[number] : before)
      found *= part(at: keys, field: number, average: before / together)
      before = together
    }
    return found
  }

  /// What part of all rows has such a value in a field.
  package func part(_ access: FieldAccess, field: Int) -> Double {
    guard fields.indices.contains(field), !fields[field].keys.isEmpty else { return access.usualPart }
    switch access {
    case .points(let keys): return part(at: keys, field: field, average: 1 / max(1, fields[field].distinct))
    case .range(let lower, let upper):
      let keys = fields[field].keys
      let start = lower.map { lower in keys.partition { !lower.isAtOrBelow($0) } } ?? 0
      let end = upper.map { upper in keys.partition { upper.isAtOrAbove($0) } } ?? keys.count
      return (Double(max(0, end - start)) + 0.25) / (Double(keys.count) + 0.5)
    }
  }

  /// How many values of a long list are looked at, the others taken to be like them.
  private static let examined = 32

  private func part(at keys: [IndexKey], field: Int, average: Double) -> Double {
    guard fields.indices.contains(field), !fields[field].keys.isEmpty, keys.count > 0 else {
      return min(1, average * Double(keys.count))
    }
    let some = keys.prefix(Self.examined)
    let sum = some.reduce(0) { $0 + part(at: $1, field: field, average: average) }
    return min(1, sum * Double(keys.count) / Double(some.count))
  }

  private func part(at key: IndexKey, field: Int, average: Double) -> Double {
    let keys = fields[field].keys
    let count = Double(keys.count)
    let start = keys.partition { $0 < key }
    var end = start
    while end < keys.count, keys[end] == key { end += 1 }
    let met = Double(end - start)
    // Often met, its part is known; behind another field, it may depend on that.
    if met >= 3 { return field == 0 ? met / count : max(met / count, average) }
    return field == 0 ? min(average, (met + 1) / count) : average
  }
}

extension Array where Element == IndexKey {
  /// How many of the keys, which are sorted, are `before` some point.
  fileprivate func partition(_ isBefore: (IndexKey) -> Bool) -> Int {
    var (low, high) = (0, count)
    while low < high {
      let middle = (low + high) / 2
      if isBefore(self[middle]) { low = middle + 1 } else { high = middle }
    }
    return low
  }
}

extension FieldAccess {
  /// What part of the rows such an access finds where nothing was measured, by rough rules.
  package var usualPart: Double {
    switch self {
    case .points(let keys): min(0.9, 0.01 * Double(keys.count))
    case .range(let lower, let upper):
      switch (lower, upper) {
      case (.key?, .key?): 0.05
      case (.key?, _), (_, .key?): 0.3
      case (.tag(let low)?, .tag(let high)?) where low == high: 0.7
      default: 1
      }
    }
  }
}
