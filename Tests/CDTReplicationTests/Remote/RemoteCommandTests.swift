import CDTDatastore
import CDTImport
import CDTQuery
import CDTTestSupport
import Foundation
import Glibc
import Testing

/// The commands of `cdtquery` for databases at a server.
@Suite struct RemoteCommandTests {
  static func expectGoldenFiles(at url: String) async throws {
    let directory = Repository.root.appending(path: "QueryFixtures").path
    let run = try BuiltProgram("cdtquery", ["test", directory, "--at", url])
    let (status, output) = try await run.ended()
    #expect(status == 0, "\(output)")
    #expect(output.hasSuffix(" passed, 0 failed\n") && !output.hasPrefix("0 "))
  }

  @Test func `the project's golden files pass at a server of ours`() async throws {
    try await withServedStore { served in
      try await Self.expectGoldenFiles(at: served.server.url)
      let names = try served.server.manager.datastoreNames()
      #expect(names == ["db"])
    }
  }

  @Test func `exit codes tell apart what is wrong`() async throws {
    try await withServedStore { served in
      try await served.remote.createDocument(from: DocumentDraft(id: "a", body: ["number": 1]))
      let cases: [(Int32, [String])] = [
        (0, ["find", served.url, #"{"number": 1}"#]), (0, ["changes", served.url]),
        (0, ["count", served.url]),
        (0, ["explain", served.url, "{}"]), (0, ["get", served.url, "a"]), (66, ["get", served.url, "b"]),
        (66, ["count", "\(served.server.url)/none"]),
        (65, ["find", served.url, #"{"number": {"$gtt": 1}}"#]),
        (64, ["find", served.url, "{}", "--use-index", "x"]), (64, ["find", served.server.url, "{}"]),
        (64, ["find", served.url, "-", "--user", "ana"]), (64, ["count", served.url, "-", "--user", "ana"]),
        (64, ["explain", served.url, "-", "--user", "ana"]),
        (69, ["count", "http://127.0.0.1:1/db"]),
        (77, ["count", served.url.replacingOccurrences(of: "//", with: "//ana:wrong@")]),
      ]
      for (status, arguments) in cases {
        let run = try BuiltProgram("cdtquery", arguments, hidesErrors: true)
        let end = try await run.ended()
        #expect(end.status == status, "\(arguments)")
      }
    }
  }

  @Test func `indexes of a server are created, listed and deleted`() async throws {
    try await withServedStore { served in
      func output(_ arguments: String...) async throws -> String {
        let run = try BuiltProgram("cdtquery", ["index"] + arguments)
        let end = try await run.ended()
        #expect(end.status == 0, "\(arguments)")
        return end.output
      }
      #expect(try await output("create", served.url, "name", "age", "--name", "by name") == "by name\n")
      let list = try await output("list", served.url)
      #expect(list.split(separator: "\n").map { $0.contains(#""name":"by name""#) } == [false, true])
      #expect(try await output("delete", served.url, "by name") == "")
      let text = ["create", served.url, "name", "--type", "text", "--tokenize", "porter", "--name", "words"]
      let run = try BuiltProgram("cdtquery", ["index"] + text)
      #expect(try await run.ended().output == "words\n")
      #expect(try await output("list", served.url).contains(#""type":"text""#))
      #expect(try await output("delete", served.url, "words") == "")
      let left = try served.remote.listIndexes()
      #expect(left.isEmpty)
      let again = try BuiltProgram(
        "cdtquery", ["index", "delete", served.url, "x"], hidesErrors: true)
      let end = try await again.ended()
      #expect(end.status == 65)
    }
  }

  @Test func `an export has every document, by id`() async throws {
    try await withServedStore { served in
      for id in ["b", "_design/x", "a"] {
        try await served.remote.createDocument(from: DocumentDraft(id: id, body: ["number": 1]))
      }
      let end = try await BuiltProgram("cdtquery", ["export", served.url]).ended()
      let documents = try await served.remote.read { try $0.allDocuments() }
      #expect(documents.map(\.id) == ["_design/x", "a", "b"])
      #expect(end.output == documents.map { $0.json.text + "\n" }.joined())
    }
  }

  @Test func `an export has a document without the attachment that the server has lost`() async throws {
    try await withServedStore { served in
      for id in ["a", "b", "c"] {
        var draft = DocumentDraft(id: id, body: [:])
        if id == "b" {
          draft.attachments = [DocumentAttachment(data: Data([1]), name: "f", contentType: "text/plain")]
        }
        try await served.remote.createDocument(from: draft)
      }
      let contents = "\(served.remote.directory)/attachments"
      for name in try FileManager.default.contentsOfDirectory(atPath: contents) {
        try FileManager.default.removeItem(atPath: "\(contents)/\(name)")
      }
      let end = try await BuiltProgram(
        "cdtquery", ["export", served.url, "--attachments"], hidesErrors: true
      ).ended()
      #expect(end.status == 1)
      let documents = try await served.remote.find([:], sort: ["_id"])
      #expect(end.output == documents.map { $0.json.text + "\n" }.joined())
    }
  }

  @Test func `an export with attachments can be imported`() async throws {
    try await withServedStore { served in
      try await withTemporaryDirectory(inMemory: true) { directory in
        let content = Data((0..<100_000).map { UInt8(truncatingIfNeeded: $0 * $0 >> 5) })
        var cat = DocumentDraft(id: "a/cat", body: ["age": 3])
        cat.attachments = [
          DocumentAttachment(data: content, name: "cat.bin", contentType: "application/octet-stream"),
          DocumentAttachment(data: Data("meow".utf8), name: "sound.txt", contentType: "text/plain"),
        ]
        try await served.remote.createDocument(from: cat)
        for id in ["b", "_design/x"] {
          try await served.remote.createDocument(from: DocumentDraft(id: id, body: ["number": 1]))
        }
        let end = try await BuiltProgram(
          "cdtquery", ["export", served.url, "--attachments"]
        ).ended()
        #expect(end.status == 0)
        let lines = end.output.split(separator: "\n")
        #expect(lines.count == 3)
        #expect(lines[0].hasPrefix(#"{"_id":"_design/x","_rev":"1-"#) && !lines[0].contains("_attachments"))
        #expect(lines[2].hasPrefix(#"{"_id":"b","#))

        let file = "\(directory)/export.jsonl"
        try Data(end.output.utf8).write(to: URL(filePath: file))
        let report = try await DocumentImporter(into: served.local).run([file])
        #expect(report.imported == 3)
        let copy = try await served.local.document(withID: "a/cat")
        #expect(copy.body == ["age": 3])
        #expect(try await copy.attachments["cat.bin"]?.data() == content)
        #expect(copy.attachments["sound.txt"]?.contentType == "text/plain")
      }
    }
  }

  @Test func `linked documents of a database are printed as those of a store`() async throws {
    try await withServedStore { served in
      try await served.remote.createDocument(from: DocumentDraft(id: "a", body: ["n": 1, "to": "x"]))
      try await served.remote.createDocument(from: DocumentDraft(id: "x", body: ["v": 1]))
      let arguments = [#"{"n": 1}"#, "--include", "to=to", "--fields", "n"]
      let page = try await served.remote.page(Query(["n": 1], fields: ["n"], include: ["to": "to"]))
      let lines = page.documents.map(\.json.text) + [#"{"included":\#(page.included.json().text)}"#]
      let end = try await BuiltProgram("cdtquery", ["find", served.url] + arguments).ended()
      #expect(end.output == lines.map { $0 + "\n" }.joined() && lines.count == 2)
    }
  }

  @Test func `a batch of queries has a line for each request`() async throws {
    try await withServedStore { served in
      try await withTemporaryDirectory(inMemory: true) { directory in
        for (id, age) in [("mike", 36), ("zoe", 12)] {
          try await served.remote.createDocument(
            from: DocumentDraft(id: id, body: ["age": .int(Int64(age))]))
        }
        let file = "\(directory)/requests"
        let requests = #"{"age": 12}"# + "\n\n" + #"{"age": {"$gtt": 7}}"# + "\nnonsense\n"
        try Data((requests + #"{"selector": {}, "sort": ["age"], "fields": ["age"]}"#).utf8)
          .write(to: URL(filePath: file))
        let local = try await served.remote.find([:], sort: ["age"]).map(\.json.text)
        let end = try await BuiltProgram("cdtquery", ["find", served.url, "--batch", file]).ended()
        #expect(end.status == 0)
        let lines = end.output.split(separator: "\n").map(String.init)
        #expect(lines.count == 4, "\(end.output)")
        #expect(lines[0] == #"{"docs":[\#(local[0])]}"#)
        #expect(lines[1].hasPrefix(#"{"error":"unknownOperator","reason":"unknown operator"#))
        #expect(lines[2].hasPrefix(#"{"error":"invalidSelector""#))
        #expect(lines[3] == #"{"docs":[\#(local.joined(separator: ","))]}"#)

        let cases: [(Int32, [String])] = [
          (66, ["\(served.server.url)/none", "--batch", file]),
          (69, ["http://127.0.0.1:1/db", "--batch", file]),
          (64, [served.url, "--batch", file, "--ids"]), (64, [served.url, "{}", "--batch", file]),
          (64, [served.url, "--batch", "-", "--user", "ana"]),
          (74, [served.url, "--batch", "\(directory)/none"]),
        ]
        for (status, arguments) in cases {
          let run = try BuiltProgram("cdtquery", ["find"] + arguments, hidesErrors: true)
          let end = try await run.ended()
          #expect(end.status == status && end.output.isEmpty, "\(arguments)")
        }
      }
    }
  }

  @Test func `a request of a batch that the server does not answer is an error of its line`() async throws {
    try await withServedStore { served in
      try await withTemporaryDirectory(inMemory: true) { directory in
        let pipe = "\(directory)/requests"
        #expect(mkfifo(pipe, 0o600) == 0)
        let run = try BuiltProgram("cdtquery", ["find", served.url, "--batch", pipe])
        let requests = try FileHandle(forUpdating: URL(filePath: pipe))
        try requests.write(contentsOf: Data("{}\n".utf8))
        #expect(run.line() == #"{"docs":[]}"#)
        #expect(try await served.server.send("DELETE", "/db").status == 200)
        try requests.write(contentsOf: Data("{}\n".utf8))
        let line = run.line()
        #expect(line?.hasPrefix(#"{"error":"notFound","reason":"#) == true, "\(line ?? "no line")")
        try requests.close()
        let end = try await run.ended()
        #expect(end.status == 0)
      }
    }
  }

  @Test func `following changes prints them as they happen`() async throws {
    try await withServedStore { served in
      let run = try BuiltProgram("cdtquery", ["changes", served.url, "--follow", "--limit", "2"])
      try await served.remote.createDocument(from: DocumentDraft(id: "a", body: [:]))
      try await served.remote.createDocument(from: DocumentDraft(id: "b", body: [:]))
      let (status, output) = try await run.ended()
      #expect(status == 0)
      #expect(output.split(separator: "\n").map { $0.contains(#""id":"a""#) } == [true, false])
    }
  }
}
