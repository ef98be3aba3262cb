import CDTQuery
import CDTRemote
import CDTReplication
import CDTTestSupport
import Testing

/// The code of docs/remote.md.
@Suite struct RemoteGuideTests {
  private static func query(_ url: String, _ password: String) async throws {
    let people = try RemoteDatastore(url, credentials: .session("ana", password))
    let cats = try await people.find(["pet": "cat"], sort: ["age"])
    let adults = try await people.count(["age": ["$gte": 18]])
    print(try await people.explain(Query(["age": ["$gte": 18]])))
    #expect(cats.count + adults == 0)
  }

  @Test func `the page's code is here`() throws {
    try expectExamples(of: "remote.md", in: #filePath, atLeast: 1)
  }

  @Test func `a server without users takes no session`() async throws {
    try await withServedStore { served in
      let error = await #expect(throws: ReplicationError.self) {
        try await Self.query(served.url, "password")
      }
      #expect(error?.code == .unauthorized)
    }
  }
}
