import CDTDatastore
import CDTJSON
import CDTPlatform
import CDTTestSupport
import Foundation
import Testing

@testable import CDTIndex
@testable import CDTQuery
@testable import CDTSelector

/// Where the system refuses what a query needs, the error is one that the user knows, and nothing is lost.
@Suite struct QueryFailureTests {
  /// What `cdt-store-worker descriptors` and `heap` print.
  private struct Report: Codable {
    var untyped: [String] = []
    var messages: [String] = []
    var wrong: [String] = []
    var refused = 0
    var answered = 0
  }

  private static func fill(_ store: Datastore) throws {
    try store.write { transaction in
      for number in 0..<300 {
        try transaction.createDocument(
          from: DocumentDraft(
            id: "d\(number)", body: ["a": .int(Int64(number % 7)), "b": .int(Int64(number * 17 % 300))]))
      }
    }
  }

  /// Runs `cdt-store-worker` in a process that is short of something, and checks that the store and its index file are what they
  /// were.
  private static func report(of mode: String) async throws -> Report {
    let directory = FileManager.default.temporaryDirectory.appending(path: "cdtquery-\(UUID().uuidString)")
      .path
    try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(atPath: directory) }
    let manager = try DatastoreManager(directory: directory)
    let store = try await manager.datastore(named: "store")
    try fill(store)
    try await store.ensureIndexed(["a"], name: "by_a")
    let file = try store.indexManager().path
    let before = FileIdentity(file)
    try await manager.closeDatastore(named: "store")

    let (status, output) = try await BuiltProgram("cdt-store-worker", [mode, directory]).ended()
    #expect(status == 0)
    let report = try JSONDecoder().decode(Report.self, from: Data(output.utf8))
    #expect(report.untyped == [])
    #expect(report.wrong == [])
    #expect(report.refused > 20)
    #expect(report.answered > 20)
    #expect(before != nil && FileIdentity(file) == before, "the index file was made again")
    let again = try await manager.datastore(named: "store")
    #expect(try again.checkIndexes() == [])
    #expect(try await again.checkIntegrity() == [])
    #expect(try await again.count(["a": 3]) == 43)
    try await manager.closeDatastore(named: "store")
    return report
  }

  @Test func `without file descriptors queries are refused with the path and the system's reason`()
    async throws
  {
    let report = try await Self.report(of: "descriptors")
    for message in report.messages {
      #expect(message.contains("/store") && message.contains("Too many open files"), "\(message)")
      #expect(message.contains(": io: "), "\(message)")
    }
    for question in ["find", "count", "exists", "explain"] {
      #expect(report.messages.contains { $0.hasPrefix("\(question): ") }, "\(question) was never refused")
    }
  }

  @Test func `without memory queries are refused, and the index file stays`() async throws {
    let report = try await Self.report(of: "heap")
    for message in report.messages {
      #expect(message.contains(": io: there is not enough memory"), "\(message)")
    }
    for question in ["find", "count", "exists", "explain"] {
      #expect(report.messages.contains { $0.hasPrefix("\(question): ") }, "\(question) was never refused")
    }
  }
}
