public import CDTDatastore
import CDTSelector
public import Observation

/// A document for a view, which is drawn again when the document changes.
///
/// ```swift
/// struct TaskView: View {
///   @State private var task: LiveDocument<Task>
///
///   init(_ id: Task.ID, in store: Datastore) {
///     task = LiveDocument(Task.self, id: id, in: store)
///   }
///
///   var body: some View {
///     Text(task.value?.title ?? "deleted")
///   }
/// }
/// ```
///
/// The document is observed for the lifetime of the object, until the datastore is closed.
///
/// See <doc:FollowingResults#Views>.
@MainActor @Observable
public final class LiveDocument<Model: DocumentModel> {
  private let results: LiveResults<Model>

  /// Reads a document on the main actor, and observes it.
  public init(_ type: Model.Type = Model.self, id: Model.ID, in store: Datastore) {
    let path = FieldPath(segments: [.init(name: Array("_id".utf8))])
    let query = Query(QuerySelector(clause: .field(path, .equal(.string(id.documentID)))))
    results = LiveResults(store.live(ModelQuery(type, query)), immediately: true)
  }

  /// The document; `nil` if it does not exist, is deleted, or can't be decoded.
  public var value: Model? { results.results.first }

  /// The error of a document that can't be decoded, until it can be, or with which the observation has ended; otherwise `nil`.
  public var error: (any Error)? { results.error ?? results.undecodable.first }
}
