import CDTJSON

/// The measured statistics of an index, from which the planner estimates row counts.
///
/// Values are a sorted sample of those of the documents: the fraction of the sample in a range approximates the
/// fraction of rows, and a repeated value is about as frequent among the rows. Rarer values are assumed to have
/// average frequency.
package struct IndexStatistics: Sendable, Hashable {
  /// The sequence up to which the index was complete at the measurement.
  package let sequence: Int64
  /// The number of documents, including deleted ones.
  package let documents: Double
  /// The number of rows.
  package let rows: Double
  /// The number of distinct values of the first field, of the first two fields together, and so on.
  package let distinct: [Double]
  /// A sample of each field's values.
  package let fields: [Field]

  package struct Field: Sendable, Hashable {
    /// Sorted.
    package let keys: [OrderKey]
    /// The approximate number of distinct values.
    package let distinct: Double
  }

  package init(
    sequence: Int64, documents: Double, rows: Double, distinct: [Double], samples: [[OrderKey]]
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

  /// Estimates the number of distinct values from a sample with the Duj1 estimator, which PostgreSQL also uses.
  static func distinct<Value: Hashable>(_ sample: [Value], rows: Double) -> Double {
    var counts: [Value: Int] = [:]
    for value in sample { counts[value, default: 0] += 1 }
    let single = Double(counts.values.count { $0 == 1 })
    let count = Double(sample.count)
    guard count > 0, rows > 0 else { return 1 }
    return count * Double(counts.count) / max(1, count - single + single * count / rows)
  }

  // MARK: Estimates

  /// The number of rows whose leading fields have these values.
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

  /// The fraction of all rows that match an access to a field.
  package func part(_ access: FieldAccess, field: Int) -> Double {
    guard fields.indices.contains(field), !fields[field].keys.isEmpty else { return access.usualPart }
    switch access {
    case .points(let keys): return part(at: keys, field: field, average: 1 / max(1, fields[field].distinct))
    case .range(let lower, let upper):
      let keys = fields[field].keys
      let start = if let lower { keys.partition(before: lower) } else { 0 }
      let end = if let upper { keys.partition(before: upper) } else { keys.count }
      return (Double(max(0, end - start)) + 0.25) / (Double(keys.count) + 0.5)
    case .ranges(let ranges):
      let keys = fields[field].keys
      let found = ranges.reduce(0) { found, range in
        found + keys.partition(before: range.upper) - keys.partition(before: range.lower)
      }
      return (Double(found) + 0.25) / (Double(keys.count) + 0.5)
    }
  }

  /// The number of values of a long list that are looked up; the rest are assumed to be similar.
  private static let examined = 32

  private func part(at keys: [OrderKey], field: Int, average: Double) -> Double {
    guard fields.indices.contains(field), !fields[field].keys.isEmpty, keys.count > 0 else {
      return min(1, average * Double(keys.count))
    }
    let some = keys.prefix(Self.examined)
    let sum = some.reduce(0) { $0 + part(at: $1, field: field, average: average) }
    return min(1, sum * Double(keys.count) / Double(some.count))
  }

  private func part(at key: OrderKey, field: Int, average: Double) -> Double {
    let keys = fields[field].keys
    let count = Double(keys.count)
    let start = keys.partition(before: key)
    var end = start
    while end < keys.count, keys[end] == key { end += 1 }
    let met = Double(end - start)
    // The fraction of a frequent value is known; after the first field it may depend on the previous one.
    if met >= 3 { return field == 0 ? met / count : max(met / count, average) }
    return field == 0 ? min(average, (met + 1) / count) : average
  }
}

extension Array where Element == OrderKey {
  /// The number of sorted keys that are less than one.
  fileprivate func partition(before key: OrderKey) -> Int {
    withUnsafeBufferPointer { keys in
      var (low, high) = (0, keys.count)
      while low < high {
        let middle = (low + high) / 2
        if keys[middle] < key { low = middle + 1 } else { high = middle }
      }
      return low
    }
  }
}

extension FieldAccess {
  /// The assumed fraction of matching rows without statistics.
  package var usualPart: Double {
    switch self {
    case .points(let keys): min(0.9, 0.01 * Double(keys.count))
    case .range(let lower, let upper):
      switch (lower?.isTypeBound, upper?.isTypeBound) {
      case (false, false): 0.05
      case (false, _), (_, false): 0.3
      case (true, true): 0.7
      default: 1
      }
    case .ranges: 0.05
    }
  }
}
