import CDTCLibrary
package import CDTJSON

/// A place on the earth, in degrees.
///
/// ```swift
/// struct Shop: DocumentModel {
///   var id: String
///   var revision: RevisionID?
///   var place: GeoPoint
/// }
/// let shops = try store.find(Shop.self, where: { $0.place.near(here, within: 500) }, limit: 10)
/// ```
///
/// It is encoded as a GeoJSON Point, and also decoded from an array of a longitude and a latitude. See <doc:StoringModels#Conditions>.
public struct GeoPoint: Sendable, Hashable {
  /// The degrees east of Greenwich, negative to the west: -180 to 180.
  public let longitude: Double
  /// The degrees north of the equator, negative to the south: -90 to 90.
  public let latitude: Double

  /// The radius of the sphere on which distances are measured, in metres: MongoDB's.
  package static let earthRadius = 6_378_100.0

  /// Creates a place from its longitude and its latitude, in degrees.
  ///
  /// - Returns: `nil` outside of the ranges of longitudes, ±180, and of latitudes, ±90.
  public init?(longitude: Double, latitude: Double) {
    guard abs(longitude) <= 180, abs(latitude) <= 90 else { return nil }
    (self.longitude, self.latitude) = (longitude, latitude)
  }

  /// The place that the value at an offset is: a GeoJSON Point, or an array of a longitude and a latitude.
  init?(_ bytes: JSONBytes, at start: Int) {
    switch bytes.kind(at: start) {
    case .array:
      guard let (numbers, count) = Self.numbers(bytes, at: start), count == 2 else { return nil }
      self.init(longitude: numbers.0, latitude: numbers.1)
    case .object:
      guard let type = bytes.member(spelled: Self.type, at: start), bytes.hasPrefix(Self.point, at: type),
        let coordinates = bytes.member(spelled: Self.coordinates, at: start),
        bytes.kind(at: coordinates) == .array,
        // A third number is the altitude.
        let (numbers, count) = Self.numbers(bytes, at: coordinates), 2...3 ~= count
      else { return nil }
      self.init(longitude: numbers.0, latitude: numbers.1)
    default: return nil
    }
  }

  private static let type = Array("type".utf8)
  private static let coordinates = Array("coordinates".utf8)
  private static let point = Array("\"Point\"".utf8)

  /// The first two numbers of an array, which has at most one more and nothing else, and their count.
  private static func numbers(_ bytes: JSONBytes, at start: Int) -> ((Double, Double), Int)? {
    var (numbers, count) = ((0.0, 0.0), 0)
    let areNumbers = bytes.forEachNumber(at: start) { number in
      count += 1
      if count == 1 { numbers.0 = number }
      if count == 2 { numbers.1 = number }
      return count <= 3
    }
    return areNumbers && count >= 2 ? (numbers, count) : nil
  }

  /// The places that a path reaches, and those that are elements of an array there: all that a distance or a region is about.
  package static func places(of path: FieldPath, in bytes: JSONBytes) -> [GeoPoint] {
    var places: [GeoPoint] = []
    path.offerValues(in: bytes) { start in
      guard let place = GeoPoint(bytes, at: start) else { return false }
      places.append(place)
      return true
    }
    return places
  }

  /// The angle to another place, in radians, by the haversine formula.
  func angle(to other: GeoPoint) -> Double {
    let radians = Self.radian
    let sines = (
      sin((other.latitude - latitude) * radians / 2), sin((other.longitude - longitude) * radians / 2)
    )
    let haversine =
      sines.0 * sines.0 + cos(latitude * radians) * cos(other.latitude * radians) * sines.1 * sines.1
    return 2 * asin(min(1, haversine.squareRoot()))
  }

  /// A degree in radians.
  static let radian = Double.pi / 180

  /// The distance to another place, in metres.
  public func metres(to other: GeoPoint) -> Double { Self.earthRadius * angle(to: other) }

  package var json: JSONValue { [.double(longitude), .double(latitude)] }
}
