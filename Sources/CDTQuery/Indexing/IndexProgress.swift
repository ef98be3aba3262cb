/// The progress of an index build.
public struct IndexProgress: Sendable, Hashable {
  /// The number of indexed documents.
  public let done: Int
  /// The number of documents to index, which grows with concurrent writes.
  public let total: Int
}
