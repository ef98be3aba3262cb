import CDTJSON
import CDTPlan

/// The conditions on the keys of an index that are not expressed by its ranges.
///
/// ```
/// an index on (name, age), {"name": {"$beginsWith": "m"}, "age": 7}   →   of the keys from "m" on and before "n", those with 7
/// ```
///
/// Each row of the index asks, so the bounds are one array: arrays in arrays would be counted as references each time.
final class KeyFilter: Sendable {
  private struct Condition {
    let field: Int
    /// The numbers of the ranges of parts that match, in order; `nil` for any part.
    let ranges: Range<Int>?
    /// The first bytes of the least and of the greatest bound: most parts are outside of them.
    let prefixes: ClosedRange<UInt64>
    let absence: PredicateAccess.AbsenceFilter?
  }

  private let layout: KeyLayout
  /// In the order of the fields. A condition on the ids comes last, for the field after the last one.
  private let conditions: [Condition]
  /// The bounds of all ranges, each range's lower one first.
  private let bounds: [UInt8]
  /// The end of each bound.
  private let ends: [Int]

  /// - Returns: `nil` if there are no such conditions.
  init?(_ access: IndexAccess, _ layout: KeyLayout) {
    guard access.filtersKeys else { return nil }
    self.layout = layout
    var (conditions, bounds, ends): ([Condition], [UInt8], [Int]) = ([], [], [])
    func add(_ field: Int, _ ranges: [KeyRange]?, _ absence: PredicateAccess.AbsenceFilter? = nil) {
      let first = ends.count / 2
      for bound in (ranges ?? []).flatMap({ [$0.lower, $0.upper] }) {
        bounds += bound.bytes
        ends.append(bounds.count)
      }
      let least = ranges?.first.map { Self.prefix($0.lower) } ?? 0
      let greatest = ranges?.last.map { Self.prefix($0.upper) } ?? .max
      conditions.append(
        Condition(
          field: field, ranges: ranges.map { first..<first + $0.count },
          prefixes: least...max(least, greatest), absence: absence))
    }
    for (field, absence) in access.absence.sorted(by: { $0.key < $1.key }) { add(field, nil, absence) }
    for filter in access.filters {
      let isDescending = layout.isDescending(filter.field)
      add(filter.field, filter.access.ranges(isDescending: isDescending), filter.absence)
    }
    if !access.ids.isEverything {
      let range = FieldAccess.range(lower: access.ids.lower, upper: access.ids.upper)
      add(layout.fields, range.ranges(isDescending: false))
    }
    (self.conditions, self.bounds, self.ends) = (conditions, bounds, ends)
  }

  private static func prefix(_ bound: OrderKey) -> UInt64 {
    bound.bytes.withUnsafeBytes { JSONBytes($0).prefix(0, $0.count) }
  }

  enum Decision {
    case accepted, rejected
    /// As is every key with the same first bytes, of this length, before the range with a number.
    case before(range: Int, prefix: Int)
    /// As is every later key with the same first bytes.
    case behind(range: Int, prefix: Int)
  }

  func accepts(_ key: JSONBytes) -> Bool {
    if case .accepted = decision(key) { true } else { false }
  }

  func decision(_ key: JSONBytes) -> Decision {
    var (field, offset) = (0, layout.start)
    for position in conditions.indices {
      let condition = conditions[position]
      while field < condition.field {
        offset = layout.end(of: field, in: key, at: offset)
        field += 1
      }
      let end = layout.end(of: field, in: key, at: offset)
      if let ranges = condition.ranges {
        let prefix = key.prefix(offset, end)
        if prefix < condition.prefixes.lowerBound { return .before(range: ranges.lowerBound, prefix: offset) }
        if prefix > condition.prefixes.upperBound {
          return .behind(range: ranges.upperBound - 1, prefix: offset)
        }
        if !contains(key.slice(offset, end), in: ranges) { return .rejected }
      }
      if let absence = condition.absence, layout.isNothing(field, in: key, at: offset) {
        let found = layout.absence(of: field, in: key, idAt: layout.startOfID(in: key))
        switch absence {
        case .only(let wanted): if found != wanted { return .rejected }
        case .except(let unwanted): if found == unwanted { return .rejected }
        }
      }
      (field, offset) = (field + 1, end)
    }
    return .accepted
  }

  /// The first key after one that was rejected, in the direction of reading, that may be accepted; `nil` if that is not known.
  ///
  /// - Returns: As a bound: the least of the keys that remain, or in descending order the one that all of them are below.
  func next(after key: JSONBytes, _ decision: Decision, isDescending: Bool) -> OrderKey? {
    let (range, length) =
      switch decision {
      case .accepted, .rejected: (-1, 0)
      case .before(let range, let prefix), .behind(let range, let prefix): (range, prefix)
      }
    guard range >= 0 else { return nil }
    var next = OrderKey(Array(key.slice(0, length)))
    let isBefore = if case .before = decision { true } else { false }
    if isBefore == isDescending { return isDescending ? next : next.successor }
    let number = isDescending ? 2 * range + 1 : 2 * range
    next.bytes += bounds[(number == 0 ? 0 : ends[number - 1])..<ends[number]]
    return next
  }

  private func contains(_ part: UnsafeRawBufferPointer, in ranges: Range<Int>) -> Bool {
    bounds.withUnsafeBytes { bytes in
      let bounds = JSONBytes(bytes)
      func bound(_ number: Int) -> UnsafeRawBufferPointer {
        bounds.slice(number == 0 ? 0 : ends[number - 1], ends[number])
      }
      // The last range that does not begin after the part.
      var (low, high) = (ranges.lowerBound, ranges.upperBound)
      while low < high {
        let middle = (low + high) / 2
        if Order(bound(2 * middle), part) == .descending { high = middle } else { low = middle + 1 }
      }
      return low > ranges.lowerBound && Order(part, bound(2 * low - 1)) == .ascending
    }
  }
}
