/// A rectangle of the cells in which an index keeps places.
///
/// The cells are a grid of 2^26 columns of longitudes and 2^26 rows of latitudes, less than a metre wide. The bits of a cell's row and column in
/// turn are its number, so cells near each other mostly have numbers near each other: the numbers follow a Z-order curve.
package struct PlaceCells: Sendable, Hashable {
  private let columns: ClosedRange<UInt32>
  private let rows: ClosedRange<UInt32>

  /// The number of bits of a column or row.
  package static let bits = 26
  private static let last = UInt32(1) << bits - 1

  private init(columns: ClosedRange<UInt32>, rows: ClosedRange<UInt32>) {
    (self.columns, self.rows) = (columns, rows)
  }

  /// The cells of all places in ranges of degrees, of which what is beyond the grid is left out.
  init(longitudes: ClosedRange<Double>, latitudes: ClosedRange<Double>) {
    columns = Self.column(longitudes.lowerBound)...Self.column(longitudes.upperBound)
    rows = Self.row(latitudes.lowerBound)...Self.row(latitudes.upperBound)
  }

  /// The number of the cell of a place.
  package static func number(of place: GeoPoint) -> UInt64 {
    number(column: column(place.longitude), row: row(place.latitude))
  }

  // A greater degree never has a lesser column or row, as every step of the computation keeps the order.
  private static func column(_ longitude: Double) -> UInt32 { position((longitude + 180) / 360) }
  private static func row(_ latitude: Double) -> UInt32 { position((latitude + 90) / 180) }

  private static func position(_ part: Double) -> UInt32 {
    UInt32(min(max(0, part * Double(last + 1)), Double(last)))
  }

  private static func number(column: UInt32, row: UInt32) -> UInt64 { spread(column) | spread(row) << 1 }

  /// The bits of a number, with a zero above each.
  private static func spread(_ bits: UInt32) -> UInt64 {
    var spread = UInt64(bits)
    for (shift, mask) in spreadSteps { spread = (spread | spread << shift) & mask }
    return spread
  }

  private static let spreadSteps: [(UInt64, UInt64)] = [
    (16, 0x0000_FFFF_0000_FFFF), (8, 0x00FF_00FF_00FF_00FF), (4, 0x0F0F_0F0F_0F0F_0F0F),
    (2, 0x3333_3333_3333_3333), (1, 0x5555_5555_5555_5555),
  ]

  // MARK: Ranges

  /// The maximum number of ranges that cover a region.
  package static let maximumRanges = 32

  /// Ranges of the numbers of cells that include all cells of some rectangles, in order.
  ///
  /// A rectangle is divided where the curve leaves it for longest, until the ranges have few other cells or there are enough of them.
  static func ranges(covering rectangles: [PlaceCells]) -> [Range<UInt64>] {
    var parts = rectangles
    let area = rectangles.reduce(0) { $0 + $1.count }
    while parts.count < maximumRanges {
      guard let (number, part) = parts.enumerated().max(by: { $0.element.excess < $1.element.excess }),
        part.excess > area / 16
      else { break }
      let (first, second) = part.halves
      parts[number] = first
      parts.append(second)
    }
    var ranges: [Range<UInt64>] = []
    for next in parts.map(\.numbers).sorted(by: { $0.lowerBound < $1.lowerBound }) {
      if let last = ranges.last, next.lowerBound <= last.upperBound {
        ranges[ranges.count - 1] = last.lowerBound..<max(last.upperBound, next.upperBound)
      } else {
        ranges.append(next)
      }
    }
    return ranges
  }

  /// The numbers from its first cell to its last: on the curve, those are at two of its corners.
  private var numbers: Range<UInt64> {
    Self.number(column: columns.lowerBound, row: rows.lowerBound)..<Self.number(
      column: columns.upperBound, row: rows.upperBound) + 1
  }

  /// The number of its cells.
  private var count: UInt64 { UInt64(columns.count) * UInt64(rows.count) }

  /// The number of other cells between its first and its last.
  private var excess: UInt64 { numbers.upperBound - numbers.lowerBound - count }

  /// The parts before and after the greatest power of two that divides its numbers; only of a rectangle with several cells.
  private var halves: (PlaceCells, PlaceCells) {
    let difference = numbers.lowerBound ^ (numbers.upperBound - 1)
    let bit = 63 - difference.leadingZeroBitCount
    func divided(_ range: ClosedRange<UInt32>) -> (ClosedRange<UInt32>, ClosedRange<UInt32>) {
      let middle = range.upperBound & ~(1 << UInt32(bit / 2) - 1)
      return (range.lowerBound...(middle - 1), middle...range.upperBound)
    }
    if bit % 2 == 0 {
      let (west, east) = divided(columns)
      return (PlaceCells(columns: west, rows: rows), PlaceCells(columns: east, rows: rows))
    }
    let (south, north) = divided(rows)
    return (PlaceCells(columns: columns, rows: south), PlaceCells(columns: columns, rows: north))
  }
}
