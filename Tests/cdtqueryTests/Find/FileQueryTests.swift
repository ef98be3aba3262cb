import Testing

/// `find` and `count` of a file, without a store.
@Suite struct FileQueryTests {
  /// Documents in the order of their ids, with every kind of spelling that a store changes.
  private static let documents = #"""
    {"_id":"a","name":"Ann","age":7,"pet":{"species":"cat","age":3}}
    { "_id" : "b" , "name" : "Bob" , "age" : 36.50, "tags": [ "red" , "blue" ] }
    {"name":"Zo\u00eb \"Z\" \/ \ud83d\ude00","_id":"c","age":1e2,"tags":[]}
    {"_id":"d","age":null,"pet":[{"species":"dog"},{"species":"cat"}],"z":1,"a":{"y":1,"b":[1, 2]}}
    {"_id":"e \u0041","line":"one\ntwo\ttabs","age":9007199254740993,"b":{},"$x":{"y":true}}
    {"_id":"f","_rev":"3-abc","name":"Ann","age":-0,"pet":{"species":"cat" , "tags" : [ 1 , { "n" : 2 } ]}}

    """#

  private static let queries: [[String]] = [
    [], ["{}"], [#"{"age": {"$gt": 7}}"#], [#"{"name": "Ann"}"#], [#"{"pet.species": "cat"}"#],
    [#"{"name": {"$regex": "Z.*/"}}"#], [#"{"tags": {"$size": 0}}"#], [#"{"a": {"b": [1, 2], "y": 1}}"#],
    [#"{"_id": {"$gte": "c"}}"#], [#"{"name": {"$exists": false}}"#],
    [#"{"line": {"$beginsWith": "one\ntwo"}}"#],
    [#"{"pet": {"species": "cat", "tags": [1, {"n": 2}]}}"#], [#"{"\\$x.y": true}"#],
    ["--sort", "age:desc"], ["--sort", "name,age", "--limit", "3", "--skip", "1"], ["--sort", "pet:desc"],
    ["--fields", "pet.species,name"], ["--sort", "age", "--limit", "2", "--fields", "age"],
    ["--format", "json"], ["--format", "csv"], ["--format", "table", "--flatten"], ["--pretty"],
    ["--fields", "nothing"], ["--limit", "0"], ["--skip", "9"],
  ]

  @Test(arguments: queries) func `answers are those of a store that imported the file`(_ query: [String])
    throws
  {
    let space = try Workspace(Self.documents)
    try space.write(Self.documents, to: "people.jsonl")
    let lines = Self.documents.split(separator: "\n")
    try space.write("[\n" + lines.joined(separator: ",\n") + "]", to: "people.json")
    try space.shell("gzip -k people.jsonl")
    let store = try space.run(Built.cdtquery, ["find", "people/contacts"] + query + ["--no-rev"])
    #expect(store.status == 0)
    for file in ["people.jsonl", "people.json", "people.jsonl.gz"] {
      let result = try space.run(Built.cdtquery, ["find", file] + query)
      #expect(result.output == store.output, "\(file)")
      #expect(result.errors == store.errors, "\(file)")
    }
    let piped = try space.run(Built.cdtquery, ["find", "-"] + query, input: Array(Self.documents.utf8))
    #expect(piped.output == store.output)
    guard query.first?.hasPrefix("{") == true else { return }
    #expect(
      try space.run(Built.cdtquery, ["count", "people.jsonl"] + query).output
        == space.run(Built.cdtquery, ["count", "people/contacts"] + query).output)
    #expect(
      try space.run(Built.cdtquery, ["find", "people.jsonl", "--ids"] + query).output
        == space.run(Built.cdtquery, ["find", "people/contacts", "--ids"] + query).output)
  }

  @Test func `tables, wrappers and dumps are read as an import reads them`() throws {
    let space = try Workspace()
    try space.write("_id,pet.species,age\nann,cat,7\nzoe,,012\n", to: "a.csv")
    try space.write(
      #"{"docs": [{"_id": "x", "n": 1}, {"_id": "y", "n": 2, "_deleted": true}]}"#, to: "docs.json")
    try space.write(
      #"{"id":"r","key":"r","value":{"rev":"1-a"},"doc":{"_id":"r","_rev":"1-a","n":3}}"#, to: "rows.json")
    try space.write(#"{"_id":{"$oid":"5f1b2c3d4e5f6a7b8c9d0e1f"},"at":{"$date":0}}"#, to: "mongo.json")
    try space.write(#"{"data": {"people": [{"code": "CH", "n": 4}]}}"#, to: "deep.json")
    let expected: [(arguments: [String], output: String)] = [
      (
        ["a.csv"],
        "{\"_id\":\"ann\",\"pet\":{\"species\":\"cat\"},\"age\":7}\n{\"_id\":\"zoe\",\"age\":\"012\"}\n"
      ),
      (["a.csv", "--flat", "--limit", "1"], "{\"_id\":\"ann\",\"pet.species\":\"cat\",\"age\":7}\n"),
      (["docs.json"], "{\"_id\":\"x\",\"n\":1}\n"),
      (["rows.json"], "{\"_id\":\"r\",\"n\":3}\n"),
      (["mongo.json"], "{\"_id\":\"5f1b2c3d4e5f6a7b8c9d0e1f\",\"at\":\"1970-01-01T00:00:00.000Z\"}\n"),
      (
        ["mongo.json", "--input-format", "mongodb", "--fields", "at"],
        "{\"_id\":\"5f1b2c3d4e5f6a7b8c9d0e1f\",\"at\":\"1970-01-01T00:00:00.000Z\"}\n"
      ),
      (["deep.json", "--at", "data.people", "--id", "code"], "{\"_id\":\"CH\",\"code\":\"CH\",\"n\":4}\n"),
    ]
    for (arguments, output) in expected {
      let result = try space.run(Built.cdtquery, ["find"] + arguments)
      #expect(result.output == output, "\(arguments): \(result.errors)")
      #expect(result.status == 0)
    }
    let piped = try space.run("find", "-", "--input-format", "csv", input: "a,b\n1,2\n")
    #expect(piped.output == "{\"a\":1,\"b\":2}\n")
  }

  @Test func `a document without an id has none, and is not searched by it`() throws {
    let space = try Workspace()
    try space.write("{\"_id\":\"a\",\"n\":1}\n{\"n\":2}\n{}\n", to: "n.jsonl")
    #expect(try space.run("find", "n.jsonl").output == "{\"_id\":\"a\",\"n\":1}\n{\"n\":2}\n{}\n")
    #expect(try space.run("find", "n.jsonl", "{\"n\":2}", "--format", "csv").output == "n\n2\n")
    for arguments in [["{\"_id\":\"x\"}"], ["--sort", "_id"], ["--ids"]] {
      let result = try space.run(Built.cdtquery, ["find", "n.jsonl"] + arguments)
      #expect(
        result.errors
          == "cdtquery: n.jsonl:2: the document has no _id, which the query asks for; name the field that is its id with --id\n"
      )
      #expect(result.status == 65)
    }
    let refused = try space.run("find", "-", input: "{\"_id\":\"\"}")
    #expect(refused.errors.hasPrefix("cdtquery: standard input:1: "))
    #expect(refused.status == 65)
  }

  @Test func `an invalid document ends the results before it`() throws {
    let space = try Workspace()
    try space.write("{\"_id\":\"a\"}\n{\"_id\":\"b\"}\n{\"_id\":\"c\",\"a\":1,\"a\":2}\n", to: "bad.jsonl")
    let result = try space.run("find", "bad.jsonl")
    #expect(result.lines.count == 2)
    #expect(
      result.errors == "cdtquery: bad.jsonl:3:18: the object has two members named \"a\"; name each once\n",
      "\(result.errors)"
    )
    #expect(result.status == 65)
    let wrapper = try space.run("find", "-", input: "{\"docs\": [{}], \"title\": 1}")
    #expect(wrapper.errors.contains("give --input-format json to "), "\(wrapper.errors)")
  }

  @Test func `a limit ends the reading of a pipe`() throws {
    let result = try Workspace().shell("yes '{\"a\":1}' | cdtquery find - --limit 2")
    #expect(result.output == "{\"a\":1}\n{\"a\":1}\n")
  }

  @Test(arguments: [
    Refusal(
      testDescription: "revision", arguments: ["find", "a.jsonl", "{\"_rev\":\"1-a\"}"], status: 65,
      error:
        "_rev: the documents of a file have no revisions; leave out _rev, or import the file into a store"),
    Refusal(
      testDescription: "text", arguments: ["count", "a.jsonl", "{\"$text\":{\"$search\":\"a\"}}"], status: 65,
      error: "$text: \"$text\" needs a text index, which a file does not have; import the file into a store"),
    Refusal(
      testDescription: "plan", arguments: ["find", "a.jsonl", "--explain"], status: 64,
      error: "a file has no indexes, so there is no plan: every document is read and checked"),
    Refusal(
      testDescription: "another command", arguments: ["get", "a.jsonl", "a"], status: 64,
      error:
        "a.jsonl is a file, not a store; only find, count, group, distinct, describe and sample read files: import it into a store, DIRECTORY/NAME"
    ),
    Refusal(
      testDescription: "missing", arguments: ["find", "b.jsonl"], status: 74,
      error: "can't read b.jsonl: No such file or directory; check the path"),
    Refusal(
      testDescription: "both from standard input", arguments: ["find", "-", "-"], status: 64,
      error: "standard input can't be both the documents and the selector; give one as an argument"),
    Refusal(
      testDescription: "archive", arguments: ["find", "a.zip"], status: 65,
      error: "a.zip:1: the file is compressed by zip; unpack it first, as with unzip -p"),
  ])
  func `refuses what a file can't answer`(_ refusal: Refusal) throws {
    let space = try Workspace()
    try space.write("{\"_id\":\"a\"}\n", to: "a.jsonl")
    try space.write([0x50, 0x4B, 0x03, 0x04, 0, 0], to: "a.zip")
    let result = try space.run(Built.cdtquery, refusal.arguments)
    #expect(result.errors == "cdtquery: \(refusal.error)\n")
    #expect(result.status == refusal.status)
  }

  @Test func `options of files and of stores are not mixed`() throws {
    let space = try Workspace("{\"_id\":\"a\"}\n")
    try space.write("{}", to: "a.json")
    for arguments in [
      ["find", "a.json", "--use-index", "x"], ["find", "a.json", "--batch", "-"],
      ["find", "a.json", "--user", "u"],
      ["find", "people/contacts", "--flat"], ["count", "people/contacts", "--input-format", "csv"],
      ["find", "people/contacts", "--flatten"], ["find", "people/contacts", "--pretty", "--format", "csv"],
      ["find", "people/contacts", "--ids", "--no-rev"],
    ] {
      let result = try space.run(Built.cdtquery, arguments)
      #expect(result.status == 64, "\(arguments)")
      #expect(result.output == "", "\(arguments)")
    }
  }
}
