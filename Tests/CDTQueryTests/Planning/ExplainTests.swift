import CDTDatastore
import CDTJSON
import CDTTestSupport
import Testing

@testable import CDTIndex
@testable import CDTQuery
@testable import CDTSelector

/// What `explain` says, plan by plan.
@Suite struct ExplainTests {
  struct Case: Sendable, CustomTestStringConvertible {
    let testDescription: String
    var indexes: [[SortField]] = []
    let request: String
  }

  static let cases = [
    Case(testDescription: "everything", request: "{}"),
    Case(testDescription: "noIndexForTwoFields", request: #"{"name": "mike", "age": {"$gte": 30}}"#),
    Case(testDescription: "oneID", request: #"{"_id": "p7", "age": {"$gte": 1}}"#),
    Case(testDescription: "severalIDs", request: #"{"_id": {"$in": ["p7", "p8"]}}"#),
    Case(testDescription: "nothingCanMatch", request: #"{"$or": []}"#),
    Case(
      testDescription: "equalityAndRange", indexes: [["name", "age"]],
      request: #"{"name": "mike", "age": {"$gte": 30, "$lt": 40}}"#),
    Case(
      testDescription: "sortFromIndex", indexes: [["name", "age"]],
      request: #"{"selector": {"name": "mike"}, "sort": ["age"], "limit": 5, "skip": 2}"#),
    Case(
      testDescription: "sortFromIndexBackwards", indexes: [["name", "age"]],
      request: #"{"selector": {"name": "mike"}, "sort": [{"age": "desc"}], "limit": 5}"#),
    Case(
      testDescription: "sortInMixedDirections", indexes: [["name", .descending("age")]],
      request: #"{"selector": {}, "sort": ["name", {"age": "desc"}], "limit": 5}"#),
    Case(
      testDescription: "sortByValuesOfTheIndex", indexes: [["name", "pet.species", "age"]],
      request: #"{"selector": {"name": "mike"}, "sort": ["age"], "limit": 5}"#),
    Case(
      testDescription: "sortOfOtherField", indexes: [["name"]],
      request: #"{"selector": {"name": "mike"}, "sort": ["age"], "limit": 5}"#),
    Case(
      testDescription: "restToTheMatcher", indexes: [["name"]],
      request: #"{"name": {"$in": ["mike", "zoe"]}, "pet.species": {"$regex": "^c"}}"#),
    Case(
      testDescription: "rangeOfSecondField", indexes: [["name", "age"]],
      request: #"{"age": {"$gte": 30, "$lt": 40}}"#),
    Case(
      testDescription: "complements", indexes: [["name", "age"]],
      request: #"{"name": "mike", "$nor": [{"age": 3}, {"age": {"$in": [4, null]}}]}"#),
    Case(
      testDescription: "missingField", indexes: [["nickname"]], request: #"{"nickname": {"$exists": true}}"#),
    Case(
      testDescription: "unionOfIndexes", indexes: [["name"], ["pet.species"]],
      request: #"{"$or": [{"name": "mike"}, {"pet.species": "cat"}, {"_id": "p7"}]}"#),
    Case(
      testDescription: "unionAmongOthers", indexes: [["name"], ["pet.species"]],
      request: #"{"$or": [{"name": "mike"}, {"pet.species": "cat"}], "age": 7}"#),
    Case(
      testDescription: "intersectionOfIndexes", indexes: [["team"], ["pet.species"], ["age"]],
      request: #"{"team": 3, "pet.species": "cat", "age": {"$lt": 60}}"#),
    Case(testDescription: "arrayElement", indexes: [["tags"]], request: #"{"tags": "t7"}"#),
    Case(
      testDescription: "elementOfArray", indexes: [["tags"]],
      request: #"{"tags": {"$elemMatch": {"$beginsWith": "t7", "$ne": "t77"}}}"#),
    Case(
      testDescription: "indexOnOtherField", indexes: [["age"]], request: #"{"name": "mike"}"#),
    Case(
      testDescription: "indexThatWouldNotPay", indexes: [["tags"]], request: #"{"tags": "a"}"#),
    Case(
      testDescription: "chosenIndex", indexes: [["name"], ["age"]],
      request: #"{"selector": {"name": "mike", "age": 30}, "use_index": "age"}"#),
    Case(
      testDescription: "oddNames",
      request: #"{"selector": {"it's": 1}, "sort": [{"x:desc": "asc"}, {"-y": "desc"}]}"#),
  ]

  @Test(arguments: cases) func `the plan is told as it was`(_ c: Case) throws {
    try withTemporaryDirectory { directory in
      let manager = try DatastoreManager(directory: directory)
      let store = try manager.datastore(named: "people")
      defer { manager.close("people") }
      for fields in c.indexes { try store.ensureIndexed(fields) }
      try store.write { transaction in
        for number in 0..<1_000 {
          try transaction.createDocument(from: DocumentDraft(id: "p\(number)", body: Self.person(number)))
        }
      }
      try store.updateIndexes()
      let explanation = try store.read { try $0.explain(Query(parsing: c.request)) }
      let text = "\(explanation)\n\n\(explanation.json.prettyText)".replacing(directory, with: "DIRECTORY")
      try expectGolden("\(c.request)\n\n\(text)", "Explain/\(c.testDescription).txt")
    }
  }

  private static func person(_ number: Int) -> JSONObject {
    var person: JSONObject = [
      "name": .string(
        ["mike", "zoe", "anna", "otto"][number % 4] + (number % 16 < 4 ? "" : "\(number % 16)")),
      "age": .int(Int64(number % 100)), "team": .int(Int64(number / 80 % 5)),
      "pet": ["species": .string(["cat", "dog", "emu", "fox", "gnu"][number / 16 % 5])],
      "tags": ["a", .string("t\(number)")],
    ]
    if number % 50 == 0 { person["nickname"] = "mick" }
    return person
  }

  @Test func `documents that wait for the index are told`() throws {
    try withImpatientDatastore { store in
      try store.ensureIndexed(["age"])
      try withIndexesHeld(store) {
        try store.createDocument(from: DocumentDraft(id: "a", body: ["age": 1]))
        try store.indexManager().worker.waitUntilIdle()
      }
      let explanation = try store.read { try $0.explain(Query(["age": 1], useIndex: "age")) }
      #expect(explanation.json["waiting"] == 1)
      #expect(explanation.description.contains("not in the index yet: up to 1 write, checked by the matcher"))
    }
  }

  @Test func `an index that does not exist can't be asked for`() throws {
    try withTemporaryDatastore { store in
      var query = try Query(["age": 1])
      query.useIndex = "nothing"
      let error = #expect(throws: QueryError.self) { try store.read { try $0.explain(query) } }
      #expect(error?.code == .unknownIndex)
    }
  }
}
