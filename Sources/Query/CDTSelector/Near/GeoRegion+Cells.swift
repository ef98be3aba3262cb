import CDTCLibrary

extension GeoRegion {
  /// Ranges of the numbers of cells (``PlaceCells``) that include the cell of each place in the region, in order.
  package var cellRanges: [Range<UInt64>] { PlaceCells.ranges(covering: cells) }

  /// Rectangles that include the cell of each place in the region: two if it crosses the date line.
  private var cells: [PlaceCells] {
    switch self {
    case .box(let southWest, let northEast):
      [
        PlaceCells(
          longitudes: southWest.longitude...northEast.longitude,
          latitudes: southWest.latitude...northEast.latitude)
      ]
    case .polygon(let corners): [Self.cells(around: corners)]
    case .sphere(let center, let radius): Self.cells(within: radius, of: center)
    }
  }

  /// More than a cell, in degrees. Rounding errors are less.
  private static let margin = 1e-5

  private static func cells(around corners: [GeoPoint]) -> PlaceCells {
    let (longitudes, latitudes) = (corners.map(\.longitude), corners.map(\.latitude))
    return PlaceCells(
      longitudes: (longitudes.min() ?? 0) - margin...(longitudes.max() ?? 0) + margin,
      latitudes: (latitudes.min() ?? 0) - margin...(latitudes.max() ?? 0) + margin)
  }

  private static func cells(within radius: Double, of center: GeoPoint) -> [PlaceCells] {
    // Near the antipode an angle is rounded by up to 9e-8.
    let radius = radius + 2e-7
    let degrees = min(radius / GeoPoint.radian, 360) + margin
    let latitudes = center.latitude - degrees...center.latitude + degrees
    // A circle with a pole has all longitudes.
    guard latitudes.lowerBound > -90, latitudes.upperBound < 90 else {
      return [PlaceCells(longitudes: -180...180, latitudes: latitudes)]
    }
    // The meridian that touches the circle.
    let sine = sin(radius) / cos(center.latitude * GeoPoint.radian)
    let width = asin(min(1, sine)) / GeoPoint.radian + margin
    let (west, east) = (center.longitude - width, center.longitude + width)
    let cells = PlaceCells(longitudes: west...east, latitudes: latitudes)
    if west < -180 { return [cells, PlaceCells(longitudes: west + 360...180, latitudes: latitudes)] }
    return east > 180
      ? [cells, PlaceCells(longitudes: -180...east - 360, latitudes: latitudes)] : [cells]
  }
}
