/// A thing to do.
public struct ToDo: Hashable, Sendable, Identifiable {
  /// The document's id.
  public let id: String
  /// What is to be done.
  public var title: String
  /// Whether it is done.
  public var isDone: Bool
  /// Words to find it by.
  public var tags: Set<String>
}
