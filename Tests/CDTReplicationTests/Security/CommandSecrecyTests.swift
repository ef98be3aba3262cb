import CDTDatastore
import CDTTestSupport
import Foundation
import Glibc
import Testing

/// What other users of the machine, and the readers of its logs, see of a replication on the command line.
@Suite struct CommandSecrecyTests {
  private static let password = ServedUser.password
  private static let secrets = [
    password, Data("\(ServedUser.name):\(password)".utf8).base64EncodedString(), "AuthSession",
  ]

  private static func expectNothingSecret(_ text: String, _ comment: String) {
    for secret in secrets { #expect(!text.contains(secret), "\(comment): \(text)") }
  }

  /// What `ps` lists of the processes of a test: their arguments.
  private static func processes(with url: String) throws -> String {
    try FileManager.default.contentsOfDirectory(atPath: "/proc").compactMap { name -> String? in
      guard Int(name) != nil, let data = FileManager.default.contents(atPath: "/proc/\(name)/cmdline") else {
        return nil
      }
      let line = data.split(separator: 0).map { String(decoding: $0, as: UTF8.self) }.joined(separator: " ")
      return line.contains(url) ? line : nil
    }.joined(separator: "\n")
  }

  @Test(arguments: ["file", "input", "variable"])
  func `a password that is not an argument is in no listing and no output`(_ source: String) async throws {
    try await withServedUser { served, _ in
      try await withTemporaryDirectory(inMemory: true) { directory in
        try Data("\(Self.password)\n".utf8).write(to: URL(filePath: "\(directory)/password"))
        let options = [
          "file": "--password-file password", "input": "--password-file - < password", "variable": "",
        ]
        let run = try CommandRun(
          "exec \"$0\" replicate \"$1\" stores/people --both --create --continuous --user ana \(options[source] ?? "")",
          [served.url], in: directory, variable: source == "variable" ? Self.password : nil)
        try await served.remote.createDocument(from: DocumentDraft(id: "a", body: [:]))
        try await eventually("the document is written") { try run.text("out").contains(#""written":1"#) }
        let listing = try Self.processes(with: served.url)
        #expect(listing.contains("replicate \(served.url) stores/people"))
        Self.expectNothingSecret(listing, "ps")
        if source != "variable" {
          let environment = FileManager.default.contents(
            atPath: "/proc/\(run.process.id)/environ")
          Self.expectNothingSecret(String(decoding: environment ?? Data(), as: UTF8.self), "ps e")
        }
        run.process.send(SIGTERM)
        #expect(await run.ended() == 0)
        #expect(try run.text("out").contains(#""written":1"#))
        for name in ["out", "err"] { Self.expectNothingSecret(try run.text(name), name) }
      }
    }
  }

  @Test func `a password in a URL is an argument, and the warning says so`() async throws {
    try await withServedUser { served, _ in
      try await withTemporaryDirectory(inMemory: true) { directory in
        let url = served.url.replacingOccurrences(of: "//", with: "//ana:\(Self.password)@")
        let run = try CommandRun(#"exec "$0" replicate "$1" stores/people --create"#, [url], in: directory)
        #expect(await run.ended() == 0)
        #expect(
          try run.text("err").hasPrefix(
            "cdtquery: warning: other users of this machine can see a password in an argument; use --user\n"))
        for name in ["out", "err"] { Self.expectNothingSecret(try run.text(name), name) }
      }
    }
  }

  @Test func `the password of the name in a URL comes from where that of --user comes from`() async throws {
    try await withServedUser { served, _ in
      try await withTemporaryDirectory(inMemory: true) { directory in
        try Data("\(Self.password)\n".utf8).write(to: URL(filePath: "\(directory)/password"))
        let url = served.url.replacingOccurrences(of: "//", with: "//ana@")
        let count = #"exec "$0" count "$1""#
        for (script, variable) in [(count, Self.password), ("\(count) --password-file password", nil)] {
          let run = try CommandRun(script, [url], in: directory, variable: variable)
          #expect(await run.ended() == 0)
          #expect(try run.text("out") == "0\n")
          #expect(try run.text("err") == "")
        }
        let run = try CommandRun("\(count) --password-file password", [served.url], in: directory)
        #expect(await run.ended() == 64)
        #expect(try run.text("err").contains("--password-file needs --user, or a name in the URL"))
        let both = try CommandRun("\(count) - < password", [url], in: directory)
        #expect(await both.ended() == 64)
      }
    }
  }

  @Test func `failures tell no password`() async throws {
    let other = try await ScriptedServer { _ in .init(status: 404) }
    let target = "\(other.url)/db"
    let moved = try await ScriptedServer { _ in .init(status: 307, headers: ["Location": target]) }
    try await withServedUser { served, _ in
      try await withTemporaryDirectory(inMemory: true) { directory in
        let host = "ana:\(Self.password)@"
        let url = served.url.replacingOccurrences(of: "//", with: "//\(host)")
        let store = "stores/people"
        let replicate = { (arguments: String...) in ["replicate"] + arguments }
        let cases: [(Int32, [String])] = [
          (
            77,
            replicate(
              url.replacingOccurrences(of: host, with: "ana:wrong-\(Self.password)@"), store, "--create")
          ),
          (66, replicate("\(url)none", store, "--create")), (66, replicate(url, "stores/none")),
          (69, ["count", "http://\(host)127.0.0.1:1/db"]),
          (
            65,
            replicate("\(moved.url.replacingOccurrences(of: "//", with: "//\(host)"))/db", store, "--create")
          ),
          (64, replicate("http://\(host)127.0.0.1", store, "--create")), (64, replicate(url, url)),
          (64, replicate(url, store, url)), (64, replicate(url, store, "--create=\(url)")),
          (66, replicate("htp://\(host)127.0.0.1/db", "\(store)2")),
          (
            77,
            replicate(
              "HTTP\(url.dropFirst(4))", store, "--user", "ana", "--password-file", "wrong", "--create")
          ),
          (64, replicate(url, store, "--jobs", "http://\(host)127.0.0.1/db")),
        ]
        try Data("wrong\n".utf8).write(to: URL(filePath: "\(directory)/wrong"))
        for (status, arguments) in cases {
          let run = try CommandRun(#"exec "$0" "$@""#, arguments, in: directory)
          let (end, errors) = (await run.ended(), try run.text("err"))
          #expect(end == status, "\(arguments): \(errors)")
          for name in ["out", "err"] { Self.expectNothingSecret(try run.text(name), "\(arguments)") }
        }
      }
    }
    for request in other.requests { Self.expectNothingSecret(request, "redirect") }
    await other.close()
    await moved.close()
  }
}
