import CDTReplication
import Synchronization
import Testing

@Suite struct InterceptorTests {
  private struct Refusal: Error {}

  @Test(arguments: [true, false]) func `an error of an interceptor ends the replication at once`(
    _ isRequest: Bool
  ) async throws {
    try await withServedStore { served in
      let calls = Mutex(0)
      let refuse: @Sendable () throws -> Void = {
        calls.withLock { $0 += 1 }
        throw Refusal()
      }
      var database = try served.database()
      database.interceptors = [
        isRequest
          ? HTTPInterceptor(request: { _ in try refuse() }) : HTTPInterceptor(reply: { _ in try refuse() })
      ]
      var replication = Replication(.pull, with: database)
      replication.retries.firstPause = .milliseconds(1)
      _ = await #expect(throws: Refusal.self) {
        try await Replicator(replication, of: served.local).replicate()
      }
      #expect(calls.withLock { $0 } == 1)
    }
  }
}
