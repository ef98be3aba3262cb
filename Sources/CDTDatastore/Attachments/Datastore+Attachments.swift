import SQLite

extension Datastore {
  /// How many attachments are kept; a content that several revisions have is one.
  ///
  /// - Complexity: O(*a*) in the number of attachments of all revisions.
  public var attachmentCount: Int {
    get throws { try read { Int(try $0.scalar("SELECT count(DISTINCT key) FROM attachments")) } }
  }
}
