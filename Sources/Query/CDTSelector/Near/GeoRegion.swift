package import CDTJSON

/// A part of the earth's surface, for `$geoWithin`. Boxes and polygons are planar in degrees, and have their edges.
package enum GeoRegion: Sendable, Hashable {
  case box(southWest: GeoPoint, northEast: GeoPoint)
  /// The corners, without the first one again at the end. Where it crosses itself, the even-odd rule holds.
  case polygon([GeoPoint])
  /// The places at most an angle, in radians, from a center.
  case sphere(GeoPoint, radius: Double)

  /// The maximum number of corners of a polygon.
  package static let maximumCorners = 1_000

  package func contains(_ place: GeoPoint) -> Bool {
    switch self {
    case .box(let southWest, let northEast):
      southWest.longitude <= place.longitude && place.longitude <= northEast.longitude
        && southWest.latitude <= place.latitude && place.latitude <= northEast.latitude
    case .polygon(let corners): Self.polygon(corners, contains: place)
    case .sphere(let center, let radius): center.angle(to: place) <= radius
    }
  }

  private static func polygon(_ corners: [GeoPoint], contains place: GeoPoint) -> Bool {
    var isInside = false
    guard var previous = corners.last else { return false }
    for corner in corners {
      let (from, to) = (previous, corner)
      previous = corner
      // Twice the signed area of the triangle of the edge and the place: its sign tells the side of the edge.
      let area =
        (to.longitude - from.longitude) * (place.latitude - from.latitude)
        - (to.latitude - from.latitude) * (place.longitude - from.longitude)
      if area == 0, place.isBetween(from, to) { return true }
      let isBelow = from.latitude <= place.latitude
      // An edge counts if it crosses the latitude of the place to the east of it.
      if isBelow != (to.latitude <= place.latitude), (area > 0) == isBelow { isInside.toggle() }
    }
    return isInside
  }

  /// The region as the argument of `$geoWithin`.
  package var json: JSONObject {
    switch self {
    case .box(let southWest, let northEast): ["$box": .array([southWest.json, northEast.json])]
    case .polygon(let corners): ["$polygon": .array(corners.map(\.json))]
    case .sphere(let center, let radius): ["$centerSphere": .array([center.json, .double(radius)])]
    }
  }
}

extension GeoPoint {
  fileprivate func isBetween(_ from: GeoPoint, _ to: GeoPoint) -> Bool {
    min(from.longitude, to.longitude) <= longitude && longitude <= max(from.longitude, to.longitude)
      && min(from.latitude, to.latitude) <= latitude && latitude <= max(from.latitude, to.latitude)
  }
}
