import CDTPlatform

/// The error of a condition that did not become true in time.
package struct NotYet: Error, CustomStringConvertible {
  package let description: String
}

/// Waits until a condition is true; checks it every millisecond.
///
/// - Parameter what: The condition in words, for the error.
/// - Throws: ``NotYet`` when the time is over.
package func eventually(
  _ what: String, within limit: Duration = .seconds(300), isolation: isolated (any Actor)? = #isolation,
  _ condition: () async throws -> Bool
) async throws {
  let end = ContinuousClock.now + limit
  while try await !condition() {
    if .now >= end { throw NotYet(description: "not within \(limit): \(what)") }
    try await Task.sleep(for: .milliseconds(1))
  }
}

/// Waits on this thread until a condition is true; checks it every 0.1 milliseconds.
///
/// - Parameter what: The condition in words, for the error.
/// - Throws: ``NotYet`` when the time is over.
package func blockUntil(
  _ what: String, within limit: Duration = .seconds(300), _ condition: () throws -> Bool
) throws {
  let end = ContinuousClock.now + limit
  while try !condition() {
    if .now >= end { throw NotYet(description: "not within \(limit): \(what)") }
    Sleep.microseconds(100)
  }
}
