import CDTJSON
import CDTPlan

/// The conditions on the keys of an index that are not expressed by its ranges.
///
/// ```
/// an index on (name, age), {"name": {"$beginsWith": "m"}, "age": 7}   →   of the keys from "m" on and before "n", those with 7
/// ```
struct KeyFilter: Sendable {
  private struct Condition {
    let field: Int
    /// The parts that match, in order; `nil` for any.
    let ranges: [KeyRange]?
    let absence: PredicateAccess.AbsenceFilter?
  }

  private let layout: KeyLayout
  /// In the order of the fields.
  private let conditions: [Condition]
  private let ids: KeyRange?

  /// - Returns: `nil` if there are no such conditions.
  init?(_ access: IndexAccess, _ layout: KeyLayout) {
    guard access.filtersKeys else { return nil }
    self.layout = layout
    conditions =
      access.absence.sorted { $0.key < $1.key }.map {
        Condition(field: $0.key, ranges: nil, absence: $0.value)
      }
      + access.filters.map { filter in
        let ranges = filter.access.ranges(isDescending: layout.isDescending(filter.field))
        return Condition(field: filter.field, ranges: ranges, absence: filter.absence)
      }
    ids =
      access.ids.isEverything
      ? nil
      : FieldAccess.range(lower: access.ids.lower, upper: access.ids.upper).ranges(isDescending: false).first
  }

  func accepts(_ key: JSONBytes) -> Bool {
    var (field, offset) = (0, layout.start)
    for condition in conditions {
      while field < condition.field {
        offset = layout.end(of: field, in: key, at: offset)
        field += 1
      }
      let end = layout.end(of: field, in: key, at: offset)
      if let ranges = condition.ranges, !Self.contains(key.slice(offset, end), in: ranges) { return false }
      if let absence = condition.absence, layout.isNothing(field, in: key, at: offset) {
        let found = layout.absence(of: field, in: key, idAt: layout.startOfID(in: key))
        switch absence {
        case .only(let wanted): if found != wanted { return false }
        case .except(let unwanted): if found == unwanted { return false }
        }
      }
      (field, offset) = (field + 1, end)
    }
    guard let ids else { return true }
    while field < layout.fields {
      offset = layout.end(of: field, in: key, at: offset)
      field += 1
    }
    return ids.contains(key.slice(offset, OrderKey.end(in: key, at: offset)))
  }

  private static func contains(_ part: UnsafeRawBufferPointer, in ranges: [KeyRange]) -> Bool {
    // The last range that does not begin after the part.
    var (low, high) = (0, ranges.count)
    while low < high {
      let middle = (low + high) / 2
      let isAfter = ranges[middle].lower.bytes.withUnsafeBytes { Order($0, part) == .descending }
      if isAfter { high = middle } else { low = middle + 1 }
    }
    return low > 0 && ranges[low - 1].contains(part)
  }
}
