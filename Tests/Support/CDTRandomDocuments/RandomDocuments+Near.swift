package import CDTJSON

// Vectors and places: few, so that distances are often equal, and some at the edges of what has a distance.
extension RandomDocuments {
  private static let longitudes: [JSONValue] = [0, 1, 2, 8.5, -180, 180, 179.9, -0.0, 181, 90, 0.5]
  private static let latitudes: [JSONValue] = [0, 1, 2, 47.4, -90, 90, 89.9, 90.5, 0.5]
  private static let components: [JSONValue] = [
    0, 1, 2, -1, 0.5, 3, 1e-200, 1e200, 1e308, "1", .null, -0.0, 9_007_199_254_740_993,
  ]

  /// A value with a distance, or almost.
  package mutating func nearbyValue() -> JSONValue {
    switch number(below: 8) {
    case 0, 1: return coordinates()
    case 2: return point()
    case 3: return .array((0..<number(below: 4)).map { _ in chance(50) ? point() : coordinates() })
    case 4: return .array((0..<number(below: 3)).map { _ in vector() })
    default: return vector()
    }
  }

  private mutating func coordinates() -> JSONValue { [pick(Self.longitudes), pick(Self.latitudes)] }

  private mutating func point() -> JSONValue {
    var coordinates = coordinates()
    if chance(15), let pair = coordinates.arrayValue { coordinates = .array(pair + [scalar()]) }
    let type: JSONValue = chance(90) ? "Point" : pick(["point", "Polygon", .null, "Points"])
    return chance(50)
      ? ["type": type, "coordinates": coordinates] : ["coordinates": coordinates, "type": type]
  }

  private mutating func vector() -> JSONValue {
    .array(
      (0..<(chance(80) ? 2 : number(below: 4))).map { _ in
        pick(chance(80) ? Array(Self.components.prefix(6)) : Self.components)
      })
  }

  /// A selector with a distance, at its top or in an `$and`.
  package mutating func nearSelector() -> JSONObject {
    let path = path()
    let near: JSONObject = [path: .object(["$near": .object(near())])]
    switch number(below: 4) {
    case 0: return ["$and": [.object(near), .object(nonEmptySelector(depth: 1))]]
    case 1:
      var selector = selector(depth: 1)
      selector[path] = near[path]
      return selector
    default: return near
    }
  }

  package mutating func near() -> JSONObject {
    var near = JSONObject()
    if chance(60) {
      let metric = pick(["cosine", "euclidean", "dot"])
      var vector = (0..<(chance(80) ? 2 : 1 + number(below: 3))).map { _ in
        JSONValue.double(pick([0, 1, 2, -1, 0.5, 1e100]))
      }
      // A zero vector has no angle.
      vector[0] = .double(pick([1, -2, 0.5, 1e-100]))
      near["$vector"] = .array(vector)
      if metric != "cosine" || chance(50) { near["$metric"] = .string(metric) }
      if chance(40) { near["$maxDistance"] = pick([0, 0.3, 1, 2, 1e100, -1]) }
      if chance(20) { near["$minDistance"] = pick([0, 0.1, 1, -2]) }
    } else {
      near["$geometry"] = ["type": "Point", "coordinates": validCoordinates()]
      if chance(40) { near["$maxDistance"] = pick([0, 150_000, 5_000_000, 2.1e7]) }
      if chance(20) { near["$minDistance"] = pick([0, 1_000, 100_000]) }
    }
    return near
  }

  private mutating func validCoordinates() -> JSONValue {
    [.double(pick([0, 1, 8.5, 180, -180, 179.9, 90])), .double(pick([0, 1, 47.4, 90, -90]))]
  }

  mutating func region() -> JSONObject {
    switch number(below: 3) {
    case 0: return ["$centerSphere": [validCoordinates(), pick([0, 0.02, 0.5, 4])]]
    case 1:
      let (west, south) = (pick([-180.0, 0, 0.5, 8]), pick([-90.0, 0, 0.5, 47]))
      let (east, north) = (west + pick([0, 1, 2, 100]), south + pick([0, 1, 2, 43]))
      return ["$box": [[.double(west), .double(south)], [.double(east), .double(north)]]]
    default:
      // The last corner is another than the first.
      return ["$polygon": .array([[-1, -1]] + (0..<(2 + number(below: 4))).map { _ in validCoordinates() })]
    }
  }
}
