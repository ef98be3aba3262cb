import CDTJSON
import Testing

/// What a database holds that is replicated.
struct ReplicationScenario: Sendable, CustomTestStringConvertible {
  let testDescription: String
  let fill: @Sendable (RemoteDatabase) async throws -> Void

  init(_ description: String, fill: @escaping @Sendable (RemoteDatabase) async throws -> Void) {
    testDescription = description
    self.fill = fill
  }

  static let all = [
    documents, conflicts, tombstones, designDocuments, unusualIDs, attachments, compressible,
    sharedAttachments, largeAttachment,
  ]

  static let documents = ReplicationScenario("documents") { database in
    let values: [JSONValue] = [
      nil, true, 0, -1, 9_007_199_254_740_993, 1.5, -0.001, 1e300, "", "text", "ü 😀 \u{0} \u{2028} \"\\/", [],
      [1, [2, [3]]], [:], ["nested": ["": 1, "a.b": 2, "$gt": 3]],
    ]
    for (number, value) in values.enumerated() {
      let first = try await database.save("value-\(number)", ["value": value, "number": .int(Int64(number))])
      if number % 2 == 0 {
        try await database.save("value-\(number)", ["_rev": .string(first), "value": value, "edited": true])
      }
    }
  }

  static let conflicts = ReplicationScenario("conflicts") { database in
    try await database.insert([
      ["_id": "two", "_revisions": ["start": 3, "ids": ["c", "b", "a"]], "_rev": "3-c", "n": 1],
      ["_id": "two", "_revisions": ["start": 2, "ids": ["x", "a"]], "_rev": "2-x", "n": 2],
      ["_id": "deleted leaf", "_revisions": ["start": 2, "ids": ["b", "a"]], "_rev": "2-b", "n": 1],
      [
        "_id": "deleted leaf", "_revisions": ["start": 4, "ids": ["f", "e", "d", "a"]], "_rev": "4-f",
        "_deleted": true, "n": 2,
      ],
      ["_id": "two roots", "_revisions": ["start": 1, "ids": ["a"]], "_rev": "1-a", "n": 1],
      ["_id": "two roots", "_revisions": ["start": 1, "ids": ["b"]], "_rev": "1-b", "n": 2],
      [
        "_id": "all deleted", "_revisions": ["start": 2, "ids": ["b", "a"]], "_rev": "2-b", "_deleted": true,
      ],
      [
        "_id": "all deleted", "_revisions": ["start": 2, "ids": ["c", "a"]], "_rev": "2-c", "_deleted": true,
      ],
    ])
    // As many leaves as a request's path can't name.
    let hex = (0..<300).map { "\($0 + 100_000)abcdef0123456789abcdef0123" }
    try await database.insert(
      hex.map {
        ["_id": "many", "_revisions": ["start": 2, "ids": [.string($0), "a"]], "_rev": .string("2-\($0)")]
      })
  }

  static let tombstones = ReplicationScenario("tombstones") { database in
    for id in ["empty", "with members", "deleted again"] {
      let revision = try await database.save(id, ["n": 1])
      if id == "with members" {
        try await database.save(id, ["_rev": .string(revision), "_deleted": true, "why": ["old", 1]])
      } else {
        try await database.json("DELETE", "\(RemoteDatabase.path(id))?rev=\(revision)")
      }
    }
    let again = try await database.save("deleted again", ["n": 2])
    try await database.json("DELETE", "\(RemoteDatabase.path("deleted again"))?rev=\(again)")
  }

  static let designDocuments = ReplicationScenario("design documents") { database in
    try await database.save("plain", ["n": 1])
    try await database.save(
      "_design/views",
      ["language": "javascript", "views": ["all": ["map": "function (doc) { emit(doc._id, null); }"]]])
    try await database.save("_design/with space/slash", ["validate_doc_update": "function () {}"])
    try await database.attach(Array("<p>".utf8), "index.html", type: "text/html", to: "_design/page")
  }

  static let unusualIDs = ReplicationScenario("unusual ids") { database in
    let ids = [
      "a/b", "a//b/", "/", "a+b", "+", "a b", "a%b", "%2F", "100%25", "ü", "u\u{308}", "😀", "日本", "?x=1",
      "a#b", "a&b=c",
      "..", ".", "a.", "\"", "'", "\\", "{}", "[1]", "a:b@c", "-", "~", "\u{7F}", "\u{1}", "A", "a", "null",
      String(repeating: "x", count: 500), "local/x", "design/x",
    ]
    try await database.insert(
      ids.enumerated().map { number, id in
        [
          "_id": .string(id), "_rev": "1-a", "_revisions": ["start": 1, "ids": ["a"]],
          "n": .int(Int64(number)),
        ]
      })
    for id in ["a/b", "a+b", "%2F", "😀", "..", "\""] {
      try await database.attach(Array(id.utf8), "note", type: "text/plain", to: id, "1-a")
    }
  }

  static let attachments = ReplicationScenario("attachments") { database in
    let names = ["plain.bin", "empty", "a/b c.bin", "ü😀.bin", "100%+.bin", "quote\".bin", "back\\slash.bin"]
    for name in names {
      try await database.attach(
        Array(name.utf8), name, type: "application/octet-stream", to: "one of \(name)")
    }
    // Of equal and of different length, in an order that is not that of the alphabet.
    var revision: String?
    for name in names.reversed() {
      revision = try await database.attach(
        Array("\(name.count % 2)".utf8), name, type: "image/\(name.utf8.count)", to: "several", revision)
    }
    // A part's content that looks like the boundaries of its surroundings.
    try await database.attach(
      Array("\r\n--\r\n--boundary--\r\n\r\n".utf8), "lines", type: "application/octet-stream",
      to: "boundaries")
  }

  static let compressible = ReplicationScenario("attachments that CouchDB compresses") { database in
    let text = Array((0..<20_000).map { "line \($0 &* 7_919)\n" }.joined().utf8)
    let first = try await database.attach(text, "long.txt", type: "text/plain", to: "text")
    let second = try await database.attach(
      Array("short".utf8), "short.txt", type: "text/plain", to: "text", first)
    let third = try await database.attach(
      Array(#"{"a":1}"#.utf8), "data.json", type: "application/json; charset=utf-8", to: "text", second)
    try await database.attach(Array("plain".utf8), "a.bin", type: "image/png", to: "text", third)
    try await database.attach([], "empty.txt", type: "text/plain", to: "empty text")
  }

  static let sharedAttachments = ReplicationScenario("attachments that revisions share") { database in
    let first = try await database.attach(Array("kept".utf8), "kept", type: "text/plain", to: "doc")
    let second = try await database.attach(Array("lost".utf8), "lost", type: "text/plain", to: "doc", first)
    var document = try await database.json("GET", "/doc").objectValue ?? [:]
    document["n"] = 1
    document["_attachments"] = ["kept": document["_attachments"]?["kept"] ?? .null]
    #expect(document["_rev"] == .string(second))
    let third = try await database.save("doc", .object(document))
    try await database.attach(Array("new".utf8), "new", type: "image/png", to: "doc", third)
    // The same content in another document, and in a conflict.
    try await database.attach(Array("kept".utf8), "other name", type: "text/plain", to: "other")
    try await database.insert([
      [
        "_id": "doc", "_rev": "2-x", "_revisions": ["start": 2, "ids": ["x", "y"]],
        "_attachments": ["kept": ["content_type": "text/plain", "data": "a2VwdA=="]],
      ]
    ])
  }

  static let largeAttachment = ReplicationScenario("a large attachment") { database in
    try await database.attach(
      CouchDBPeer.largeContent, "large.bin", type: "application/octet-stream", to: "large")
    try await database.attach(
      CouchDBPeer.largeContent.map { $0 % 16 + 65 }, "large.txt", type: "text/plain", to: "large text")
  }
}
