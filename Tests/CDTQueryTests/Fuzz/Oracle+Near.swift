import CDTJSON
import Foundation

// The meaning of distances and regions, on trees.
extension Oracle {
  static func near(_ near: JSONValue, _ values: [JSONValue]) -> Bool {
    guard let least = distance(near, values) else { return false }
    if let maximum = near["$maxDistance"]?.doubleValue, least > maximum { return false }
    if let minimum = near["$minDistance"]?.doubleValue, least < minimum { return false }
    return true
  }

  /// The least distance of the values, and of the elements of arrays.
  static func distance(_ near: JSONValue, _ values: [JSONValue]) -> Double? {
    var distances: [Double] = []
    for value in values {
      for candidate in [value] + (value.arrayValue ?? []) {
        if let distance = distance(near, candidate) { distances.append(distance) }
      }
    }
    return distances.min()
  }

  private static func distance(_ near: JSONValue, _ value: JSONValue) -> Double? {
    guard let wanted = near["$vector"]?.arrayValue?.compactMap(\.doubleValue) else {
      guard let center = near["$geometry"]?["coordinates"].flatMap(place), let place = place(value) else {
        return nil
      }
      return 6_378_100 * angle(center, place)
    }
    guard let elements = value.arrayValue, elements.count == wanted.count else { return nil }
    let numbers = elements.compactMap(\.doubleValue).filter(\.isFinite)
    guard numbers.count == wanted.count else { return nil }
    func sum(_ term: (Double, Double) -> Double) -> Double {
      var sum = 0.0
      for index in numbers.indices { sum += term(wanted[index], numbers[index]) }
      return sum
    }
    let distance: Double
    switch near["$metric"]?.stringValue ?? "cosine" {
    case "dot": distance = -sum { $0 * $1 }
    case "euclidean": distance = sum { ($0 - $1) * ($0 - $1) }.squareRoot()
    default:
      let norms = [sum { left, _ in left * left }, sum { _, right in right * right }]
      guard norms.allSatisfy({ $0 > 0 && $0.isFinite }) else { return nil }
      distance = 1 - sum { $0 * $1 } / (norms[0].squareRoot() * norms[1].squareRoot())
    }
    return distance.isFinite ? distance : nil
  }

  static func place(_ value: JSONValue) -> [Double]? {
    if value.objectValue != nil {
      guard value["type"] == "Point", let coordinates = value["coordinates"]?.arrayValue else { return nil }
      let numbers = coordinates.compactMap(\.doubleValue).filter(\.isFinite)
      guard (2...3).contains(coordinates.count), numbers.count == coordinates.count else { return nil }
      return place(.array(coordinates.dropLast(coordinates.count - 2)))
    }
    guard let pair = value.arrayValue, pair.count == 2, let longitude = pair[0].doubleValue,
      let latitude = pair[1].doubleValue, -180...180 ~= longitude, -90...90 ~= latitude
    else { return nil }
    return [longitude, latitude]
  }

  private static func angle(_ from: [Double], _ to: [Double]) -> Double {
    let radians = Double.pi / 180
    let (first, second) = (sin((to[1] - from[1]) * radians / 2), sin((to[0] - from[0]) * radians / 2))
    let chord = first * first + cos(from[1] * radians) * cos(to[1] * radians) * second * second
    return 2 * asin(min(1, chord.squareRoot()))
  }

  static func isWithin(_ region: JSONValue, _ place: [Double]) -> Bool {
    if let sphere = region["$centerSphere"]?.arrayValue {
      guard let center = Self.place(sphere[0]), let radius = sphere[1].doubleValue else { return false }
      return angle(center, place) <= radius
    }
    let corners = (region["$box"] ?? region["$polygon"])?.arrayValue?.compactMap { Self.place($0) } ?? []
    if region["$box"] != nil {
      return (0..<2).allSatisfy { corners[0][$0] <= place[$0] && place[$0] <= corners[1][$0] }
    }
    // The number of edges that a ray to the east crosses.
    var crossings = 0
    for (index, from) in corners.enumerated() {
      let to = corners[(index + 1) % corners.count]
      let side = (to[0] - from[0]) * (place[1] - from[1]) - (to[1] - from[1]) * (place[0] - from[0])
      let isBeside = (0..<2).allSatisfy {
        min(from[$0], to[$0]) <= place[$0] && place[$0] <= max(from[$0], to[$0])
      }
      if side == 0, isBeside { return true }
      if from[1] <= place[1], place[1] < to[1], side > 0 { crossings += 1 }
      if to[1] <= place[1], place[1] < from[1], side < 0 { crossings += 1 }
    }
    return crossings % 2 == 1
  }
}
