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

  /// The first two numbers of an array, which has nothing else, and its count.
  private static func numbers(_ bytes: JSONBytes, at start: Int) -> ((Double, Double), Int)? {
    var elements = bytes.elements(at: start)
    guard let first = elements.next().flatMap({ bytes.double(at: $0) }),
      let second = elements.next().flatMap({ bytes.double(at: $0) })
    else { return nil }
    var count = 2
    while let element = elements.next() {
      guard count < 3, bytes.double(at: element) != nil else { return nil }
      count += 1
    }
    return ((first, second), count)
  }

  /// The places that a path reaches, and those that are elements of an array there: all that a distance or a region is about.
  package static func places(of path: FieldPath, in bytes: JSONBytes) -> [GeoPoint] {
    var places: [GeoPoint] = []
    var walk = PathWalk(bytes, from: 0, through: path.segments)
    while let value = walk.next() {
      if let place = GeoPoint(bytes, at: value) {
        places.append(place)
      } else if bytes.kind(at: value) == .array {
        var elements = bytes.elements(at: value)
        while let element = elements.next() { GeoPoint(bytes, at: element).map { places.append($0) } }
      }
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

extension JSONBytes {
  /// The number at an offset as a double; `nil` for another value, or beyond the range of doubles.
  func double(at start: Int) -> Double? {
    guard kind(at: start) == .number else { return nil }
    switch number(at: start) {
    case .int(let int)?: return Double(int)
    case .double(let double)?: return double.isFinite ? double : nil
    case nil: return nil
    }
  }
}
