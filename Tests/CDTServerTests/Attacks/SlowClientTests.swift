import CDTDatastore
import CDTServer
import CDTServerTestSupport
import CDTTestSupport
import Foundation
import Testing

/// Clients that make no progress, and those that send first and read then.
@Suite struct SlowClientTests {
  private static let host = "Host: localhost\r\n"

  @Test(.timeLimit(.usual)) func `a body that arrives too slowly is given up`() async throws {
    try await withServer({ $0.limits.idleTime = .seconds(1) }) { server in
      let port = server.port
      let reply = try await RawConnection.waiting {
        let connection = try RawConnection(port: port)
        connection.send("PUT /db/a HTTP/1.1\r\n\(Self.host)Content-Length: 1000000\r\n\r\n")
        // One byte in a tenth of a second.
        while !connection.hasReply(within: 100) { connection.send("{") }
        return connection.read()
      }
      #expect(reply.hasPrefix("HTTP/1.1 408 "))
      #expect(reply.contains(#"{"error":"request_timeout","reason":"#))
      #expect(try await server.get("/db").json["doc_count"] == 0)
    }
  }

  @Test(.timeLimit(.usual)) func `a file for an import must be sent faster`() async throws {
    try await withServer({ $0.limits.idleTime = .seconds(1) }) { server in
      let port = server.port
      let reply = try await RawConnection.waiting {
        let connection = try RawConnection(port: port)
        connection.send("POST /db/_import HTTP/1.1\r\n\(Self.host)Content-Length: 100000000\r\n\r\n")
        // Enough for any other body.
        while !connection.hasReply(within: 100) { connection.send(String(repeating: " ", count: 2_000)) }
        return connection.read()
      }
      #expect(reply.hasPrefix("HTTP/1.1 408 "))
    }
  }

  @Test(.timeLimit(.usual)) func `a client that does not read its reply is given up`() async throws {
    try await withServer({
      $0.limits.idleTime = .seconds(1)
      $0.limits.connections = 1
    }) { server in
      // More than the buffers of both ends.
      let content = [UInt8](repeating: 1, count: 32 << 20)
      var draft = DocumentDraft(id: "a", body: [:])
      draft.attachments["data"] = DocumentAttachment(
        data: Data(content), name: "data", contentType: "application/octet-stream")
      try await server.manager.datastore(named: "db").createDocument(from: draft)
      let port = server.port
      try await RawConnection.waiting {
        let stalled = try RawConnection(port: port)
        stalled.send("GET /db/a/data HTTP/1.1\r\n\(Self.host)\r\n")
        // Otherwise the server may count the other connection first.
        let beginning = stalled.readBytes { _ in true }
        var reply = "HTTP/1.1 503 "
        while reply.hasPrefix("HTTP/1.1 503 ") {
          reply = try RawConnection.exchangeNow(
            port, "GET /_up HTTP/1.1\r\n\(Self.host)Connection: close\r\n\r\n")
        }
        #expect(reply.hasPrefix("HTTP/1.1 200 "))
        #expect(beginning.count + stalled.readBytes().count < content.count)
      }
    }
  }

  @Test(.timeLimit(.usual)) func `a client that reads slowly gets a long reply`() async throws {
    // All of it takes longer than the idle time, and each part less, also on a busy machine.
    try await withServer({ $0.limits.idleTime = .seconds(5) }) { server in
      // More than the buffers of both ends, in one part.
      var draft = DocumentDraft(id: "a", body: [:])
      draft.attachments["data"] = DocumentAttachment(
        data: Data(repeating: 1, count: 24 << 20), name: "data", contentType: "application/octet-stream")
      try await server.manager.datastore(named: "db").createDocument(from: draft)
      let port = server.port
      let reply = try await RawConnection.waiting {
        let connection = try RawConnection(port: port)
        connection.send(
          "GET /db/a?attachments=true HTTP/1.1\r\n\(Self.host)Accept: application/json\r\n"
            + "Connection: close\r\n\r\n")
        return connection.readBytes(pausing: 0.02)
      }
      #expect(reply.count > 32 << 20)
    }
  }

  @Test func `a reply is not interrupted by the permission to send the next request`() async throws {
    try await withServer { server in
      let text = String(repeating: "x", count: 1 << 20)
      _ = try await server.put("/db/a", ["text": .string(text)])
      let reply = try await RawConnection.exchange(
        server.port,
        "GET /db/_all_docs?include_docs=true HTTP/1.1\r\n\(Self.host)\r\n"
          + "PUT /db/b HTTP/1.1\r\n\(Self.host)Content-Length: 2\r\nExpect: 100-continue\r\n"
          + "Connection: close\r\n\r\n{}")
      #expect(!reply.contains("100 Continue"))
      #expect(reply.contains("HTTP/1.1 201 "))
    }
  }

  @Test(.timeLimit(.usual))
  func `a client that sends too much, and reads only then, is told so`() async throws {
    try await withServer({ $0.limits.requestLength = 8 << 20 }) { server in
      let port = server.port
      // The rest of the body is read, up to the same limit; after that, the connection is closed.
      let reply = try await RawConnection.waiting {
        let connection = try RawConnection(port: port)
        connection.send(
          "POST /db/_bulk_docs HTTP/1.1\r\n\(Self.host)Content-Type: application/json\r\nConnection: close\r\n"
            + "Content-Length: \(12 << 20)\r\n\r\n")
        connection.send([UInt8](repeating: UInt8(ascii: " "), count: 12 << 20))
        return connection.read()
      }
      #expect(reply.hasPrefix("HTTP/1.1 413 "))
      #expect(reply.contains(#""error":"too_large""#))
    }
  }

  /// Of a body that the server has already refused, it reads no more than the limit.
  @Test(arguments: [
    ("Content-Length: 6000", true), ("Content-Length: 3000", false),
    ("Transfer-Encoding: chunked", true),
  ])
  func `a reply says whether the connection ends before the rest of the body`(length: String, ends: Bool)
    async throws
  {
    try await withServer({ $0.limits.requestLength = 5_000 }) { server in
      let port = server.port
      let reply = try await RawConnection.waiting {
        let connection = try RawConnection(port: port)
        connection.send("PUT /_nothing/a HTTP/1.1\r\n\(Self.host)\(length)\r\n\r\n")
        return connection.read(until: "\r\n\r\n").lowercased()
      }
      #expect(reply.hasPrefix("http/1.1 4"))
      #expect(reply.contains("connection: close") == ends, "\(reply)")
    }
  }

  @Test(.timeLimit(.usual), arguments: ["close", "Close", "TE, CLOSE"])
  func `a connection is closed after a reply if its client wants that`(field: String) async throws {
    try await withServer({ $0.limits.idleTime = .seconds(3_600) }) { server in
      let reply = try await RawConnection.exchange(
        server.port, "GET /_up HTTP/1.1\r\n\(Self.host)Connection: \(field)\r\n\r\n")
      #expect(reply.hasPrefix("HTTP/1.1 200 "))
    }
  }

  @Test(.timeLimit(.usual)) func `a client that waits before it sends its body is told to go on`()
    async throws
  {
    try await withServer { server in
      let port = server.port
      try await RawConnection.waiting {
        let connection = try RawConnection(port: port)
        connection.send("PUT /db/a HTTP/1.1\r\n\(Self.host)Content-Length: 2\r\nExpect: 100-continue\r\n\r\n")
        #expect(connection.read(until: "\r\n\r\n") == "HTTP/1.1 100 Continue\r\n\r\n")
        connection.send("{}")
        #expect(connection.read(until: "}").hasPrefix("HTTP/1.1 201 "))
      }
    }
  }
}
