import CDTDatastore
import CDTReplication
import CDTTestSupport
import Foundation
import NIOSSL
import Synchronization
import Testing

/// Who is trusted: servers by clients, and clients by servers.
@Suite struct ReplicationTLSTests {
  /// Runs `body` with a store and one behind a server with TLS.
  private static func withTLS(
    _ name: Certificates.Name = .server, asks: Bool = false,
    _ body: (ServedStore, Certificates) async throws -> Void
  ) async throws {
    try await withTemporaryDirectory(inMemory: true) { directory in
      let certificates = try Certificates(in: directory)
      let tls = try certificates.server(name, asks: asks)
      try await withServedStore {
        $0.tls = tls
      } _: { served in
        try await body(served, certificates)
      }
    }
  }

  /// Pulls a document, and returns the error and the number of requests.
  private static func pull(
    _ served: ServedStore, _ tls: TLSConfiguration?, host: String = "localhost", url: String? = nil
  ) async throws -> (error: ReplicationError?, requests: Int) {
    let requests = Mutex(0)
    var database = try RemoteDatabase(url ?? "https://\(host):\(served.server.port)/db")
    database.tls = tls
    database.interceptors = [HTTPInterceptor { _ in requests.withLock { $0 += 1 } }]
    var replication = Replication(.pull, with: database)
    replication.retries.firstPause = .milliseconds(1)
    replication.retries.longestPause = .milliseconds(1)
    let error: ReplicationError?
    do {
      try await Replicator(replication, of: served.local).replicate()
      error = nil
    } catch let found as ReplicationError {
      error = found
    }
    return (error, requests.withLock { $0 })
  }

  @Test(arguments: ["localhost", "127.0.0.1"])
  func `an authority of one's own is trusted, and attachments travel`(_ host: String) async throws {
    try await Self.withTLS { served, certificates in
      let attachment = DocumentAttachment(
        data: Data(repeating: 1, count: 300_000), name: "a", contentType: "image/png")
      try await served.remote.createDocument(
        from: DocumentDraft(id: "a", body: [:], attachments: ["a": attachment]))
      try await served.local.createDocument(
        from: DocumentDraft(id: "b", body: [:], attachments: ["a": attachment]))
      var database = try RemoteDatabase("https://\(host):\(served.server.port)/db")
      database.tls = try certificates.client()
      let result = try await Replicator(Replication(.both, with: database), of: served.local).replicate()
      #expect(result.pulled.revisionsWritten == 1 && result.pushed.revisionsWritten == 1)
      #expect(try StoreContent(of: served.local).differences(from: StoreContent(of: served.remote)) == [])
    }
  }

  @Test func `an authority that the system does not know is rejected at once`() async throws {
    try await Self.withTLS { served, certificates in
      var stranger = try certificates.client()
      stranger.trustRoots = .file(certificates.file(.stranger))
      for tls in [nil, stranger] {
        let (error, requests) = try await Self.pull(served, tls)
        #expect(error?.code == .untrusted)
        #expect(
          error?.message.hasSuffix("the server's certificate is not signed by a trusted authority") == true)
        #expect(requests == 1)
      }
    }
  }

  @Test(arguments: ["localhost", "127.0.0.1"])
  func `a certificate for another host name is rejected at once`(_ host: String) async throws {
    try await Self.withTLS(.elsewhere) { served, certificates in
      let (error, requests) = try await Self.pull(served, try certificates.client(), host: host)
      #expect(error?.code == .untrusted)
      #expect(error?.message.hasSuffix("the server's certificate is for another host name") == true)
      #expect(requests == 1)
    }
  }

  @Test func `a client certificate is sent, and a client without one is rejected`() async throws {
    try await Self.withTLS(asks: true) { served, certificates in
      try await served.remote.createDocument(from: DocumentDraft(id: "a", body: [:]))
      for name in [nil, Certificates.Name.unknown] {
        let (error, _) = try await Self.pull(served, try certificates.client(name))
        #expect(error?.code == .untrusted, "\(error?.message ?? "")")
      }
      #expect(try await served.local.read { try $0.documentCount() } == 0)
      #expect(try await Self.pull(served, try certificates.client(.client)).error == nil)
      #expect(try await served.local.read { try $0.documentCount() } == 1)
    }
  }

  @Test func `a client certificate does not follow a redirect to another server`() async throws {
    try await Self.withTLS(asks: true) { served, certificates in
      let target = "https://localhost:\(served.server.port)/db"
      let front = try await ScriptedServer { _ in .init(status: 307, headers: ["Location": target]) }
      let (error, _) = try await Self.pull(
        served, try certificates.client(.client), url: "http://127.0.0.1:\(front.port)/db")
      #expect(error?.code == .untrusted)
      await front.close()
    }
  }

  @Test func `a redirect from TLS to plain HTTP is not followed`() async throws {
    try await withTemporaryDirectory(inMemory: true) { directory in
      let certificates = try Certificates(in: directory)
      let plain = try await ScriptedServer { _ in .init(status: 404) }
      let target = "\(plain.url)/db"
      let front = try await ScriptedServer(tls: certificates.server()) { _ in
        .init(status: 301, headers: ["Location": target])
      }
      try await withServedStore { served in
        let (error, _) = try await Self.pull(
          served, try certificates.client(), url: "https://localhost:\(front.port)/db")
        #expect(error?.status == 301)
        #expect(plain.requests == [])
      }
      await front.close()
      await plain.close()
    }
  }

  @Test func `a server without TLS is not waited for`() async throws {
    try await withServedStore { served in
      let (error, requests) = try await Self.pull(served, nil)
      #expect(error?.code == .untrusted)
      #expect(error?.message.hasSuffix("the server does not speak TLS at this port") == true)
      #expect(requests == 1)
    }
  }

  @Test func `the command trusts the authorities of a file`() async throws {
    try await Self.withTLS { served, certificates in
      let url = "https://localhost:\(served.server.port)/db"
      let cases: [(Int32, [String])] = [
        (0, ["--ca", certificates.file(.authority)]), (69, ["--ca", certificates.file(.stranger)]), (69, []),
        (66, ["--ca", "\(certificates.file(.authority)).none"]),
      ]
      for (status, options) in cases {
        let run = try BuiltProgram("cdtquery", ["count", url] + options, hidesErrors: true)
        let end = try await run.ended()
        #expect(end.status == status, "\(options)")
      }
    }
  }
}
