package import CDTDatastore
package import CDTSelector

extension ReadTransaction {
  /// The condition on the documents that the user of the transaction sees; `nil` for all.
  package var visibleClause: Clause? {
    get throws {
      guard let visibility = try visibility() else { return nil }
      return (visibility as? Visibility)?.clause
    }
  }
}
