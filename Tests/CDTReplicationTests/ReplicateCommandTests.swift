import CDTDatastore
import CDTTestSupport
import Foundation
import Glibc
import Testing

/// `cdtquery replicate` when something ends it.
@Suite struct ReplicateCommandTests {
  private static func withStore(_ directory: String, _ fill: (Datastore) async throws -> Void) async throws {
    let manager = try DatastoreManager(directory: "\(directory)/stores")
    try await fill(try await manager.datastore(named: "source"))
    try await manager.closeDatastore(named: "source")
  }

  private static let replicate = #"exec "$0" replicate stores/source "$1""#

  @Test(.timeLimit(.usual)) func `a signal ends a run that is not continuous at once`() async throws {
    // Every request is answered by a pause of an hour.
    let server = try await ScriptedServer { _ in .init(status: 503, headers: ["Retry-After": "3600"]) }
    try await withTemporaryDirectory(inMemory: true) { directory in
      try await Self.withStore(directory) { _ in }
      let run = try CommandRun(Self.replicate, ["\(server.url)/db"], in: directory)
      try await eventually("the server was called") { server.count >= 1 }
      run.process.send(SIGINT)
      #expect(await run.ended() == -SIGINT)
    }
    await server.close()
  }

  @Test func `the ids of a file are its lines, without a byte order mark`() async throws {
    try await withTemporaryDirectory(inMemory: true) { directory in
      try await Self.withStore(directory) { store in
        for id in ["d1", "d2\u{2028}x", "d3", "d4"] {
          try await store.createDocument(from: DocumentDraft(id: id, body: [:]))
        }
      }
      try "\u{FEFF}d1\r\nd2\u{2028}x\n\nd3".write(
        toFile: "\(directory)/ids", atomically: true, encoding: .utf8)
      let run = try CommandRun("\(Self.replicate) --create --ids ids", ["copies/s"], in: directory)
      #expect(await run.ended() == 0)
      let manager = try DatastoreManager(directory: "\(directory)/copies")
      #expect(
        try await manager.datastore(named: "s").read { try $0.allDocumentIDs() } == [
          "d1", "d2\u{2028}x", "d3",
        ])
    }
  }

  private static func warning(of store: String) -> String {
    #"cdtquery: \#(store): document "_design/app": stored and not enforced: `validate_doc_update`, `filters.mine`; see docs/moving-from-couchdb.md"#
  }

  private static let functions = DocumentDraft(
    id: "_design/app",
    body: ["validate_doc_update": "function () {}", "filters": ["mine": "function () {}"]])

  @Test func `a pull names rules that are not enforced`() async throws {
    try await withServedStore { served in
      try await served.remote.createDocument(from: Self.functions)
      try await withTemporaryDirectory(inMemory: true) { directory in
        for isFirst in [true, false] {
          let run = try CommandRun(
            #"exec "$0" replicate "$1" stores/copy --create"#, [served.url], in: directory)
          #expect(await run.ended() == 0)
          #expect(try run.text("err").contains(Self.warning(of: "copy")) == isFirst)
        }
      }
    }
  }

  @Test func `a store that receives rules from another store is named`() async throws {
    try await withTemporaryDirectory(inMemory: true) { directory in
      try await Self.withStore(directory) { try await $0.createDocument(from: Self.functions) }
      let run = try CommandRun("\(Self.replicate) --create", ["stores/copy"], in: directory)
      #expect(await run.ended() == 0)
      #expect(try run.text("err").contains(Self.warning(of: "copy")))
      try """
      [one]
      source = stores/source
      target = stores/second
      create = true
      """.write(toFile: "\(directory)/pairs", atomically: true, encoding: .utf8)
      let pairs = try CommandRun(#"exec "$0" replicate --config pairs"#, [], in: directory)
      #expect(await pairs.ended() == 0)
      let expected = Self.warning(of: "second").replacing("cdtquery:", with: "cdtquery: [one]")
      #expect(try pairs.text("err").components(separatedBy: expected).count == 2)
    }
  }

  @Test func `a target that was created for a failed run is removed`() async throws {
    let server = try await ScriptedServer { _ in .init(status: 404) }
    try await withTemporaryDirectory(inMemory: true) { directory in
      let run = try CommandRun(
        #"exec "$0" replicate "$1" stores/copy --create"#, ["\(server.url)/db"], in: directory)
      #expect(await run.ended() > 0)
      #expect(!FileManager.default.fileExists(atPath: "\(directory)/stores"))
    }
    await server.close()
  }

  @Test(.timeLimit(.usual)) func `the second signal ends a continuous run at once`() async throws {
    let server = try await ScriptedServer { request in
      let path = request.split(separator: " ", maxSplits: 2).dropFirst().first ?? ""
      if path.contains("/_local/") { return .init(status: 404) }
      if path.hasSuffix("/_revs_diff") { return .init(status: 503, headers: ["Retry-After": "3600"]) }
      return .init(body: #"{"db_name":"db","instance_start_time":"1"}"#)
    }
    try await withTemporaryDirectory(inMemory: true) { directory in
      try await Self.withStore(directory) { store in
        try await store.createDocument(from: DocumentDraft(id: "a", body: [:]))
      }
      let run = try CommandRun("\(Self.replicate) --continuous", ["\(server.url)/db"], in: directory)
      try await eventually("it waits") { try run.text("out").contains("waiting") }
      run.process.send(SIGTERM)
      #expect(await run.ended() == 0)
    }
    await server.close()
  }

  @Test(.timeLimit(.usual)) func `rejected documents are listed also if the run fails afterwards`()
    async throws
  {
    let server = try await ScriptedServer { request in
      let path = request.split(separator: " ", maxSplits: 2).dropFirst().first ?? ""
      // The checkpoint is refused.
      if path.contains("/_local/") { return .init(status: request.hasPrefix("GET") ? 404 : 403) }
      if path.hasSuffix("/_revs_diff") {
        return .init(body: #"{"doc":{"missing":["1-c4103f122d27677c9db144cae1394a66"]}}"#)
      }
      if path.hasSuffix("/_bulk_docs") {
        return .init(status: 201, body: #"[{"id":"doc","error":"forbidden","reason":"not today"}]"#)
      }
      return .init(body: #"{"db_name":"db","instance_start_time":"1"}"#)
    }
    try await withTemporaryDirectory(inMemory: true) { directory in
      try await Self.withStore(directory) { store in
        try await store.createDocument(from: DocumentDraft(id: "doc", body: [:]))
      }
      let run = try CommandRun(Self.replicate, ["\(server.url)/db"], in: directory)
      #expect(await run.ended() == 77)
      #expect(try run.text("err").contains("doc 1-c4103f122d27677c9db144cae1394a66 was rejected: "))
      #expect(try run.text("err").contains("not today"))
    }
    await server.close()
  }

  @Test(.timeLimit(.usual)) func `more attachments than a process may have open files are replicated`()
    async throws
  {
    try await withTemporaryDirectory(inMemory: true) { directory in
      try await Self.withStore(directory) { store in
        try await store.write { transaction in
          for number in 0..<300 {
            var draft = DocumentDraft(id: "doc\(number)", body: [:])
            draft.attachments["a"] = DocumentAttachment(
              data: Data("content \(number)".utf8), name: "a", contentType: "")
            try transaction.createDocument(from: draft)
          }
        }
      }
      let run = try CommandRun(
        #"ulimit -n 100; exec "$0" replicate stores/source stores/target --create"#, [], in: directory)
      let status = await run.ended()
      let errors = try run.text("err")
      #expect(status == 0, "\(errors)")
      #expect(try run.text("out").contains(#""written":300,"attachments":300"#))
    }
  }
}
