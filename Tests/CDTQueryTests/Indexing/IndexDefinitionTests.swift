import CDTJSON
import Testing

@testable import CDTIndex
@testable import CDTQuery

/// The JSON of index definitions.
@Suite struct IndexDefinitionTests {
  static let definitions: [JSONObject] = [
    ["name": "a", "type": "json", "fields": ["a"]],
    [
      "name": "n", "type": "json", "fields": ["a", ["b": "desc"]], "where": ["c": ["$eq": 1]], "unique": true,
      "collation": "unicode", "ddoc": "_design/n",
    ],
    [
      "name": "e", "type": "json", "fields": ["a"], "where": ["c": ["$eq": 1]], "expireAfter": 60,
      "milliseconds": true,
    ],
    ["name": "s", "type": "json", "fields": ["a", "b"], "sum": ["b"]],
    ["name": "c", "type": "json", "fields": ["a"], "sum": []],
    ["name": "p", "type": "place", "fields": [["a": "desc"], "b"], "where": ["c": ["$eq": 1]]],
    ["name": "t", "type": "text", "fields": ["a"], "settings": ["tokenize": "porter"]],
    ["name": "v", "type": "vector", "fields": ["a"], "where": ["c": ["$eq": 1]], "vector": 3],
  ]

  @Test(arguments: definitions) func `JSON is read and written`(_ json: JSONObject) throws {
    let definition = try IndexDefinition(json: json)
    #expect(definition.json == json)
    #expect(DefinitionFile.definitions(DefinitionFile.json([definition])) == [definition])
  }

  @Test(arguments: definitions) func `CouchDB's names are those of the same options`(_ json: JSONObject)
    throws
  {
    if json["sum"] != nil { return }
    let definition = try IndexDefinition(json: json)
    let couch = JSONValue.object(DesignDocument.couchDB(json))
    #expect(couch["partial_filter_selector"] == json["where"] && couch["where"] == nil)
    #expect(couch["tokenize"] == json["settings"]?["tokenize"] && couch["settings"] == nil)
    #expect(DesignDocument.unknownMember(of: couch, definition.type) == nil)
    var read = try DesignDocument.json(ofCouchDB: couch, definition.type)
    (read["name"], read["ddoc"]) = (json["name"], json["ddoc"])
    #expect(try IndexDefinition(json: read) == definition)
  }

  static let refusals: [(JSONObject, String)] = [
    (["unique": 1], #"unique: "unique" must be true or false, not a number"#),
    (["milliseconds": "yes"], #"milliseconds: "milliseconds" must be true or false, not a string"#),
    (["expireAfter": "1"], #"expireAfter: "expireAfter" must be a number of seconds, not a string"#),
    (["sum": "a"], #"sum: "sum" must be an array of field paths, not a string"#),
    (["where": 5], #"where: "where" must be a selector, not a number"#),
    (["type": "words"], #"type: the type "words" is unknown; use json, text, place or vector"#),
    (
      ["type": "place", "unique": true],
      "unique: places can't be unique; create a unique index beside it"
    ),
    (
      ["type": "place", "collation": "nocase"],
      "collation: an index of places compares strings by their bytes; leave out the collation"
    ),
    (
      ["type": "place", "sum": ["n"]],
      #"sum: an index of places has no "sum"; create another index for that"#
    ),
    (
      ["type": "place", "expireAfter": 1],
      #"expireAfter: an index of places has no "expireAfter"; create another index for that"#
    ),
    (["vector": "3"], #"vector: "vector" must be a whole number, not a string"#),
    (["vector": 0], "vector: a vector has 1 to 65536 numbers, not 0; give the length of the vectors"),
    (
      ["vector": 2, "fields": ["_id"]],
      #"fields[0]: "_id" is a string; name a field that has places or vectors"#
    ),
    (["type": "vector"], #"vector: an index of type "vector" needs "vector", the length of the vectors"#),
    (
      ["vector": 3, "fields": ["a", "b"]],
      "fields: an index of vectors has one field, not 2; create an index for each of them"
    ),
    (
      ["type": "json", "vector": 3],
      #"vector: "vector" is an option of indexes of type vector; leave it out, or use this type"#
    ),
    (["vector": 3, "unique": true], "unique: vectors can't be unique; create a unique index beside it"),
    (
      ["vector": 3, "collation": "nocase"],
      "collation: vectors have no strings to compare; leave the collation out"
    ),
    (["vector": 3, "sum": ["b"]], "sum: vectors can't be summed; create a summary beside it"),
    (
      ["collation": "swedish"],
      #"collation: "swedish" is not a collation; use "nocase" or "unicode""#
    ),
    (
      ["milliseconds": true],
      "milliseconds: milliseconds apply to the dates of expireAfter; add expireAfter, or leave milliseconds out"
    ),
    (
      ["expireAfter": 1, "collation": "nocase"],
      "collation: a summary, or an index by which documents expire, can't have a collation; leave it out"
    ),
    (
      ["type": "text", "collation": "nocase"],
      "collation: a text index can't have a collation; choose a tokenizer, such as unicode61, or use an index of type json"
    ),
    (
      ["tokenize": "porter"],
      #"settings.tokenize: an index of type "json" takes no settings; remove "tokenize", or use the type "text""#
    ),
  ]

  @Test(arguments: refusals) func `an option of the wrong type or kind is refused`(
    _ options: JSONObject, _ message: String
  ) {
    var json: JSONObject = ["fields": ["a"]]
    for (name, value) in options { json[name] = value }
    let error = #expect(throws: QueryError.self) { try IndexDefinition(json: json) }
    #expect(error?.description == message)
  }
}
