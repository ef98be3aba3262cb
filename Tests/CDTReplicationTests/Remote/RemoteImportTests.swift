import CDTDatastore
import CDTJSON
import CDTTestSupport
import Foundation
import Synchronization
import Testing

@testable import CDTReplication

/// `cdtquery import` into a database at a server.
@Suite struct RemoteImportTests {
  struct Run {
    let status: Int32
    /// What it wrote to standard error, without the directory of its files.
    let message: String
  }

  /// Imports texts, each from a file `0`, `1` and so on.
  static func run(
    _ url: String, _ texts: [String], _ options: String...
  ) async throws -> Run {
    try await withTemporaryDirectory(inMemory: true) { directory in
      let files = try texts.enumerated().map { number, text in
        let path = "\(directory)/\(number)"
        try Data(text.utf8).write(to: URL(filePath: path))
        return path
      }
      let tests = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
      let program = URL(filePath: tests).deletingLastPathComponent().appending(path: "cdtquery")
      let errors = "\(directory)/errors"
      let process = try SpawnedProcess(
        program.path, ["import", url] + files + options, output: .file("/dev/null"), errors: .file(errors))
      let status = await process.ended()
      let message = try String(contentsOf: URL(filePath: errors), encoding: .utf8)
      return Run(status: status, message: message.replacingOccurrences(of: "\(directory)/", with: ""))
    }
  }

  @Test func `documents of several files are imported, and the database is created`() async throws {
    try await withServedStore { served in
      let lines = (0..<2_500).map { #"{"_id":"doc\#($0)","_rev":"7-x","number":\#($0)}"# }
      let run = try await Self.run(
        "\(served.server.url)/new", [lines.joined(separator: "\n"), #"[{"a":1},{}]"#])
      #expect(run.message == "2502 imported\n")
      #expect(run.status == 0)
      let store = try await served.server.manager.existingDatastore(named: "new")
      #expect(try await store.read { try $0.documentCount() } == 2_502)
      let document = try await store.document(withID: "doc2499")
      #expect(document.body == ["number": 2_499])
      #expect(document.revisionID.generation == 1)
    }
  }

  @Test func `CSV, a path and a field for the id are as for a store`() async throws {
    try await withServedStore { served in
      let csv = try await Self.run(
        served.url, ["code,name\n007,Bond\n"], "--format", "csv", "--id", "code")
      #expect(csv.message == "1 imported\n")
      let nested = try await Self.run(
        served.url, [#"{"data": {"people": [{"name": "a"}]}}"#], "--at", "data.people", "--id", "name")
      #expect(nested.message == "1 imported\n")
      let documents = try await served.remote.find([:], sort: ["_id"])
      #expect(documents.map(\.id) == ["007", "a"])
    }
  }

  @Test func `an id that exists ends the import before its batch, is skipped or is replaced`() async throws {
    try await withServedStore { served in
      let first = try await served.remote.createDocument(from: DocumentDraft(id: "b", body: ["old": true]))
      let lines = #"{"_id":"a","n":1}"# + "\n" + #"{"_id":"b","n":2}"# + "\n" + #"{"_id":"c","n":3}"#
      let failing = try await Self.run(served.url, [lines])
      #expect(
        failing.message
          == "cdtquery: 0:2: document \"b\" already exists; skip or replace such documents (--on-conflict)\n")
      #expect(failing.status == 65)
      #expect(try await served.remote.read { try $0.documentCount() } == 1)

      let going = try await Self.run(served.url, [#"{"_id":"b"}"# + "\n" + #"{"_id":"d"}"#], "--keep-going")
      #expect(
        going.message.hasSuffix(
          "already exists; skip or replace such documents (--on-conflict)\n1 imported, 1 failed\n"))
      #expect(going.status == 65)

      let skipping = try await Self.run(served.url, [lines], "--on-conflict", "skip")
      #expect(skipping.message == "2 imported, 1 skipped\n")
      #expect(try await served.remote.document(withID: "b").revisionID == first.revisionID)

      let replacing = try await Self.run(served.url, [lines], "--on-conflict", "replace")
      #expect(replacing.message == "0 imported, 3 replaced\n")
      let replaced = try await served.remote.document(withID: "b")
      #expect(replaced.body == ["n": 2] && replaced.revisionID.generation == 2)
    }
  }

  @Test func `an id that occurs twice is a conflict, too`() async throws {
    try await withServedStore { served in
      let lines = #"{"_id":"a","n":1}"# + "\n" + #"{"_id":"b"}"# + "\n" + #"{"_id":"a","n":2}"#
      let failing = try await Self.run(served.url, [lines])
      #expect(failing.message.hasPrefix("cdtquery: 0:3: document \"a\" already exists"))
      #expect(try await served.remote.read { try $0.documentCount() } == 0)
      let skipping = try await Self.run(served.url, [lines], "--on-conflict", "skip")
      #expect(skipping.message == "2 imported, 1 skipped\n")
      let replacing = try await Self.run(served.url, [lines], "--on-conflict", "replace")
      #expect(replacing.message == "0 imported, 3 replaced\n")
      let document = try await served.remote.document(withID: "a")
      #expect(document.body == ["n": 2] && document.revisionID.generation == 3)
    }
  }

  @Test func `ids are compared by their bytes, and a deleted document can be imported again`() async throws {
    try await withServedStore { served in
      let lines = "{\"_id\":\"\u{E9}\"}\n{\"_id\":\"e\u{301}\"}\n"
      #expect(try await Self.run(served.url, [lines]).message == "2 imported\n")
      try await served.remote.deleteDocument(withID: "\u{E9}")
      let again = try await Self.run(served.url, [lines], "--on-conflict", "skip")
      #expect(again.message == "1 imported, 1 skipped\n")
    }
  }

  @Test func `attachments are imported, and a document without keeps those that it has`() async throws {
    try await withServedStore { served in
      let line =
        #"{"_id":"cat","_attachments":{"sound.txt":{"content_type":"text/plain","data":"bWVvdw=="}}}"#
      #expect(try await Self.run(served.url, [line]).message == "1 imported\n")
      let changed = try await Self.run(served.url, [#"{"_id":"cat","n":1}"#], "--on-conflict", "replace")
      #expect(changed.message == "0 imported, 1 replaced\n")
      let cat = try await served.remote.document(withID: "cat")
      #expect(cat.body == ["n": 1])
      let sound = try await cat.attachments["sound.txt"]?.data()
      #expect(sound == Data("meow".utf8))
      let without = try await Self.run(
        served.url, [#"{"_id":"cat","_attachments":{}}"#], "--on-conflict", "replace")
      #expect(without.message == "0 imported, 1 replaced\n")
      #expect(try await served.remote.document(withID: "cat").attachments.isEmpty)
    }
  }

  @Test func `invalid lines and documents that the server refuses are reported with their lines`()
    async throws
  {
    try await withServedStore { configuration in
      configuration.limits.documentLength = 1_000
    } _: { served in
      let long = #"{"_id":"long","text":"\#(String(repeating: "x", count: 2_000))"}"#
      let lines = [#"{"_id":"a"}"#, #"{"_id":"_b"}"#, long, "{", #"{"_id":"c"}"#].joined(separator: "\n")
      let run = try await Self.run(served.url, [lines], "--keep-going")
      let messages = run.message.split(separator: "\n")
      try #require(messages.count == 4, "\(run.message)")
      #expect(messages[0].hasPrefix("cdtquery: 0:5:"))
      #expect(messages[1].hasPrefix("cdtquery: 0:2: the id \"_b\" begins with an underscore"))
      #expect(messages[2].hasPrefix("cdtquery: 0:3: the server refuses the document: document_too_large"))
      #expect(messages[3] == "2 imported, 3 failed")
      #expect(run.status == 65)
      let ended = try await Self.run(served.url, [long])
      #expect(ended.message.hasPrefix("cdtquery: 0:1: the server refuses the document"))
      #expect(ended.status == 65)
    }
  }

  @Test func `a request that is too large for the server is sent in smaller ones`() async throws {
    try await withServedStore { configuration in
      configuration.limits.requestLength = 4_000
    } _: { served in
      let text = String(repeating: "x", count: 500)
      var lines = (0..<40).map { #"{"_id":"\#($0)","text":"\#(text)"}"# }
      lines[20] = #"{"_id":"20","text":"\#(String(repeating: "x", count: 5_000))"}"#
      let run = try await Self.run(served.url, [lines.joined(separator: "\n")], "--keep-going")
      let messages = run.message.split(separator: "\n")
      try #require(messages.count == 2, "\(run.message)")
      #expect(messages[0].hasPrefix("cdtquery: 0:21: the server refuses the document: too_large"))
      #expect(messages[0].hasSuffix("; leave the document out, or raise the server's limit"))
      #expect(messages[1] == "39 imported, 1 failed")
      #expect(try await served.remote.read { try $0.documentCount() } == 39)
    }
  }

  @Test func `a document that is created meanwhile is a conflict as if it had been found`() async throws {
    let rounds = Atomic(0)
    let server = try await ScriptedServer { request in
      if request.contains("_all_docs") {
        let isFound = rounds.load(ordering: .relaxed) > 0
        return .init(
          body: isFound
            ? #"{"rows":[{"id":"a","key":"a","value":{"rev":"1-x"},"doc":{"_id":"a","_rev":"1-x"}}]}"#
            : #"{"rows":[{"key":"a","error":"not_found"}]}"#)
      }
      guard request.contains("_bulk_docs") else { return .init() }
      rounds.add(1, ordering: .relaxed)
      return request.contains(#""_rev":"1-x""#)
        ? .init(status: 201, body: #"[{"ok":true,"id":"a","rev":"2-x"}]"#)
        : .init(status: 201, body: #"[{"id":"a","error":"conflict","reason":"Document update conflict."}]"#)
    }
    let cases = [
      (
        "fail",
        "cdtquery: 0:1: document \"a\" already exists; skip or replace such documents (--on-conflict)\n"
      ),
      ("skip", "0 imported, 1 skipped\n"), ("replace", "0 imported, 1 replaced\n"),
    ]
    for (rule, message) in cases {
      rounds.store(0, ordering: .relaxed)
      let run = try await Self.run("\(server.url)/db", [#"{"_id":"a"}"#], "--on-conflict", rule)
      #expect(run.message == message)
      #expect(rounds.load(ordering: .relaxed) == (rule == "replace" ? 2 : 1))
    }
    await server.close()
  }

  @Test func `a request that writes is sent once, as its reply may be lost`() async throws {
    let server = try await ScriptedServer { request in
      if request.contains("_all_docs") { return .init(body: #"{"rows":[{"key":"a","error":"not_found"}]}"#) }
      return request.contains("_bulk_docs") ? .init(status: 503) : .init()
    }
    let run = try await Self.run("\(server.url)/db", [#"{"_id":"a"}"#])
    #expect(run.status == 69)
    #expect(server.requests.filter { $0.contains("_bulk_docs") }.count == 1)
    await server.close()
  }

  @Test func `exit codes and messages tell apart what is wrong`() async throws {
    try await withServedStore { served in
      let wrongUser = served.url.replacingOccurrences(of: "//", with: "//ana:wrong@")
      let cases: [(Int32, String, [String])] = [
        (69, "http://127.0.0.1:1/db", []), (77, wrongUser, []), (64, served.server.url, []),
        (64, served.url, ["--user", "ana"]), (64, served.url, ["--user", "ana", "--password-file", "-"]),
        (64, served.url, ["--batch", "0"]), (64, served.url, ["--from-touchdb", "x.touchdb"]),
        (74, served.url, ["/nowhere/at/all"]), (65, "\(served.server.url)/Not-A-Name", []),
      ]
      for (status, url, options) in cases {
        let program = try BuiltProgram("cdtquery", ["import", url] + options, hidesErrors: true)
        let end = try await program.ended()
        #expect(end.status == status, "\(url) \(options)")
      }
      let names = try served.server.manager.datastoreNames()
      #expect(names == ["db"])
    }
  }
}
