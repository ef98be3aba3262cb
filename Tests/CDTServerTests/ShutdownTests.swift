import CDTDatastore
import CDTJSON
import CDTServer
import CDTServerTestSupport
import CDTTestSupport
import Foundation
import Testing

/// How a server ends.
@Suite struct ShutdownTests {
  @Test func `a program ends at SIGTERM when its requests are answered`() async throws {
    let directory = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString).path
    defer { try? FileManager.default.removeItem(atPath: directory) }
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
      let saved = try await store.documentCount()
      #expect(saved >= statuses.count { $0 == 201 })
    }
  }

  @Test func `every acknowledged write is there after a kill`() async throws {
    let directory = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString).path
    defer { try? FileManager.default.removeItem(atPath: directory) }
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
}
