package import CDTDatastore
package import CDTSelector

extension ReadTransaction {
  /// The condition on the documents that the user of the transaction sees; `nil` for all.
  package var visibleClause: Clause? {
    get throws {
      guard let rules else { return nil }
      return try (rules as? EnforcedRules)?.visible(in: self)?.clause
    }
  }
}
