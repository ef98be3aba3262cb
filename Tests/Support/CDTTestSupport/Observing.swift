import Observation

/// Waits until a condition on observable objects is true; checks it when a view that reads the same would be drawn again.
@MainActor package func observe(_ isTrue: @MainActor () -> Bool) async {
  while true {
    let (changes, continuation) = AsyncStream.makeStream(of: Void.self)
    let isDone = withObservationTracking {
      isTrue()
    } onChange: {
      continuation.yield()
    }
    if isDone { return }
    for await _ in changes { break }
  }
}
