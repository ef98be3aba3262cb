public import CDTDatastore

/// A model among the results of a query by distance, with its distance.
public struct ModelDistance<Model> {
  /// The model.
  public let model: Model
  /// The distance: in metres for places, in the unit of the metric for vectors.
  public let distance: Double

  /// - Parameter document: The result, which has a distance, as it matches a `near`.
  init(_ model: Model, of document: DocumentRevision) {
    (self.model, distance) = (model, document.distance ?? .infinity)
  }
}

extension ModelDistance: Sendable where Model: Sendable {}
extension ModelDistance: Equatable where Model: Equatable {}
extension ModelDistance: Identifiable where Model: Identifiable {
  /// The id of the model.
  public var id: Model.ID { model.id }
}

/// A typed query whose results have their distances.
///
/// ```swift
/// let query = try ModelQuery(Shop.self, where: { $0.place.near(here, within: 500) }, limit: 10).withDistances()
/// for shop in try store.read({ try $0.find(query) }) { print(shop.model.name, shop.distance) }
/// ```
///
/// See <doc:StoringModels#Conditions>.
public struct DistanceQuery<Model: Decodable>: Sendable, Hashable {
  /// The query for documents.
  public let query: Query
}

extension ModelQuery {
  /// The same query, with the distance of each result.
  ///
  /// - Throws: ``QueryError`` if the query has no `near`.
  public func withDistances() throws(QueryError) -> DistanceQuery<Model> {
    var query = query
    query.returnsDistance = true
    _ = try ResolvedQuery(query)
    return DistanceQuery(query: query)
  }
}

extension ReadTransaction {
  /// Returns the models that match a typed query, with their distances.
  ///
  /// - Parameters:
  ///   - query: The query, made by `withDistances()`.
  ///   - undecodable: Called with the error of each document that is not a model, which is left out.
  public func find<Model>(
    _ query: DistanceQuery<Model>, undecodable: (DatastoreError) throws -> Void = { throw $0 }
  ) throws -> [ModelDistance<Model>] {
    try page(query.query).documents.compactMap { document in
      try document.model(Model.self, undecodable).map { ModelDistance($0, of: document) }
    }
  }
}
