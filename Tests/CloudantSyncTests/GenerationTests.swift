import CDTServerTestSupport
import CDTTestSupport
import CloudantSync
import Foundation
import Testing

/// An app of each generation of CDTDatastore compiles and does what it did.
///
/// It stands as it was written, but for `var` where a revision is changed, `Datastore` for `CDTDatastore`, and `try` where
/// errors were returned.
@Suite struct GenerationTests {
  @available(*, deprecated) @Test func `an app of the first API`() throws {
    try withTemporaryDirectory { try FirstApp(path: $0).run() }
  }

  @available(*, deprecated) @Test func `an app with mutable revisions`() throws {
    try withTemporaryDirectory { try MutableRevisionApp(path: $0).run() }
  }

  @available(*, deprecated) @Test func `an app of 2.x in Swift 2`() throws {
    try withTemporaryDirectory { try Swift2App(path: $0).run() }
  }

  @available(*, deprecated) @Test func `an app of 2.x in Swift 5`() async throws {
    try await withTemporaryDirectory { directory in
      let served = try DatastoreManager(directory: "\(directory)/served")
      _ = try await served.datastore(named: "tasks")
      try await withServer(of: served) { server in
        let url = try #require(URL(string: "\(server.url)/tasks"))
        let app = try Swift5App(path: directory)
        try app.addTasks()
        try app.query()
        try app.resolve()
        #expect(await app.sync(url) == nil)
        #expect(try await served.datastore(named: "tasks").read { try $0.documentCount() } == 3)
        let unknown = try #require(URL(string: "\(server.url)/unknown"))
        #expect(await app.sync(unknown) != nil)
      }
    }
  }
}
