import CDTJSON

/// A type that is stored as a place, a GeoJSON Point or an array of a longitude and a latitude, or as an array of places.
public protocol PlaceValue {}
extension GeoPoint: PlaceValue {}
extension Array: PlaceValue where Element: PlaceValue {}

extension ModelField where Value: PlaceValue {
  /// The place, or one of several, is at most so many metres from a point, or with `nil` at any distance. Without a sort, the nearest
  /// results are first.
  ///
  /// ```swift
  /// let shops = try store.find(Shop.self, where: { $0.isOpen && $0.place.near(here, within: 500) }, limit: 10)
  /// ```
  ///
  /// A query has one `near`, which can be combined with other conditions by `&&` only.
  public func near(_ point: GeoPoint, within metres: Double? = nil) -> QueryCondition<Model> {
    near(["$geometry": try JSONValue(encoding: point)], within: metres)
  }

  /// The place is at most so many metres from a point. The order of the results does not depend on the distance.
  public func within(metres: Double, of point: GeoPoint) -> QueryCondition<Model> {
    within { .sphere(point, radius: metres / GeoPoint.earthRadius) }
  }

  /// The place is in a box, which has its edges: straight lines in degrees.
  public func within(southWest: GeoPoint, northEast: GeoPoint) -> QueryCondition<Model> {
    within { .box(southWest: southWest, northEast: northEast) }
  }

  /// The place is in a polygon, which has its edges: straight lines in degrees from each corner to the next, and from the last to the first.
  public func within(polygon corners: [GeoPoint]) -> QueryCondition<Model> {
    within { .polygon(corners) }
  }

  private func within(_ region: () -> GeoRegion) -> QueryCondition<Model> {
    self.is("$geoWithin", .object(region().json))
  }
}

extension ModelField where Value: RandomAccessCollection & Encodable, Value.Element: BinaryFloatingPoint {
  /// The array, of as many numbers as the vector, has at most a distance from it, or with `nil` any. Without a sort, the nearest results
  /// are first.
  ///
  /// ```swift
  /// let notes = try store.find(Note.self, where: { $0.embedding.near(vector, within: 0.3) }, limit: 10)
  /// ```
  ///
  /// A query has one `near`, which can be combined with other conditions by `&&` only.
  public func near(
    _ vector: Value, within distance: Double? = nil, by metric: VectorMetric = .cosine
  ) -> QueryCondition<Model> {
    near(["$vector": try JSONValue(encoding: vector), "$metric": .string(metric.rawValue)], within: distance)
  }
}

extension ModelField
where
  Value: RandomAccessCollection, Value.Element: RandomAccessCollection & Encodable,
  Value.Element.Element: BinaryFloatingPoint
{
  /// One of the arrays has at most a distance from a vector, or with `nil` any. Without a sort, the results with the nearest arrays are
  /// first.
  public func near(
    _ vector: Value.Element, within distance: Double? = nil, by metric: VectorMetric = .cosine
  ) -> QueryCondition<Model> {
    near(["$vector": try JSONValue(encoding: vector), "$metric": .string(metric.rawValue)], within: distance)
  }
}

extension ModelField {
  fileprivate func near(
    _ target: @autoclosure () throws -> JSONObject, within maximum: Double?
  ) -> QueryCondition<Model> {
    QueryCondition { () throws(QueryError) in
      let condition = holds { path in
        var near = try target()
        near["$maxDistance"] = maximum.map { .double($0) }
        return [path: ["$near": .object(near)]]
      }
      let selector = try condition.selector.get()
      // A default that is near enough would need an alternative without a distance.
      if selector["$or"] != nil { throw .nearDefault(try path.get().text) }
      return selector
    }
  }
}
