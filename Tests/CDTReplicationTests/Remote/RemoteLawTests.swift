import CDTDatastore
import CDTJSON
import CDTQuery
import CDTTestSupport
import Testing

@testable import CDTReplication

/// The same documents give the same answers remotely and locally, whatever indexes the server has.
@Suite struct RemoteLawTests {
  static let requests = 40

  @Test(arguments: 0..<40) func `a server of ours gives the matcher's answers`(_ number: UInt64) async throws
  {
    let seed = testSeed(number + 4_000)
    try await withServedStore { served in
      var queries = RandomQueries(seed: seed)
      try queries.fill(served.remote)
      for fields in queries.indexes() { try await served.remote.ensureIndexed(fields) }
      let database = try QueriedDatabase(
        served.database(), sameAs: served.remote, hasShortPages: number % 2 == 0)
      try await Self.expectAnswers(&queries, database, seed: seed)
    }
  }

  static func expectAnswers(_ queries: inout RandomQueries, _ database: QueriedDatabase, seed: UInt64)
    async throws
  {
    for _ in 0..<requests {
      let request = queries.random.request()
      do {
        let differences = try await database.differences(request)
        #expect(differences == [], "seed \(seed): \(request.text)")
        if !differences.isEmpty { return }
      } catch {
        Issue.record("seed \(seed): \(request.text): \(error)")
        return
      }
    }
  }
}
