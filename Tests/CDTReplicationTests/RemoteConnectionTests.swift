import Testing

@testable import CDTReplication

@Suite struct RemoteConnectionTests {
  /// The client's own check would end the process.
  @Test(arguments: [false, true]) func `a connection may be dropped`(isClosed: Bool) async throws {
    // Nobody listens at this port.
    let connection = RemoteConnection(try RemoteDatabase("http://127.0.0.1:1/db"), concurrentRequests: 1)
    let error = await #expect(throws: ReplicationError.self) { _ = try await connection.send(.init("")) }
    #expect(error?.code == .unreachable)
    if isClosed { await connection.close() }
  }
}
