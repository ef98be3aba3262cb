import CDTJSON

// The messages about `$near` and `$geoWithin`.
extension QueryError {
  static func nearArgument(_ found: JSONValue, at path: String) -> QueryError {
    QueryError(
      .wrongArgument(
        of: "$near", wanted: "an object with a \"$vector\", or with a \"$geometry\" that is a Point",
        found: found),
      at: path)
  }

  static func unknownNearKey(_ key: String, _ known: [String], at path: String) -> QueryError {
    let meant =
      key == "type" || key == "coordinates"
      ? "a Point is written {\"$geometry\": {\"type\": \"Point\", \"coordinates\": [longitude, latitude]}}"
      : NearestName.of(key, among: known).map { "did you mean \"\($0)\"?" }
    return QueryError(
      .invalidArgument, at: SelectorParser.join(path, key),
      "\"$near\" has no member \"\(key)\" (\(meant ?? "its members are \(known.joined(separator: ", "))"))")
  }

  static func nearTarget(at path: String) -> QueryError {
    QueryError(
      .invalidArgument, at: path,
      "\"$near\" needs either a \"$vector\" or a \"$geometry\"; give it one of them")
  }

  static func metricOfPlace(at path: String) -> QueryError {
    QueryError(
      .invalidArgument, at: path, "a \"$geometry\" has no \"$metric\", as its distances are metres; remove it"
    )
  }

  static func unknownMetric(_ found: JSONValue, at path: String) -> QueryError {
    let known = VectorMetric.allCases.map { "\"\($0.rawValue)\"" }.joined(separator: ", ")
    return QueryError(.invalidArgument, at: path, "\(found.text) is not a metric; use one of \(known)")
  }

  static func nearGeometry(_ found: JSONValue, at path: String) -> QueryError {
    QueryError(
      .invalidArgument, at: path,
      "\"$near\" takes a Point, {\"type\": \"Point\", \"coordinates\": [longitude, latitude]}, not \(found.text)"
    )
  }

  static func notAVector(_ found: JSONValue, at path: String) -> QueryError {
    let found = found.arrayValue.map { "an array of \($0.count)" } ?? found.typeWithArticle
    return QueryError(
      .invalidArgument, at: path,
      "\"$vector\" takes an array of 1 to \(Distance.maximumLength) numbers, not \(found)")
  }

  static func notANumberOfAVector(_ found: JSONValue, at path: String) -> QueryError {
    QueryError(
      .invalidArgument, at: path, "a vector has finite numbers only, not \(found.text); give a number")
  }

  static func vectorWithoutDistances(at path: String) -> QueryError {
    QueryError(
      .invalidArgument, at: path,
      "no value has a distance to this vector, which is zero, or too long for doubles; give another vector")
  }

  static func notAPlace(_ found: JSONValue, at path: String) -> QueryError {
    QueryError(
      .invalidArgument, at: path,
      "a place is [longitude, latitude] in degrees, at most 180 and 90, not \(found.text)")
  }

  static func regionArgument(_ found: JSONValue, at path: String) -> QueryError {
    QueryError(
      .wrongArgument(
        of: "$geoWithin", wanted: "an object with one of \"$box\", \"$polygon\" and \"$centerSphere\"",
        found: found),
      at: path)
  }

  static func unknownRegion(_ name: String, at path: String) -> QueryError {
    QueryError(
      .invalidArgument, at: path,
      "\"$geoWithin\" has no \"\(name)\"; use \"$box\", \"$polygon\", or \"$centerSphere\" with a radius in radians"
        .boundedMessage)
  }

  static func geodesicRegion(at path: String) -> QueryError {
    QueryError(
      .invalidArgument, at: path,
      "\"$geoWithin\" has no geodesic polygons; use \"$polygon\", whose edges are straight in degrees")
  }

  static func regionParts(_ name: String, _ found: JSONValue, at path: String) -> QueryError {
    let wanted =
      switch name {
      case "$box": "the corners in the south-west and in the north-east, [[7, 46], [9, 48]]"
      case "$centerSphere": "a place and a radius in radians, [[8.5, 47.4], 0.001]"
      default: "at least three corners, [[7, 46], [9, 46], [8, 48]]"
      }
    return QueryError(.invalidArgument, at: path, "\"\(name)\" takes \(wanted), not \(found.text)")
  }

  static func boxCorners(at path: String) -> QueryError {
    QueryError(
      .invalidArgument, at: path,
      "the first corner of a \"$box\" is in the south-west of the second; exchange them, or use two boxes across the date line"
    )
  }

  static func tooManyCorners(_ count: Int, at path: String) -> QueryError {
    QueryError(
      .tooLarge, at: path,
      "a polygon has at most \(GeoRegion.maximumCorners) corners, not \(count); simplify it")
  }

  package static func nestedNear(at path: String) -> QueryError {
    QueryError(
      .invalidSelector, at: path,
      "\"$near\" stands at the top level of a selector, or in an \"$and\" there; move it, or use \"$geoWithin\" here"
    )
  }

  static func secondNear(at path: String) -> QueryError {
    QueryError(
      .invalidSelector, at: path,
      "a query has one \"$near\" only, as it gives the order; use \"$geoWithin\" for others")
  }

  static let distanceWithoutNear = QueryError(
    .invalidRequest, at: "distance", "a distance needs a \"$near\" in the selector; add one, or leave it out")
}
