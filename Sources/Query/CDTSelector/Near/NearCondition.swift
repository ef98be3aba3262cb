public import CDTDatastore
package import CDTJSON

/// `$near`: a distance with its bounds, which is a condition, and the order of the results unless the query has another.
package struct NearCondition: Sendable, Hashable {
  package let distance: Distance
  /// The least and the greatest distance, both inclusive.
  package var minimum: Double?
  package var maximum: Double?

  package init(distance: Distance, minimum: Double? = nil, maximum: Double? = nil) {
    (self.distance, self.minimum, self.maximum) = (distance, minimum, maximum)
  }

  /// The place from which it measures.
  package var place: GeoPoint? { if case .place(let place) = distance { place } else { nil } }

  /// Whether values with a least distance match.
  package func accepts(_ least: Double?) -> Bool {
    guard let least else { return false }
    return minimum.map { $0 <= least } ?? true && maximum.map { least <= $0 } ?? true
  }

  /// The condition as the argument of `$near`.
  package var json: JSONObject {
    var json: JSONObject
    switch distance {
    case .vector(let vector, let metric):
      json = ["$vector": .array(vector.map { .double($0) }), "$metric": .string(metric.rawValue)]
    case .place(let place): json = ["$geometry": ["type": "Point", "coordinates": place.json]]
    }
    if let minimum { json["$minDistance"] = .double(minimum) }
    if let maximum { json["$maxDistance"] = .double(maximum) }
    return json
  }

  /// The member of results with their distance.
  package static let member = "_distance"
}

/// A `$near` with the path of its field.
package struct NearField: Sendable, Hashable {
  package let path: FieldPath
  package let condition: NearCondition

  /// The least distance of a document; `nil` if it has none.
  package func distance(of document: DocumentBytes) -> Double? {
    condition.distance.least(of: path, in: document.body)
  }
}

extension Clause {
  /// The `$near` of a selector and the path of its field; there is at most one, which every match satisfies.
  package var near: NearField? {
    switch self {
    case .field(let path, .near(let condition)): return NearField(path: path, condition: condition)
    case .and(let members):
      for case .field(let path, .near(let condition)) in members {
        return NearField(path: path, condition: condition)
      }
      return nil
    default: return nil
    }
  }
}

extension DocumentRevision {
  /// The distance of a result of a query that asks for it (``Query/returnsDistance``), which is the member `_distance` of its body;
  /// `nil` for any other document. Like a result with some of its fields, it can't be saved.
  public var distance: Double? { body[NearCondition.member]?.doubleValue }
}
