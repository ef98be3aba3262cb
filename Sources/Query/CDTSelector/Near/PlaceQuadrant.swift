import CDTCLibrary

/// A square of the grid of ``PlaceCells`` whose cells have numbers with the same first bits.
package struct PlaceQuadrant: Sendable, Hashable {
  /// The number of its first cell.
  private let first: UInt64
  /// The number of the lower bits of columns and rows in which its cells differ.
  private let height: Int

  private init(first: UInt64, height: Int) { (self.first, self.height) = (first, height) }

  /// The quadrant of all places.
  package static let all = PlaceQuadrant(first: 0, height: PlaceCells.bits)

  /// A cell by its number.
  package init(cell: UInt64) { self.init(first: cell, height: 0) }

  package var isCell: Bool { height == 0 }

  /// The numbers of its cells.
  package var numbers: Range<UInt64> { first..<first + 1 << UInt64(2 * height) }

  /// The four quadrants of which it is made, unless it is a cell.
  package var parts: [PlaceQuadrant] {
    guard !isCell else { return [] }
    return (0..<4).map { PlaceQuadrant(first: first + $0 << UInt64(2 * height - 2), height: height - 1) }
  }

  /// A bound that the distance of a place to no place in the quadrant is less than, in metres.
  package func leastMetres(from place: GeoPoint) -> Double {
    let (west, east) = sides(first, degrees: 360)
    let (south, north) = sides(first >> 1, degrees: 180)
    // The nearest place is on the meridian of the place, or on the side that is nearer around the earth.
    let isBetween = west <= place.longitude && place.longitude <= east
    let away = isBetween ? 0 : min(Self.turn(west - place.longitude), Self.turn(east - place.longitude))
    let (from, longitudes) = (place.latitude * GeoPoint.radian, away * GeoPoint.radian)
    // The cosine of the angle to a place on this meridian, sin(from) sin(latitude) + cos(from) cos(longitudes) cos(latitude), is
    // greatest here.
    let best = atan2(sin(from), cos(from) * cos(longitudes))
    let half = sin(longitudes / 2)
    let ends = (south * GeoPoint.radian, north * GeoPoint.radian)
    func haversine(at latitude: Double) -> Double {
      let latitudes = sin((latitude - from) / 2)
      return latitudes * latitudes + cos(from) * cos(latitude) * half * half
    }
    var least = min(haversine(at: ends.0), haversine(at: ends.1))
    if ends.0 < best, best < ends.1 { least = min(least, haversine(at: best)) }
    return GeoPoint.earthRadius * 2 * asin(min(1, max(0, least - Self.rounding).squareRoot()))
  }

  /// More than haversines differ by rounding, at most some 4e-15: their terms are below 1, and some ten operations round. Of a small
  /// distance, this is a metre.
  private static let rounding = 1e-14

  /// The degrees at the sides of its columns, or of its rows.
  private func sides(_ number: UInt64, degrees: Double) -> (Double, Double) {
    let position = Self.everySecondBit(of: number)
    let unit = degrees / Double(1 << PlaceCells.bits)
    return (
      Double(position) * unit - degrees / 2, Double(position + 1 << UInt64(height)) * unit - degrees / 2
    )
  }

  private static func everySecondBit(of number: UInt64) -> UInt64 {
    var bits = number & 0x5555_5555_5555_5555
    for (shift, mask) in joinSteps { bits = (bits | bits >> shift) & mask }
    return bits
  }

  private static let joinSteps: [(UInt64, UInt64)] = [
    (1, 0x3333_3333_3333_3333), (2, 0x0F0F_0F0F_0F0F_0F0F), (4, 0x00FF_00FF_00FF_00FF),
    (8, 0x0000_FFFF_0000_FFFF), (16, 0x0000_0000_FFFF_FFFF),
  ]

  /// The lesser of the two turns that lead over some degrees.
  private static func turn(_ degrees: Double) -> Double { min(abs(degrees), 360 - abs(degrees)) }
}
