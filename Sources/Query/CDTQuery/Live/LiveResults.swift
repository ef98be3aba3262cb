public import CDTDatastore
public import Observation

/// The results of a live query for a view, which is drawn again when they change.
///
/// ```swift
/// struct TaskList: View {
///   @State private var tasks: LiveResults<Task>
///
///   init(_ store: Datastore) throws {
///     tasks = LiveResults(try store.live(Task.self, where: { !$0.isDone }, sort: \.due.ascending))
///   }
///
///   var body: some View {
///     List(tasks.results) { Text($0.title) }
///   }
/// }
/// ```
///
/// The query is observed for the lifetime of the object.
///
/// See <doc:FollowingResults#Views>.
@MainActor @Observable
public final class LiveResults<Item: Sendable> {
  /// The results; empty until the query has run the first time, unless it has in the initializer.
  public private(set) var results: [Item] = []
  /// The difference between the results and the previous ones; `nil` until the query has run the first time.
  public private(set) var difference: ResultDifference?
  /// The documents that the results link, under the names of ``Query/include``.
  public private(set) var included: [String: Linked<DocumentRevision>] = [:]
  /// The errors of the documents that can't be decoded, which are left out of the results.
  public private(set) var undecodable: [DatastoreError] = []
  /// The error with which the query has failed, if it has: ``QueryError`` or `DatastoreError`.
  public private(set) var error: (any Error)?

  @ObservationIgnored private var observer: Observer?

  /// Observes a query.
  ///
  /// - Parameters:
  ///   - query: The query, which is observed for the lifetime of the object.
  ///   - immediately: Whether to run the query at once, on the main actor, so that a view is drawn with its results. Do so only for a
  ///     query that takes milliseconds. Otherwise, the view is first drawn without any.
  public init(_ query: LiveQuery<Item>, immediately: Bool = false) {
    if immediately {
      do {
        let first = try query.firstResults()
        (results, included, undecodable) = (first.results, first.included, first.undecodable)
      } catch {
        self.error = error
        return
      }
    }
    observer = Observer(
      Task { [weak self] in
        do {
          for try await update in query {
            guard let self else { return }
            (results, difference, included) = (update.results, update.difference, update.included)
            if undecodable != update.undecodable { undecodable = update.undecodable }
          }
        } catch {
          self?.error = error
        }
      })
  }

  /// A task that ends with the object.
  private final class Observer: Sendable {
    private let task: Task<Void, Never>

    init(_ task: Task<Void, Never>) {
      self.task = task
    }

    deinit {
      task.cancel()
    }
  }
}
