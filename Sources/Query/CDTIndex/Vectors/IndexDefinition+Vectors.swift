import CDTJSON
package import CDTSelector

extension IndexDefinition {
  /// The layout of the rows of an index of vectors.
  package var vectorLayout: VectorLayout { VectorLayout(length: options.vectorLength ?? 0) }

  /// The vector of a condition, if the index bounds the distances from it.
  package func probe(_ near: NearField) -> VectorProbe? {
    guard holdsVectors(for: near), case .vector(let vector, let metric) = near.condition.distance else {
      return nil
    }
    return VectorProbe(vector, metric)
  }

  /// Whether the index has the vectors of a condition.
  package func holdsVectors(for near: NearField) -> Bool {
    guard case .vector(let vector, _) = near.condition.distance else { return false }
    return vector.count == options.vectorLength && fields.contains { $0.fieldPath == near.path }
  }

  /// Throws if the options of an index of vectors don't fit.
  func checkVectors() throws(QueryError) {
    guard let length = options.vectorLength else { return }
    guard 1...Distance.maximumLength ~= length else { throw .invalidVectorLength(length) }
    guard fields.count == 1 else { throw .severalVectorFields(fields.count) }
    if fields[0].fieldPath.documentField != nil { throw .distanceOfDocument(fields[0].path, at: "fields[0]") }
  }
}
