import CDTDatastore
import CDTServer
import CDTServerTestSupport
import CDTTestSupport
import Foundation
import Logging
import ServiceLifecycle
import Testing

/// The code of docs/server.md.
@Suite struct ServerGuideTests {
  private static func serve(_ directory: String, port: Int, _ logger: Logger) async throws {
    let manager = try DatastoreManager(directory: directory)
    var configuration = ServerConfiguration()
    configuration.port = port
    let server = try DatastoreServer(manager, configuration: configuration, logger: logger)
    try await ServiceGroup(services: [server], gracefulShutdownSignals: [.sigterm], logger: logger).run()
  }

  @Test func `the page's code is here`() throws {
    try expectExamples(of: "server.md", in: #filePath, atLeast: 1)
  }

  @Test func `it serves until its task is cancelled`() async throws {
    let parent = try temporaryDirectory()
    defer { removeDirectory(parent) }
    let directory = "\(parent)/stores"
    let running = Task { try await Self.serve(directory, port: 0, .silent) }
    running.cancel()
    _ = await running.result
    #expect(FileManager.default.fileExists(atPath: directory))
  }
}
