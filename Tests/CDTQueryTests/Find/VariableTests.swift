import CDTJSON
import CDTQuery
import Testing

/// Variables in selectors and bodies, without wrapping.
@Suite struct VariableTests {
  private struct Person: Codable, Equatable {
    var name: String
    var age: Int
  }

  @Test func `a selector and a body take variables`() throws {
    try withTemporaryDatastore { store in
      let (name, minimum, tags, nickname) = ("Mike", 18, ["a", "b"], String?.none)
      var mike = try store.createDocument(
        from: DocumentDraft(
          id: "mike", body: ["name": name, "age": minimum + 18, "tags": tags, "nick": nickname]))
      #expect(mike.body == ["name": "Mike", "age": 36, "tags": ["a", "b"], "nick": nil])
      let age = 37
      mike.body["age"] = age
      mike.body["tags"][0] = "x"
      mike.body["pet"]["name"] = name
      mike = try store.updateDocument(from: mike)
      #expect(mike.body["pet"]["name"] == "Mike")
      #expect(try store.find(JSONObject(["age": ["$gte": minimum]])).map(\.id) == ["mike"])
      let both = JSONObject(["age": ["$gte": minimum], "name": name])
      #expect(try store.find(both, sort: ["name"]).map(\.id) == ["mike"])
      #expect(try store.find(["tags": ["$in": tags]]).count == 1)
      #expect(try store.count(["name": .string(name)]) == 1)
      #expect(try store.read { try $0.contains(Query(JSONObject(["age": ["$lt": minimum]]))) } == false)
      #expect(
        try store.find(Person.self, JSONObject(["age": ["$gte": minimum]])) == [Person(name: "Mike", age: 37)]
      )
      #expect(try store.read { try $0.firstDocument(Query(["name": .string(name)]))?.id } == "mike")
    }
  }
}
