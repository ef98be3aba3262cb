import CDTJSON
import CDTServer
import CDTServerTestSupport
import CDTTestSupport
import Foundation
import Testing

/// How a server reads the bytes of requests.
@Suite struct ProtocolTests {
  struct Malformed: Sendable, CustomTestStringConvertible {
    let testDescription, headers, body: String
  }

  static let malformed = [
    Malformed(
      testDescription: "the size of a chunk is no number", headers: "Transfer-Encoding: chunked",
      body: "zz\r\n"),
    Malformed(
      testDescription: "a chunk is longer than its size", headers: "Transfer-Encoding: chunked",
      body: "f\r\n{\"selector\":{}}XX"),
    Malformed(
      testDescription: "a coding without chunks", headers: "Transfer-Encoding: gzip",
      body: "{\"selector\":{}}"),
    Malformed(
      testDescription: "a coding before chunks", headers: "Transfer-Encoding: gzip, chunked",
      body: "f\r\n{\"selector\":{}}\r\n0\r\n\r\n"),
    Malformed(
      testDescription: "a coding in a header of its own",
      headers: "Transfer-Encoding: gzip\r\nTransfer-Encoding: chunked",
      body: "f\r\n{\"selector\":{}}\r\n0\r\n\r\n"),
  ]

  @Test(.timeLimit(.usual), arguments: malformed)
  func `a body that can't be read is the client's mistake, and the connection is closed`(_ c: Malformed)
    async throws
  {
    try await withServer({ $0.limits.idleTime = .seconds(3_600) }) { server in
      let reply = try await RawConnection.exchange(
        server.port,
        "POST /db/_find HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n\(c.headers)\r\n\r\n\(c.body)"
      )
      #expect(reply.hasPrefix("HTTP/1.1 400 "), "\(reply)")
      #expect(reply.contains(#"{"error":"bad_request","reason":""#))
    }
  }

  @Test(.timeLimit(.usual)) func `bytes other than HTTP are answered as JSON`() async throws {
    try await withServer({ $0.limits.idleTime = .seconds(3_600) }) { server in
      let reply = try await RawConnection.exchange(server.port, "\u{16}\u{3}\u{1} hello\r\n\r\n")
      #expect(reply.hasPrefix("HTTP/1.1 400 "), "\(reply)")
      #expect(reply.contains(#"{"error":"bad_request","reason":""#))
    }
  }

  @Test(.timeLimit(.usual), arguments: [(fields: 1, length: 20_000), (fields: 200, length: 1)])
  func `headers that are too large have a status of their own`(fields: Int, length: Int) async throws {
    let field = "X: \(String(repeating: "x", count: length))\r\n"
    let headers = String(repeating: field, count: fields)
    try await withServer({ $0.limits.idleTime = .seconds(3_600) }) { server in
      let reply = try await RawConnection.exchange(
        server.port, "GET / HTTP/1.1\r\nHost: localhost\r\n\(headers)\r\n")
      #expect(reply.hasPrefix("HTTP/1.1 431 "), "\(reply)")
      #expect(reply.contains(#"{"error":"headers_too_large","reason":""#))
    }
  }

  @Test(.timeLimit(.usual), arguments: ["Host: localhost\r\n", "Connection: keep-alive\r\n"])
  func `a reply to HTTP/1.0 has no chunks and ends with the connection`(headers: String) async throws {
    try await withServer({ $0.limits.idleTime = .seconds(3_600) }) { server in
      _ = try await server.put("/db/a", ["n": 1])
      let list = try await RawConnection.exchange(server.port, "GET /db/_all_docs HTTP/1.0\r\n\(headers)\r\n")
      #expect(list.hasPrefix("HTTP/1.0 200 "))
      #expect(!list.lowercased().contains("transfer-encoding"))
      let body = try #require(list.firstRange(of: "\r\n\r\n")).upperBound
      #expect(try JSONValue(parsing: String(list[body...]))["total_rows"] == 1)
      let find = try await RawConnection.exchange(
        server.port,
        "POST /db/_find HTTP/1.0\r\n\(headers)Content-Type: application/json\r\nExpect: 100-continue\r\n"
          + "Content-Length: 15\r\n\r\n{\"selector\":{}}")
      #expect(find.hasPrefix("HTTP/1.0 200 "))
      #expect(find.contains(#""_id":"a""#))
    }
  }

  @Test(.timeLimit(.usual))
  func `a reply to HEAD ends with its head, also if that to GET has chunks`() async throws {
    let paths = [
      "/", "/none", "/db", "/db/a", "/db/a?open_revs=all", "/db/_all_docs", "/db/_changes",
      "/db/_changes?feed=continuous&timeout=1", "/db/_changes?feed=eventsource&timeout=1",
      "/db/_results?request=%7B%22selector%22:%7B%7D%7D&format=csv", "/db/_backup", "/_metrics",
    ]
    try await withServer { server in
      _ = try await server.put("/db/a", ["n": 1])
      let port = server.port
      for version in ["1.1", "1.0"] {
        for path in paths {
          let request = { (method: String, fields: String) in
            "\(method) \(path) HTTP/\(version)\r\nHost: localhost\r\n\(fields)\r\n"
          }
          let whole = try await RawConnection.exchange(port, request("GET", "Connection: close\r\n"))
          let head = try await RawConnection.exchange(port, request("HEAD", "Connection: close\r\n"))
          #expect(head.firstRange(of: "\r\n\r\n")?.upperBound == head.endIndex, "\(path)")
          #expect(head.prefix(12) == whole.prefix(12), "\(path)")
        }
      }
      let requests = paths.map { "HEAD \($0) HTTP/1.1\r\nHost: localhost\r\n\r\n" }.joined()
      let replies = try await RawConnection.exchange(
        port, requests + "GET /_up HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
      let parts = replies.components(separatedBy: "\r\n\r\n")
      #expect(parts.count == paths.count + 2)
      #expect(parts.dropLast().allSatisfy { $0.hasPrefix("HTTP/1.1 ") }, "\(replies)")
    }
  }

  @Test(.timeLimit(.usual)) func `a client that has ended its side of the connection gets its reply`()
    async throws
  {
    try await withServer { server in
      let port = server.port
      let reply = try await RawConnection.waiting {
        let connection = try RawConnection(port: port)
        connection.send("GET /db HTTP/1.1\r\nHost: localhost\r\n\r\n")
        connection.endSending()
        return connection.read()
      }
      #expect(reply.contains("HTTP/1.1 200 "))
      #expect(reply.contains(#""db_name":"db""#))
    }
  }

  @Test func `the reason of an error is short, whatever it quotes`() async throws {
    try await withServer { server in
      let long = String(repeating: "é", count: 1 << 20)
      for body: JSONValue in [
        ["selector": ["a": ["$\(long)": 1]]], ["selector": [:], "sort": [.string(long), 1]],
        ["selector": [:], "limit": .string(long)], ["selector": [:], "\(long)": 1],
      ] {
        let reply = try await server.post("/db/_find", body)
        #expect(reply.status == 400)
        let reason = try #require(reply.json["reason"]?.stringValue)
        #expect(reason.unicodeScalars.count <= 1_000)
      }
    }
  }

  @Test(.timeLimit(.usual))
  func `more attachments than a request may have are refused before they are sent`() async throws {
    try await withServer { server in
      let stubs = (0..<20_000).map { "\"a\($0)\":{\"follows\":true,\"length\":1}" }.joined(separator: ",")
      let json = "{\"_attachments\":{\(stubs)}}"
      let start = "--b\r\nContent-Type: application/json\r\n\r\n\(json)\r\n--b\r\n\r\n"
      let port = server.port
      // The rest never comes.
      let reply = try await RawConnection.waiting {
        let connection = try RawConnection(port: port)
        connection.send(
          "PUT /db/a HTTP/1.1\r\nHost: localhost\r\nContent-Type: multipart/related; boundary=b\r\n"
            + "Content-Length: 10000000\r\n\r\n" + start)
        return connection.read(until: "}")
      }
      #expect(reply.hasPrefix("HTTP/1.1 413 "))
      #expect(reply.contains("more than 10000 parts"))
    }
  }
}
