import CDTDatastore
import CDTJSON
import CDTServerTestSupport
import CDTTestSupport
import Foundation
import Logging
import NIOPosix
import ServiceLifecycle
import Testing

@testable import CDTServer

/// How a server ends.
@Suite struct ShutdownTests {
  @Test func `a program ends at SIGTERM when its requests are answered`() async throws {
    let directory = try temporaryDirectory()
    defer { removeDirectory(directory) }
    let program = try ServerProgram(directory)
    let server = RunningServer(manager: try DatastoreManager(directory: directory), port: program.port)
    _ = try await server.put("/db")
    try await withThrowingTaskGroup(of: Int.self) { group in
      // Feeds end, and writes are answered.
      for _ in 0..<5 {
        group.addTask { try await server.get("/db/_changes?feed=longpoll&since=now&timeout=60000").status }
      }
      for number in 0..<100 { group.addTask { try await server.put("/db/d\(number)", ["n": 1]).status } }
      var statuses: [Int] = []
      while statuses.count < 50, let status = try await group.next() { statuses.append(status) }
      program.terminate()
      // What had not been accepted yet fails, and nothing is answered with an error.
      while let result = await group.nextResult() {
        if case .success(let status) = result { statuses.append(status) }
      }
      #expect(statuses.allSatisfy { [200, 201].contains($0) })
      #expect(program.wait() == 0)
      let store = try await server.manager.datastore(named: "db")
      let saved = try await store.read { try $0.documentCount() }
      #expect(saved >= statuses.count { $0 == 201 })
    }
  }

  /// What clients do that would hold a server.
  static let clients = [
    "PUT /db/a HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\n{", "GET / HT",
    "GET /db/large/data HTTP/1.1\r\nHost: localhost\r\n\r\n",
  ]

  @Test(.timeLimit(.usual), arguments: clients)
  func `a server ends after the grace time whatever its clients do`(request: String) async throws {
    let directory = try temporaryDirectory()
    defer { removeDirectory(directory) }
    let manager = try DatastoreManager(directory: directory)
    // More than the buffers of both ends.
    var draft = DocumentDraft(id: "large", body: [:])
    draft.attachments["data"] = DocumentAttachment(
      data: Data(count: 32 << 20), name: "data", contentType: "application/octet-stream")
    try await manager.datastore(named: "db").createDocument(from: draft)
    var configuration = ServerConfiguration()
    configuration.port = 0
    configuration.limits.idleTime = .seconds(36_000)
    configuration.grace = .milliseconds(300)
    let (ports, started) = AsyncStream<Int>.makeStream()
    let server = try DatastoreServer(manager, configuration: configuration, logger: .silent) {
      started.yield($0)
    }
    let group = ServiceGroup(configuration: .init(services: [server], logger: .silent))
    let running = Task { try await group.run() }
    var iterator = ports.makeAsyncIterator()
    let port = try #require(await iterator.next())
    let client = try RawConnection(port: port)
    client.send(request)
    // The server has seen it when it has answered another one.
    #expect(
      try await RunningServer(manager: manager, port: port).get("/_up").status == 200)
    await group.triggerGracefulShutdown()
    try await running.value
    withExtendedLifetime(client) {}
  }

  @Test(.timeLimit(.usual)) func `a connection that a server drops before it is handled is closed`()
    async throws
  {
    let limits = ServerConfiguration.Limits()
    let clients = ClientChannel(
      responder: { _, _, _ in }, limits: limits, connections: ConnectionLimit(limits.connections))
    for _ in 0..<20 {
      let (accepted, accept) = AsyncStream<Void>.makeStream()
      // As Hummingbird's server, which is done with its listening socket when it is cancelled.
      func connectAndEnd() async throws -> RawConnection {
        let server = try await ServerBootstrap(group: .singletonMultiThreadedEventLoopGroup)
          .bind(host: "127.0.0.1", port: 0) { channel in
            clients.setup(channel: channel, logger: .silent).always { _ in accept.yield() }
          }
        return try await server.executeThenClose { _ in
          let connection = try RawConnection(port: #require(server.channel.localAddress?.port))
          for await _ in accepted { break }
          return connection
        }
      }
      let connection = try await connectAndEnd()
      while !connection.hasReply(within: 0) { try await Task.sleep(for: .milliseconds(5)) }
    }
  }

  @Test func `every acknowledged write is there after a kill`() async throws {
    let directory = try temporaryDirectory()
    defer { removeDirectory(directory) }
    var random = SeededGenerator(seed: 1)
    // `make torture` has more.
    let rounds = ProcessInfo.processInfo.environment["SERVER_KILLS"].flatMap { Int($0) } ?? 5
    for round in 0..<rounds {
      let program = try ServerProgram(directory)
      let server = RunningServer(manager: try DatastoreManager(directory: directory), port: program.port)
      _ = try await server.put("/db")
      let wanted = Int.random(in: 1...150, using: &random)
      let acknowledged = await withTaskGroup(of: String?.self) { group in
        for number in 0..<200 {
          group.addTask {
            let id = "r\(round)d\(number)"
            let reply = try? await server.put("/db/\(id)", ["n": .int(Int64(number))])
            return reply?.status == 201 ? id : nil
          }
        }
        var ids: [String] = []
        for await id in group {
          if let id { ids.append(id) }
          if ids.count == wanted { program.kill() }
        }
        return ids
      }
      program.kill()
      _ = program.wait()
      let manager = try DatastoreManager(directory: directory)
      let store = try await manager.datastore(named: "db")
      #expect(try await store.documents(withIDs: acknowledged).count == acknowledged.count)
      #expect(try await store.checkIntegrity() == [])
    }
  }

  /// A plain SQLite that closes a store last copies its log without checksums.
  @Test(arguments: [true, false])
  func `sqlite3 reads a store beside a server that writes to it, and nothing is lost`(isKilled: Bool)
    async throws
  {
    let directory = try temporaryDirectory()
    defer { removeDirectory(directory) }
    let program = try ServerProgram(directory)
    let server = RunningServer(manager: try DatastoreManager(directory: directory), port: program.port)
    _ = try await server.put("/db")
    _ = try await server.put("/db/first", ["n": 0])
    // One that has the store open until the server has ended, and others that come and go.
    let script = """
      mkfifo held; sqlite3 db/db.sync < held > held.txt & exec 3> held
      echo 'BEGIN; SELECT count(*) FROM documents;' >&3; until [ -s held.txt ]; do sleep 0.02; done; touch ready
      until [ -e ended ]; do sqlite3 db/db.sync 'SELECT count(*) FROM documents' || touch failed; sleep 0.02; done
      exec 3>&-; wait
      """
    let reader = try SpawnedProcess(
      "/bin/sh", ["-c", script], in: directory, environment: ProcessInfo.processInfo.environment,
      input: .file("/dev/null"), output: .file("/dev/null"), errors: .file("/dev/null"))
    func exists(_ name: String) -> Bool { FileManager.default.fileExists(atPath: "\(directory)/\(name)") }
    try await eventually("the process is ready") { exists("ready") }
    var acknowledged = ["first"]
    try await withThrowingTaskGroup(of: String?.self) { group in
      for number in 0..<300 {
        group.addTask {
          let reply = try? await server.put("/db/d\(number)", ["n": .int(Int64(number))])
          return reply?.status == 201 ? "d\(number)" : nil
        }
      }
      for try await case let id? in group {
        acknowledged.append(id)
        if acknowledged.count == 200 { isKilled ? program.kill() : program.terminate() }
      }
    }
    #expect(program.wait() == (isKilled ? -SIGKILL : 0))
    _ = FileManager.default.createFile(atPath: "\(directory)/ended", contents: nil)
    #expect(reader.wait() == 0)
    #expect(!exists("failed"))
    #expect(acknowledged.count >= 200)
    let manager = try DatastoreManager(directory: directory)
    let store = try await manager.datastore(named: "db")
    #expect(try await store.documents(withIDs: acknowledged).count == acknowledged.count)
    #expect(try await store.checkIntegrity(repair: true).allSatisfy { $0.kind == .checksum })
    #expect(try await store.checkIntegrity() == [])
    try await store.createDocument(from: DocumentDraft(id: "later", body: [:]))
  }
}
