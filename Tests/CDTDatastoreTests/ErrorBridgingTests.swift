import CDTQuery
import CloudantSync
import Foundation
import Testing

/// What logs and alerts show of an error.
@Suite struct ErrorBridgingTests {
  @Test func `an error shows its message wherever Foundation asks for it`() throws {
    try withTemporaryDatastore { store in
      let missing = #expect(throws: DatastoreError.self) { try store.document(withID: "x") }
      let error = try #require(missing)
      #expect(error.localizedDescription == error.message)
      let bridged = error as NSError
      #expect(bridged.domain == "CDTDatastore.DatastoreError")
      #expect(bridged.localizedDescription == error.message)
      let closed: any Error = DatastoreError(.closed, "closed")
      #expect((closed as NSError).code != bridged.code)
    }
  }

  /// Programs keep these numbers in logs and crash reports.
  @Test func `numbers stay the same`() throws {
    let errors: [(any Error, String, Int)] = [
      (DatastoreError(.invalidName, ""), "CDTDatastore.DatastoreError", 1),
      (DatastoreError(.conflict, ""), "CDTDatastore.DatastoreError", 8),
      (DatastoreError(.timedOut, ""), "CDTDatastore.DatastoreError", 21),
      (DatastoreError(.unknownSequence, ""), "CDTDatastore.DatastoreError", 22),
    ]
    for (error, domain, code) in errors {
      let bridged = error as NSError
      #expect(bridged.domain == domain && bridged.code == code, "\(bridged)")
    }
    let query = #expect(throws: QueryError.self) { try QuerySelector(["a": ["$gtt": 1]]) }
    let json = #expect(throws: JSONError.self) { try JSONValue(parsing: "{") }
    #expect((query as (any Error)?).map { ($0 as NSError).code } == 1)
    #expect(json?.localizedDescription == json?.description)
    #expect((json as (any Error)?).map { ($0 as NSError).domain } == "CDTJSON.JSONError")
  }
}
