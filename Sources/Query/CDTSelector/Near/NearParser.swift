import CDTJSON

// The arguments of `$near` and `$geoWithin`.
extension OperatorArgument {
  static func near(_ argument: JSONValue, at path: String) throws(QueryError) -> NearCondition {
    guard case .object(let object) = argument else { throw .nearArgument(argument, at: path) }
    for (key, _) in object where !nearKeys.contains(key) { throw .unknownNearKey(key, nearKeys, at: path) }
    func bound(_ key: String) throws(QueryError) -> Double? {
      guard let value = object[key] else { return nil }
      guard let bound = value.doubleValue, bound.isFinite else {
        throw QueryError(
          .wrongArgument(of: key, wanted: "a number", found: value), at: SelectorParser.join(path, key))
      }
      return bound
    }
    let distance: Distance
    switch (object["$vector"], object["$geometry"]) {
    case (let vector?, nil):
      let metric = try metric(object["$metric"], at: SelectorParser.join(path, "$metric"))
      distance = .vector(try Self.vector(vector, metric, at: SelectorParser.join(path, "$vector")), metric)
    case (nil, let geometry?):
      guard object["$metric"] == nil else { throw .metricOfPlace(at: SelectorParser.join(path, "$metric")) }
      let place = SelectorParser.join(path, "$geometry")
      guard case .object(let point) = geometry, point["type"] == "Point",
        case .array(let coordinates)? = point["coordinates"], point.count == 2
      else { throw .nearGeometry(geometry, at: place) }
      distance = .place(
        try geoPoint(
          // A third number is the altitude, as in documents.
          .array(
            coordinates.count == 3 && coordinates[2].doubleValue != nil ? coordinates.dropLast() : coordinates
          ),
          at: SelectorParser.join(place, "coordinates")))
    default: throw .nearTarget(at: path)
    }
    let (minimum, maximum) = (try bound("$minDistance"), try bound("$maxDistance"))
    return NearCondition(distance: distance, minimum: minimum, maximum: maximum)
  }

  private static let nearKeys = ["$vector", "$metric", "$geometry", "$minDistance", "$maxDistance"]

  private static func metric(_ name: JSONValue?, at path: String) throws(QueryError) -> VectorMetric {
    guard let name else { return .cosine }
    guard let metric = name.stringValue.flatMap(VectorMetric.init) else {
      throw .unknownMetric(name, at: path)
    }
    return metric
  }

  private static func vector(
    _ value: JSONValue, _ metric: VectorMetric, at path: String
  ) throws(QueryError) -> [Double] {
    guard case .array(let elements) = value, !elements.isEmpty, elements.count <= Distance.maximumLength
    else {
      throw .notAVector(value, at: path)
    }
    var vector: [Double] = []
    vector.reserveCapacity(elements.count)
    for (number, element) in elements.enumerated() {
      guard let double = element.doubleValue, double.isFinite else {
        throw .notANumberOfAVector(element, at: "\(path)[\(number)]")
      }
      vector.append(double)
    }
    // Without a cosine to itself, a vector has none to any other.
    guard metric != .cosine || Distance.between(vector, vector, by: metric) != nil else {
      throw .vectorWithoutDistances(at: path)
    }
    return vector
  }

  private static func geoPoint(_ value: JSONValue, at path: String) throws(QueryError) -> GeoPoint {
    guard case .array(let pair) = value, pair.count == 2, let longitude = pair[0].doubleValue,
      let latitude = pair[1].doubleValue, let place = GeoPoint(longitude: longitude, latitude: latitude)
    else { throw .notAPlace(value, at: path) }
    return place
  }

  static func region(_ argument: JSONValue, at path: String) throws(QueryError) -> GeoRegion {
    guard case .object(let object) = argument, object.count == 1,
      let (name, value) = object.first(where: { _ in true })
    else { throw .regionArgument(argument, at: path) }
    let place = SelectorParser.join(path, name)
    if name == "$geometry" { throw .geodesicRegion(at: place) }
    guard ["$box", "$polygon", "$centerSphere"].contains(name) else {
      throw .unknownRegion(name, at: place)
    }
    guard case .array(let parts) = value else { throw .regionParts(name, value, at: place) }
    switch name {
    case "$box":
      guard parts.count == 2 else { throw .regionParts(name, value, at: place) }
      let corners = (try geoPoint(parts[0], at: "\(place)[0]"), try geoPoint(parts[1], at: "\(place)[1]"))
      guard corners.0.longitude <= corners.1.longitude, corners.0.latitude <= corners.1.latitude else {
        throw .boxCorners(at: place)
      }
      return .box(southWest: corners.0, northEast: corners.1)
    case "$centerSphere":
      guard parts.count == 2, let radius = parts[1].doubleValue, radius.isFinite, radius >= 0 else {
        throw .regionParts(name, value, at: place)
      }
      return .sphere(try geoPoint(parts[0], at: "\(place)[0]"), radius: radius)
    default:
      var corners: [GeoPoint] = []
      guard parts.count <= GeoRegion.maximumCorners else { throw .tooManyCorners(parts.count, at: place) }
      for (number, part) in parts.enumerated() {
        corners.append(try geoPoint(part, at: "\(place)[\(number)]"))
      }
      if corners.count > 1, corners.first == corners.last { corners.removeLast() }
      guard corners.count >= 3 else { throw .regionParts(name, value, at: place) }
      return .polygon(corners)
    }
  }
}
