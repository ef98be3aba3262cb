import CDTGzip
import CDTServerTestSupport
import CDTTestSupport
import Foundation
import Testing

/// The files of the page for browsers.
@Suite struct PageFileTests {
  private static let directory = Repository.root.appending(path: "Sources/Sync/CDTServer/Page")

  @Test func `every file is served without its comments, and all have at most 110 kB as browsers get them`()
    async throws
  {
    try await withServer { server in
      var sum = 0
      for name in try FileManager.default.contentsOfDirectory(atPath: Self.directory.path) {
        let content = Array(try Data(contentsOf: Self.directory.appending(path: name)))
        let plain = try await server.get("/_utils/\(name)")
        #expect(plain.status == 200, "\(name)")
        #expect(plain.headers["content-encoding"] == nil)
        let (written, sent) = (Self.lines(content), Self.lines(plain.body))
        #expect(written.count == sent.count, "\(name)")
        for (line, sentLine) in zip(written, sent) {
          let text = String(line.drop { $0 == " " })
          let isInside = name.hasSuffix(".js") && (text.hasPrefix("* ") || text == "*")
          let isComment = isInside || ["//", "/*", "*/"].contains { text.hasPrefix($0) }
          #expect(sentLine == (isComment ? "" : text), "\(name): \(line)")
          #expect(!name.hasSuffix(".js") || line.count { $0 == "`" } % 2 == 0, "\(name): \(line)")
        }
        let reply = try await server.get("/_utils/\(name)", headers: [("Accept-Encoding", "br, gzip")])
        #expect(reply.headers["content-encoding"] == "gzip")
        #expect(reply.headers["vary"] == "Accept-Encoding")
        #expect(reply.headers["etag"] != plain.headers["etag"])
        var body = reply.body[...]
        let reader = try GzipReader(limit: 1 << 20)
        var unpacked: [UInt8] = []
        while let piece = try reader.next(&body) { unpacked += piece }
        try reader.finish()
        #expect(unpacked == plain.body, "\(name)")
        sum += reply.body.count
      }
      #expect(sum > 20_000 && sum <= 110_000)
    }
  }

  private static func lines(_ bytes: [UInt8]) -> [Substring] {
    String(decoding: bytes, as: UTF8.self).split(separator: "\n", omittingEmptySubsequences: false)
  }

  @Test func `no module of the page imports itself, directly or through others`() throws {
    var imports: [String: [String]] = [:]
    for name in try FileManager.default.contentsOfDirectory(atPath: Self.directory.path)
    where name.hasSuffix(".js") {
      let text = try String(contentsOf: Self.directory.appending(path: name), encoding: .utf8)
      imports[name] = text.split(separator: "\n").filter { $0.hasPrefix("import ") }.compactMap {
        $0.split(separator: "'").last.map { String($0.dropFirst(2)) }
      }
    }
    #expect(imports["page.js"]?.contains("documents.js") == true)
    // A view knows no other one: only the page knows them all.
    let page = try String(contentsOf: Self.directory.appending(path: "page.js"), encoding: .utf8)
      .split(separator: "\n")
    let shows = page.filter { $0.hasPrefix("registerView(") || $0.hasPrefix("registerPlace(") }.compactMap {
      $0.dropLast().split(separator: " ").last
    }
    let views = shows.compactMap { show in
      page.first { $0.contains("import {\(show)}") }?.split(separator: "'").last?.dropFirst(2)
    }.map(String.init)
    #expect(views.count == shows.count && views.count > 8)
    for (name, used) in imports where name != "page.js" {
      #expect(Set(used).isDisjoint(with: views), "\(name) knows a view")
    }
    // What views have in common knows none of them.
    let core: Set = [
      "api.js", "conditions.js", "distribution.js", "dom.js", "editor.js", "filter.js", "grid.js",
      "history.js", "json.js", "jsonview.js", "keys.js", "menus.js", "names.js", "plot.js", "rail.js",
      "relaxed.js", "request.js", "router.js", "running.js", "times.js",
    ]
    for name in core { #expect(imports[name]?.allSatisfy(core.contains) == true, "\(name)") }
    // Take away what imports nothing that is left, until nothing is.
    while let name = imports.first(where: { _, used in !used.contains { imports[$0] != nil } })?.key {
      imports[name] = nil
    }
    #expect(imports.isEmpty, "a circle is among \(imports.keys.sorted())")
  }

  @Test func `a browser runs nothing but these files, and shows the page in no frame`() async throws {
    try await withServer { server in
      let page = try await server.get("/_utils/")
      #expect(page.headers["content-type"] == "text/html; charset=utf-8")
      #expect(page.headers["x-content-type-options"] == "nosniff")
      let policy = page.headers["content-security-policy"] ?? ""
      for rule in ["default-src 'none'", "script-src 'self'", "frame-ancestors 'none'", "form-action 'none'"]
      {
        #expect(policy.contains(rule), "\(rule)")
      }
      #expect(!policy.contains("unsafe"))
      #expect(
        try await server.get("/_utils/page.js").headers["content-type"] == "text/javascript; charset=utf-8")
    }
  }

  @Test func `the page's address ends in a slash, and what a browser has is not sent again`() async throws {
    try await withServer { server in
      let short = try await server.get("/_utils")
      #expect(short.status == 301)
      #expect(short.headers["location"] == "\(server.url)/_utils/")
      for coding in ["", "gzip"] {
        let accepted = ("Accept-Encoding", coding)
        let tag = try #require(try await server.get("/_utils/", headers: [accepted]).headers["etag"])
        let again = try await server.get("/_utils/", headers: [accepted, ("If-None-Match", tag)])
        #expect(again.status == 304)
        #expect(again.body.isEmpty)
      }
      for path in ["/_utils/none.js", "/_utils/..%2FPackage.swift", "/_utils/a/b"] {
        #expect(try await server.get(path).status == 404, "\(path)")
      }
    }
  }
}
