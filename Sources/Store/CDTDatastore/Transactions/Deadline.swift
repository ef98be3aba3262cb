extension Datastore {
  /// The deadline of a task's asynchronous operations.
  @TaskLocal package static var deadline: ContinuousClock.Instant?

  /// Runs a closure with a deadline for its asynchronous operations on datastores.
  ///
  /// ```swift
  /// let adults = try await Datastore.withDeadline(.now + .seconds(2)) {
  ///   try await store.find(["age": ["$gte": 18]])
  /// }
  /// ```
  ///
  /// An operation that isn't finished by then throws ``DatastoreError`` with the code `.timedOut` within milliseconds;
  /// an unfinished write is not saved. Of nested deadlines the earlier one counts. Other work of the closure is not
  /// stopped.
  ///
  /// - Throws: The errors of the closure.
  ///
  /// See <doc:UsingAsynchronousCode#Deadlines>.
  public static func withDeadline<R>(
    _ instant: ContinuousClock.Instant, isolation: isolated (any Actor)? = #isolation,
    operation: () async throws -> R
  ) async rethrows -> R {
    let earlier = deadline.map { min($0, instant) } ?? instant
    return try await $deadline.withValue(earlier, operation: operation)
  }
}
