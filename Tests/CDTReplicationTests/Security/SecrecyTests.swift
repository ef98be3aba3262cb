import CDTDatastore
import CDTJSON
import Foundation
import Synchronization
import Testing

@testable import CDTRemote
@testable import CDTReplication

/// Where credentials don't appear.
@Suite struct SecrecyTests {
  private static let password = ServedUser.password
  /// The password, and how it is written in a header field; a cookie and tokens.
  private static let secrets = [
    password, Data("ana:\(password)".utf8).base64EncodedString(), "AuthSession=", "secret-token",
    "secret-key",
    "access-token",
  ]

  private static func expectNothingSecret(_ text: String, _ comment: String) {
    for secret in secrets { #expect(!text.contains(secret), "\(comment): \(secret)") }
  }

  /// Everything that a program can print of a value.
  private static func texts<T>(of value: T) -> String {
    var text = "\(value) \(String(reflecting: value)) \(String(describing: Optional(value))) "
    dump(value, to: &text)
    for child in Mirror(reflecting: value).children { dump(child.value, to: &text) }
    return text
  }

  private static func databases() throws -> [RemoteDatabase] {
    let url = "http://127.0.0.1:1/db"
    return [
      try RemoteDatabase("http://ana:\(password)@127.0.0.1:1/db"),
      try RemoteDatabase("http://:\(password)@127.0.0.1:1/db"),
      try RemoteDatabase(url, credentials: .basic("ana", password)),
      try RemoteDatabase(url, credentials: .session("ana", password)),
      try RemoteDatabase(url, credentials: .bearer("secret-token")),
      try RemoteDatabase(url, credentials: .iam(apiKey: "secret-key")),
      try RemoteDatabase(url, credentials: .iam(apiKey: "k", tokenURL: "http://bx:\(password)@127.0.0.1:1/")),
    ]
  }

  @Test func `the URL of a database has no credentials`() throws {
    for (url, stripped) in [
      ("http://ana:\(Self.password)@h/db", "http://h/db"),
      ("https://:\(Self.password)@h:1/a/db", "https://h:1/a/db"),
      ("HTTP://a:\(Self.password)@h/db/", "HTTP://h/db"),
      ("http://ana:a%40%2F\(Self.password)@h/db", "http://h/db"),
      ("http://@h/db", "http://h/db"), ("http://ana:@h/db", "http://h/db"),
    ] {
      let database = try RemoteDatabase(url)
      #expect(database.url == stripped)
      #expect(!database.server.contains("@"))
    }
    for url in [
      "ftp://ana:\(Self.password)@h/db", "http://ana:\(Self.password)@h",
      "http://ana:\(Self.password)@h/db?a=b",
      "http://ana:\(Self.password)@/db",
      "http://ana:#\(Self.password)@h/db", "http://\(Self.password)@h/db",
      "http://ana:\(Self.password)@h:0/db",
    ] {
      let error = #expect(throws: ReplicationError.self) { try RemoteDatabase(url) }
      Self.expectNothingSecret("\(error.map { Self.texts(of: $0) } ?? "")", url)
    }
  }

  @Test func `values with credentials print none`() async throws {
    try await withStores { store, _ in
      for database in try Self.databases() {
        let replication = Replication(.pull, with: database)
        let remote = RemoteDatastore(database)
        let texts: [String] = [
          Self.texts(of: database), Self.texts(of: database.credentials), Self.texts(of: replication),
          Self.texts(of: Replicator(replication, of: store)), Self.texts(of: remote),
          Self.texts(of: remote.liveChanges()), Self.texts(of: Replication.Peer.remote(database)),
        ]
        for text in texts { Self.expectNothingSecret(text, "\(database.credentials.map { "\($0)" } ?? "")") }
      }
    }
  }

  @Test func `a datastore that has logged in prints neither cookie nor token`() async throws {
    let server = try await ScriptedServer { request in
      .init(
        status: request.hasPrefix("POST") ? 200 : 404,
        headers: ["Set-Cookie": "AuthSession=cookie-value; Max-Age=600"],
        body: #"{"access_token":"access-token"}"#)
    }
    for credentials in [
      Credentials.session("ana", Self.password), .iam(apiKey: "secret-key", tokenURL: "\(server.url)/token"),
    ] {
      let remote = RemoteDatastore(try RemoteDatabase("\(server.url)/db", credentials: credentials))
      await #expect(throws: (any Error).self) { try await remote.document(withID: "a") }
      Self.expectNothingSecret(Self.texts(of: remote), "\(credentials)")
      #expect(!Self.texts(of: remote).contains("cookie-value"))
    }
    await server.close()
  }

  @Test func `the description of an interceptor has no values of header fields`() async throws {
    let texts = Mutex<[String]>([])
    let interceptor = HTTPInterceptor(
      request: { request in texts.withLock { $0.append(Self.texts(of: request)) } },
      reply: { reply in texts.withLock { $0.append(Self.texts(of: reply)) } })
    let server = try await ScriptedServer { _ in
      .init(status: 404, headers: ["Set-Cookie": "AuthSession=cookie-value"])
    }
    for var database in [
      try RemoteDatabase("\(server.url)/db", credentials: .basic("ana", Self.password)),
      try RemoteDatabase("\(server.url)/db", credentials: .bearer("secret-token")),
    ] {
      database.interceptors = [interceptor]
      try await withStores { store, _ in
        _ = await #expect(throws: ReplicationError.self) {
          try await Replicator(Replication(.pull, with: database), of: store).replicate()
        }
      }
    }
    let found = texts.withLock { $0 }
    #expect(found.count == 4)
    for text in found {
      #expect(text.contains("GET") && text.contains("\(server.url)/db"))
      Self.expectNothingSecret(text, text)
      #expect(!text.contains("cookie-value"))
    }
    #expect(found.first?.contains("Authorization") == true)
    await server.close()
  }

  @Test(arguments: [
    Credentials.basic(ServedUser.name, ServedUser.password), .session(ServedUser.name, ServedUser.password),
  ])
  func `checkpoints, files, errors and the server's log have none`(_ credentials: Credentials) async throws {
    let log = KeptLog()
    try await withServedUser(log: log) { served, _ in
      let attachment = DocumentAttachment(
        data: Data(repeating: 1, count: 200_000), name: "a", contentType: "a/b")
      try await served.local.createDocument(
        from: DocumentDraft(id: "a", body: [:], attachments: [attachment]))
      try await served.remote.createDocument(
        from: DocumentDraft(id: "b", body: [:], attachments: [attachment]))
      let database = try served.database(credentials)
      for filter in [nil, ReplicationFilter.selector(["a": 1])] {
        let replication = Replication(.both, with: database, filter: filter)
        let result = try await Replicator(replication, of: served.local).replicate()
        Self.expectNothingSecret(Self.texts(of: result), "result")
      }
      for database in [
        try served.database(.session("ana", "wrong-\(Self.password)")),
        try RemoteDatabase("\(served.server.url)/none", credentials: credentials),
      ] {
        let error = await #expect(throws: ReplicationError.self) {
          try await Replicator(Replication(.both, with: database), of: served.local).replicate()
        }
        Self.expectNothingSecret(error.map { Self.texts(of: $0) } ?? "", "error")
      }
      #expect(try await served.local.read { try $0.localDocumentIDs() }.count == 4)
      for store in [served.local, served.remote] {
        for id in try await store.read({ try $0.localDocumentIDs() }) {
          let text =
            try await store.read { try $0.localDocument(withID: id) }.map { JSONValue.object($0).text } ?? ""
          Self.expectNothingSecret(id + text, "checkpoint")
        }
      }
      for manager in [served.manager, served.server.manager] {
        try Self.expectNothingSecret(inFilesOf: manager.directory)
      }
    }
    #expect(!log.text.isEmpty)
    Self.expectNothingSecret(log.text, "log")
  }

  @Test func `errors in which a server repeats credentials don't show them`() async throws {
    let server = try await ScriptedServer { request in
      let words = request.split(separator: " ", maxSplits: 2)
      let error: JSONObject = [
        "id": "a", "error": "refused", "reason": .string("\(request) \(Self.decoded(request))"),
      ]
      return switch (words[0], words[1]) {
      case ("GET", "/db"), (_, "/db/_ensure_full_commit"): .init(body: #"{"instance_start_time": "0"}"#)
      case (_, "/db/_revs_diff"):
        .init(body: JSONValue.object(["a": ["missing": Self.body(of: request)["a"] ?? []]]).text)
      case (_, "/db/_bulk_docs"): .init(status: 201, body: JSONValue.array([.object(error)]).text)
      case ("PUT", let path) where path.hasPrefix("/db/_local"): .init(status: 201)
      case (_, let path):
        .init(status: path.hasPrefix("/db/_local") ? 404 : 400, body: JSONValue.object(error).text)
      }
    }
    for credentials in [Credentials.basic("ana", Self.password), .bearer("secret-token")] {
      let database = try RemoteDatabase("\(server.url)/db", credentials: credentials)
      let error = await #expect(throws: ReplicationError.self) {
        try await RemoteDatastore(database).document(withID: "a")
      }
      let text = error.map { Self.texts(of: $0) } ?? ""
      #expect(text.contains("…"))
      Self.expectNothingSecret(text, text)
      try await withStores { store, _ in
        try await store.createDocument(from: DocumentDraft(id: "a", body: [:]))
        let result = try await Replicator(Replication(.push, with: database), of: store).replicate()
        #expect(result.rejected.count == 1)
        let reason = result.rejected.first?.reason ?? ""
        #expect(reason.contains("…"))
        Self.expectNothingSecret(reason, reason)
      }
    }
    await server.close()
  }

  private static func body(of request: String) -> JSONValue {
    let text = request.split(separator: "\r\n\r\n", maxSplits: 1).last ?? ""
    return (try? JSONValue(parsing: String(text))) ?? .null
  }

  /// The credentials in a request as a server knows them.
  private static func decoded(_ request: String) -> String {
    let field = ScriptedServer.field("authorization", of: request)?.split(separator: " ").last ?? ""
    return Data(base64Encoded: String(field)).map { String(decoding: $0, as: UTF8.self) } ?? ""
  }

  private static func expectNothingSecret(inFilesOf directory: String) throws {
    let files = FileManager.default.enumerator(atPath: directory)
    var count = 0
    while let file = files?.nextObject() as? String {
      guard let data = FileManager.default.contents(atPath: "\(directory)/\(file)") else { continue }
      count += 1
      for secret in secrets { #expect(data.firstRange(of: Data(secret.utf8)) == nil, "\(file): \(secret)") }
    }
    #expect(count > 2)
  }

  @Test func `the id of a replication is the same for all credentials`() async throws {
    try await withServedUser { served, _ in
      try await served.remote.createDocument(from: DocumentDraft(id: "a", body: [:]))
      for (changes, credentials) in [
        (1, Credentials.basic(ServedUser.name, ServedUser.password)),
        (0, .session(ServedUser.name, ServedUser.password)),
      ] {
        let replication = Replication(.pull, with: try served.database(credentials))
        let result = try await Replicator(replication, of: served.local).replicate()
        #expect(result.pulled.changes == changes)
      }
      #expect(try await served.local.read { try $0.localDocumentIDs() }.count == 1)
    }
  }
}
