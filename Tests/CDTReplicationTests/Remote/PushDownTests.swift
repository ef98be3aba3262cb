import CDTDatastore
import CDTJSON
import CDTQuery
import Testing

@testable import CDTRemote
@testable import CDTReplication

/// The work happens at the server where it can.
@Suite struct PushDownTests {
  /// Creates 1,000 documents.
  static func fill(_ store: Datastore) async throws {
    try await store.write { transaction in
      for number in 0..<1_000 {
        let body: JSONObject = [
          "number": .int(Int64(number)), "name": .string("name \(number % 10)"),
          "pet": ["age": .int(Int64(number % 7))],
          "tags": number % 100 == 0 ? ["red", .int(Int64(number))] : "blue",
        ]
        try transaction.createDocument(from: DocumentDraft(id: "doc\(1_000 + number)", body: body))
      }
    }
  }

  struct Transfer: Sendable {
    let request: JSONObject
    let results, transferred: Int

    init(_ request: JSONObject, results: Int, transferred: Int) {
      self.request = request
      self.results = results
      self.transferred = transferred
    }
  }

  static let transfers = [
    // Decided by the server.
    Transfer(["selector": ["number": 7]], results: 1, transferred: 1),
    Transfer(["selector": ["number": ["$in": [7, 8]]]], results: 2, transferred: 2),
    Transfer(["selector": ["name": "name 3"]], results: 100, transferred: 100),
    Transfer(["selector": ["name": ["$beginsWith": "name 4"]]], results: 100, transferred: 100),
    Transfer(["selector": ["tags": "red"]], results: 10, transferred: 10),
    Transfer(["selector": ["tags": ["$size": 2]]], results: 10, transferred: 10),
    Transfer(["selector": ["number": ["$gte": 990]]], results: 10, transferred: 10),
    Transfer(["selector": ["number": ["$lt": 5]]], results: 5, transferred: 5),
    Transfer(["selector": ["pet.age": 3]], results: 143, transferred: 143),
    Transfer(["selector": ["name": ["$ne": "name 3"]]], results: 900, transferred: 900),
    Transfer(["selector": ["$or": [["number": 1], ["number": 2]]]], results: 2, transferred: 2),
    Transfer(["selector": ["tags": ["$elemMatch": ["$gt": 800, "$lt": 1000]]]], results: 1, transferred: 1),
    Transfer(["selector": ["nothing": ["$exists": true]]], results: 0, transferred: 0),
    Transfer(["selector": ["$or": []]], results: 0, transferred: 0),
    Transfer(["selector": ["_id": "doc1500"]], results: 1, transferred: 1),
    Transfer(["selector": ["_id": ["$in": ["doc1500", "doc1501", "none"]]]], results: 2, transferred: 2),
    Transfer(["selector": ["_id": ["$gte": "doc1990"]]], results: 10, transferred: 10),
    // A page.
    Transfer(["selector": [:], "limit": 10], results: 10, transferred: 10),
    Transfer(["selector": [:], "limit": 10, "sort": ["_id"]], results: 10, transferred: 10),
    Transfer(
      ["selector": [:], "skip": 5, "limit": 5, "sort": [["_id": "desc"]]], results: 5, transferred: 10),
    Transfer(["selector": ["name": "name 3"], "limit": 10], results: 10, transferred: 10),
    // Partly decided here.
    Transfer(["selector": ["number": 7, "name": ["$regex": "7$"]]], results: 1, transferred: 1),
    Transfer(
      ["selector": ["number": ["$gte": 990], "name": ["$gt": "name 5"]]], results: 4, transferred: 10),
    Transfer(
      ["selector": ["name": "name 3"], "sort": ["number"], "limit": 10], results: 10, transferred: 100),
    // Distances, of what may have them.
    Transfer(
      ["selector": ["tags": ["$near": ["$vector": [1, 2]]], "number": ["$lt": 300]], "limit": 2], results: 0,
      transferred: 3),
    Transfer(
      ["selector": ["name": ["$geoWithin": ["$box": [[0, 0], [1, 1]]]]]], results: 0, transferred: 0),
    // Decided here.
    Transfer(["selector": ["name": ["$regex": "3$"]]], results: 100, transferred: 1_000),
    Transfer(["selector": ["number": ["$not": ["$mod": [100, 0]]]]], results: 990, transferred: 1_000),
  ]

  /// Runs each request, and compares the number of documents that were transferred.
  static func expectTransfers(from remote: RemoteDatastore) async throws {
    for transfer in transfers {
      let before = remote.documentsRead
      let results = try await remote.find(Query(request: transfer.request))
      #expect(results.count == transfer.results, "\(transfer.request.text)")
      let transferred = remote.documentsRead - before
      #expect(transferred == transfer.transferred, "\(transfer.request.text)")
    }
  }

  @Test func `a server of ours does what it can`() async throws {
    try await withServedStore { served in
      try await Self.fill(served.remote)
      try await Self.expectTransfers(from: RemoteDatastore(try served.database()))
    }
  }

  @Test func `a count transfers only the fields of the selector, or nothing`() async throws {
    try await withServedStore { served in
      try await Self.fill(served.remote)
      let remote = RemoteDatastore(try served.database())
      try await served.remote.createDocument(from: DocumentDraft(id: "_design/x", body: ["number": 1]))
      #expect(try await remote.count(["number": ["$lt": 5]]) == 5)
      let before = remote.documentsRead
      #expect(try await remote.count([:]) == 1_000)
      #expect(remote.documentsRead == before)
    }
  }
}
