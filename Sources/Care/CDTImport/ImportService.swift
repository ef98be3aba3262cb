package import CDTDatastore

/// The additions of a server to an import: the rules of the user who sends it, and its own checks.
package struct ImportService: Sendable {
  let rules: any DocumentRules
  let refusal: @Sendable (_ id: String, _ body: BodyText, _ attachments: Attachments?) -> String?
  let saved: @Sendable (WriteTransaction, _ id: String, RevisionID) throws -> Void

  /// - Parameters:
  ///   - rules: The rules of the user.
  ///   - refusal: Returns why a document is not saved; `nil` if it can be.
  ///   - saved: Called with each new revision, in its transaction.
  package init(
    rules: any DocumentRules,
    refusal: @escaping @Sendable (_ id: String, _ body: BodyText, _ attachments: Attachments?) -> String?,
    saved: @escaping @Sendable (WriteTransaction, _ id: String, RevisionID) throws -> Void
  ) {
    (self.rules, self.refusal, self.saved) = (rules, refusal, saved)
  }
}
