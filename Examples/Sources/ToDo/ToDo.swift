public import CDTQuery
import Foundation

/// A thing to do.
public struct ToDo: DocumentModel, Hashable {
  /// The document's id.
  public var id = UUID().uuidString
  /// The revision that was read.
  public var revision: RevisionID?
  /// The thing to do.
  public var title: String
  /// Whether it is done.
  public var isDone = false
  /// Words to find it by, sorted.
  public var tags: [String] = []
}
