import CDTDatastore
import CDTJSON
import CDTServerTestSupport
import Foundation
import Glibc
import Testing

/// A database whose files can only be read. Permissions don't hold back root, so the file system itself refuses.
@Suite(.enabled(if: geteuid() == 0, "no file system can be mounted here, as root it can"))
struct ReadOnlyDatabaseTests {
  @Test func `it is read, and each write is refused with 403 and the reason`() async throws {
    let directory = try ServerDirectory()
    let stored = try DatastoreManager(directory: directory.path("stores"))
    _ = try await stored.datastore(named: "db").createDocument(from: DocumentDraft(id: "a", body: ["n": 1]))
    try await stored.closeDatastore(named: "db")
    let (path, flags) = (directory.path("stores"), UInt(MS_BIND))
    try #require(mount(path, path, nil, flags, nil) == 0, "errno \(errno)")
    defer { umount2(path, Int32(MNT_DETACH)) }
    try #require(mount(nil, path, nil, flags | UInt(MS_REMOUNT) | UInt(MS_RDONLY), nil) == 0)
    let manager = try DatastoreManager(directory: path)
    try await withServer(of: manager) { server in
      #expect(try await server.get("/db/a").json["n"] == 1)
      #expect(try await server.post("/db/_find", ["selector": ["n": 1]]).status == 200)
      let writes: [(String, String, JSONValue?)] = [
        ("PUT", "/db/_local/checkpoint", [:]), ("DELETE", "/db/_local/checkpoint", nil),
        ("PUT", "/db/b", [:]),
        ("POST", "/db", [:]), ("POST", "/db/_bulk_docs", ["docs": [["_id": "b"]]]),
        ("PUT", "/db/a/file", nil),
        ("DELETE", "/db/a?rev=1-a", nil), ("POST", "/db/_index", ["index": ["fields": ["n"]]]),
        ("PUT", "/db/_security", [:]), ("PUT", "/db/_revs_limit", 5), ("POST", "/db/_compact", [:]),
      ]
      for (method, path, json) in writes {
        let reply = try await server.send(method, path, json: json)
        #expect(reply.status == 403, "\(method) \(path) \(reply.text)")
        #expect(reply.json["reason"]?.stringValue?.hasPrefix("The database can only be read") == true)
      }
      #expect(try await server.get("/db/a").json["n"] == 1)
    }
  }
}
