import CDTDatastore
import CDTJSON
import CDTServer
import CDTServerTestSupport
import CDTTestSupport
import Foundation
import Testing

/// The backup of a database as one file: `_backup`.
@Suite(.serialized) struct BackupTests {
  private static func remains() throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: FileManager.default.temporaryDirectory.path)
      .filter { $0.hasPrefix("cdt-backup-") }
  }

  /// Unpacks a backup with tar and restores it with cdtquery.
  private static func restore(
    _ server: RunningServer, _ database: String, as name: String, in directory: ServerDirectory,
    options: String = ""
  ) async throws {
    let reply = try await server.get("/\(database)/_backup")
    #expect(reply.status == 200)
    #expect(reply.headers["content-disposition"] == "attachment; filename=\"\(name).tar\"")
    #expect(reply.headers["content-length"] == "\(reply.body.count)")
    try Data(reply.body).write(to: URL(filePath: directory.path("\(name).tar")))
    let run = try ToolRun.shell(
      "tar xf '\(name).tar' && cdtquery restore '\(name)' people/contacts \(options) && cdtquery export people/contacts --attachments \(options)",
      in: directory)
    #expect(run.status == 0, "\(run.errors)")
    #expect(run.output.contains(#""_id":"b""#))
    #expect(run.output.contains(#""data":""#))
    #expect(run.output.contains(String(repeating: "x", count: 3_000)))
  }

  private static func fill(_ server: RunningServer, _ database: String) async throws {
    _ = try await server.put("/\(database)/a", ["text": .string(String(repeating: "x", count: 3_000))])
    _ = try await server.put("/\(database)/b", ["n": 1])
    let rev = try await server.get("/\(database)/b").json["_rev"]?.stringValue ?? ""
    let content = (0..<300_000).map { UInt8(truncatingIfNeeded: $0) }
    let put = try await server.send("PUT", "/\(database)/b/c.bin?rev=\(rev)", body: content)
    #expect(put.status == 201)
  }

  @Test func `tar and restore bring the database back`() async throws {
    try await withServer { server in
      try await Self.fill(server, "db")
      try await Self.restore(server, "db", as: "db-backup", in: ServerDirectory())
      let other = "a/" + String(repeating: "n", count: 180) + "+$()"
      let path = other.replacing("/", with: "%2F").replacing("+", with: "%2B")
      #expect(try await server.put("/\(path)").status == 201)
      try await Self.fill(server, path)
      let name = String(other.replacing("/", with: "_").prefix(140)) + "-backup"
      try await Self.restore(server, path, as: name, in: ServerDirectory())
      let head = try await server.send("HEAD", "/db/_backup")
      #expect(head.status == 200)
      #expect(head.headers["content-length"] == nil)
      #expect(try Self.remains() == [])
    }
  }

  @Test func `pages of other origins cause no backup`() async throws {
    try await withServer { server in
      for (site, status) in [("cross-site", 403), ("same-site", 403), ("same-origin", 200), ("none", 200)] {
        for method in ["GET", "HEAD"] {
          let reply = try await server.send(method, "/db/_backup", headers: [("Sec-Fetch-Site", site)])
          #expect(reply.status == status, "\(site)")
        }
      }
    }
  }

  @Test func `two backups are made or sent at the same time`() async throws {
    try await withServer { server in
      // More than the buffers of a connection hold.
      let content = (0..<2 << 20).map { _ in UInt64.random(in: .min ... .max) }
        .withUnsafeBytes { Array($0) }
      #expect(try await server.send("PUT", "/db/a/b", body: content).status == 201)
      var connections: [RawConnection] = []
      for _ in 0..<2 {
        connections.append(
          try await RawConnection.waiting {
            let connection = try RawConnection(port: server.port)
            connection.send("GET /db/_backup HTTP/1.1\r\nHost: localhost\r\n\r\n")
            _ = connection.read(until: "ustar")
            return connection
          })
      }
      let reply = try await server.get("/db/_backup")
      #expect(reply.status == 503)
      #expect(reply.headers["retry-after"] == "1")
      connections = []
      while try await server.get("/db/_backup").status == 503 {
        try await Task.sleep(for: .milliseconds(50))
      }
    }
    #expect(try Self.remains() == [])
  }

  @Test func `the backup of an encrypted database is encrypted`() async throws {
    let directory = try ServerDirectory()
    let stores = try temporaryDirectory()
    defer { removeDirectory(stores) }
    let manager = try DatastoreManager(
      directory: stores, options: DatastoreOptions(encryption: .passphrase("secret of it")))
    _ = try await manager.datastore(named: "db")
    try await withServer(of: manager) { server in
      try await Self.fill(server, "db")
      let body = try await server.get("/db/_backup").body
      #expect(!String(decoding: body, as: UTF8.self).contains(String(repeating: "x", count: 20)))
      try directory.write("secret of it", to: "key")
      try await Self.restore(server, "db", as: "db-backup", in: directory, options: "--key-file key")
    }
    #expect(try Self.remains() == [])
  }

  @Test func `only admins of the database get it, and nothing is left of one that fails`() async throws {
    try await RuleSite.run { site in
      #expect(try await site.user("anna").get("/db/_backup").status == 403)
      #expect(try await site.server.get("/db/_backup").status == 401)
      #expect(try await site.user("owner").get("/db/_backup").status == 200)
      #expect(try await site.admin.get("/none/_backup").status == 404)
      try await Self.fill(site.admin, "db")
      // A client that reads the beginning and goes.
      let port = site.server.port
      let credentials = site.user("owner").headers[0].1
      try await RawConnection.waiting {
        let connection = try RawConnection(port: port)
        connection.send(
          "GET /db/_backup HTTP/1.1\r\nHost: localhost\r\nAuthorization: \(credentials)\r\n\r\n")
        _ = connection.read(until: "ustar")
        connection.resetWhenClosed()
      }
    }
    #expect(try Self.remains() == [])
  }
}
