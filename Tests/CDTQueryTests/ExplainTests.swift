import CDTDatastore
import CDTQuery
import JSON
import Testing

/// What `explain` says, plan by plan.
@Suite struct ExplainTests {
  struct Case: Sendable, CustomTestStringConvertible {
    let testDescription: String
    var indexes: [[JSONValue]] = []
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
      testDescription: "sortOfOtherField", indexes: [["name"]],
      request: #"{"selector": {"name": "mike"}, "sort": ["age"], "limit": 5}"#),
    Case(
      testDescription: "restToTheMatcher", indexes: [["name"]],
      request: #"{"name": {"$in": ["mike", "zoe"]}, "pet.species": {"$regex": "^c"}}"#),
    Case(
      testDescription: "unionOfIndexes", indexes: [["name"], ["pet.species"]],
      request: #"{"$or": [{"name": "mike"}, {"pet.species": "cat"}]}"#),
    Case(testDescription: "arrayElement", indexes: [["tags"]], request: #"{"tags": "a"}"#),
    Case(
      testDescription: "indexOnOtherField", indexes: [["age"]], request: #"{"name": "mike"}"#),
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
      defer { manager.closeDatastore(named: "people") }
      for fields in c.indexes { try store.ensureIndexed(fields) }
      try store.write { transaction in
        for number in 0..<60 {
          try transaction.createDocument(from: DocumentRevision(id: "p\(number)", body: Self.person(number)))
        }
      }
      try store.updateAllIndexes()
      let explanation = try store.explain(Query(parsing: c.request))
      let text = "\(explanation)\n\n\(explanation.json.prettyText)".replacing(directory, with: "DIRECTORY")
      try expectGolden("\(c.request)\n\n\(text)", "Explain/\(c.testDescription).txt")
    }
  }

  private static func person(_ number: Int) -> JSONObject {
    [
      "name": .string(["mike", "zoe", "anna"][number % 3]), "age": .int(Int64(number)),
      "pet": ["species": .string(["cat", "dog"][number % 2])], "tags": ["a", .string("t\(number)")],
    ]
  }

  @Test func `documents that wait for the index are told`() throws {
    try withTemporaryDatastore { store in
      try store.ensureIndexed(["age"])
      try store.createDocument(from: DocumentRevision(id: "a", body: ["age": 1]))
      let explanation = try store.explain(["age": 1])
      #expect(explanation.json["waiting"] == 1)
      #expect(explanation.description.contains("not in the index yet: up to 1 write, put to the matcher"))
    }
  }

  @Test func `an index that does not exist can't be asked for`() throws {
    try withTemporaryDatastore { store in
      var query = try Query(["age": 1])
      query.useIndex = "nothing"
      let error = #expect(throws: QueryError.self) { try store.explain(query) }
      #expect(error?.code == .unknownIndex)
    }
  }
}
