import Glibc
import Testing

@Suite struct BatchTests {
  @Test func `a result a line, in order, whatever the lines are`() throws {
    let space = try Workspace(Workspace.people)
    let requests = [
      #"{"selector": {"age": {"$gt": 7}}, "sort": ["age"], "fields": ["age"]}"#, #"{"age": 99}"#, "nonsense",
      "", #"{"age": {"$gtt": 1}}"#, "[1]", #"{"selector": {}, "limit": -1}"#,
      #"{"selector": {}, "use_index": "x"}"#, String(repeating: "[", count: 100_000), #"{"age": 7}"#,
    ]
    let result = try space.run(
      "find", "people/contacts", "--batch", "-", input: requests.joined(separator: "\n"))
    let expected = """
      {"docs":[{"_id":"zoe","_rev":"…","age":12},{"_id":"mike","_rev":"…","age":36}]}
      {"docs":[]}
      {"error":"invalidSelector","reason":"the query is not JSON: …","path":""}
      {"error":"unknownOperator","reason":"unknown operator \\"$gtt\\" (did you mean \\"$gt\\"?)","path":"age.$gtt"}
      {"error":"invalidRequest","reason":"a request is an object such as …, not an array","path":""}
      {"error":"invalidRequest","reason":"…","path":"limit"}
      {"error":"unknownIndex","reason":"there is no index \\"x\\"; there are none","path":"…"}
      {"error":"…","reason":"…","path":""}
      {"docs":[{"_id":"ann","_rev":"…","name":"Ann","age":7}]}
      """
    #expect(Examples.matches(result.output, expected), "\(result.output)")
    #expect(result.errors == "")
    #expect(result.status == 0)
  }

  @Test func `numbers of any size in a line are answered, and the lines after it`() throws {
    let space = try Workspace(Workspace.people)
    try space.run("index", "create", "people/contacts", "age")
    let most = "9223372036854775807"
    let requests = [
      #"{"selector": {"age": {"$gt": 1}}, "skip": \#(most), "limit": 1, "use_index": "age"}"#,
      #"{"selector": {"age": {"$gt": 1}}, "skip": 1, "limit": \#(most), "fields": ["x"], "sort": ["age"]}"#,
      #"{"selector": {"age": {"$gt": 1}}, "skip": \#(most), "limit": \#(most), "sort": ["name"]}"#,
      #"{"selector": {}, "limit": \#(most), "fields": ["x"], "sort": ["_id"]}"#,
      #"{"selector": {}, "limit": 92233720368547758070}"#, #"{"age": 99}"#,
    ]
    let result = try space.run(
      "find", "people/contacts", "--batch", "-", input: requests.joined(separator: "\n"))
    let expected = """
      {"docs":[]}
      {"docs":[{"_id":"zoe","_rev":"…"},{"_id":"mike","_rev":"…"}]}
      {"docs":[]}
      {"docs":[{"_id":"ann","_rev":"…"},{"_id":"mike","_rev":"…"},{"_id":"zoe","_rev":"…"}]}
      {"error":"invalidRequest","reason":"…","path":"limit"}
      {"docs":[]}
      """
    #expect(Examples.matches(result.output, expected), "\(result.output)")
    #expect(result.errors == "cdtquery: no document has the field \"x\"\n")
    #expect(result.status == 0)
  }

  @Test(arguments: [
    (#"{"age":"36"}"#, #"a string in "age", which is a number, such as 36; did you mean 36?"#),
    (#"{"zip":3011}"#, #"a number in "zip", which is a string, such as "3011"; did you mean "3011"?"#),
    (#"{"ok":true}"#, #"a boolean in "ok", which is a string, such as "true"; did you mean "true"?"#),
    (#"{"age":{"$gte":"x"}}"#, #"a string in "age", which is a number, such as 36"#),
    (#"{"age":{"$regex":"3"}}"#, #"a string in "age", which is a number, such as 36"#),
    (#"{"age":{"$in":[true,"x"]}}"#, #"a boolean or a string in "age", which is a number, such as 36"#),
    (#"{"tags":7}"#, #"a number in "tags", which is a string or an array, such as "new"; did you mean "7"?"#),
  ])
  func `a value of a type that the field never has is told`(_ c: (selector: String, hint: String)) throws {
    let document = #"{"_id":"a","age":36,"zip":"3011","ok":"true","tags":["new"]}"#
    let space = try Workspace(document)
    try space.write(document, to: "f.json")
    for source in ["people/contacts", "f.json"] {
      let result = try space.run("find", source, c.selector)
      #expect(result.errors == "cdtquery: the query needs \(c.hint)\n")
      #expect(result.status == 0)
    }
    let both = try space.run("find", "people/contacts", #"{"$or":[{"age":"36"},{"age":37}]}"#)
    #expect(both.errors == "")
    // Right types find nothing without a word.
    #expect(try space.run("find", "people/contacts", #"{"age":37,"zip":"1","tags":"old"}"#).errors == "")
    #expect(try space.run("find", "people/contacts", #"{"age":null}"#).errors == "")
  }

  @Test func `a field that no document has is told once`() throws {
    let space = try Workspace(Workspace.people)
    let requests = [
      #"{"nmae": "Zoe"}"#, #"{"nmae": "Ann"}"#, #"{"name": "Eve"}"#,
      #"{"selector": {}, "limit": 1, "sort": ["agee", "nmae"]}"#, #"{"name": "Zoe"}"#,
    ]
    let result = try space.run(
      "find", "people/contacts", "--batch", "-", input: requests.joined(separator: "\n"))
    #expect(
      result.errors
        == """
        cdtquery: no document has the field "nmae"; did you mean "name"?
        cdtquery: no document has the field "agee"; did you mean "age"?

        """)
    #expect(result.lines.count == 5)
    #expect(result.status == 0)
  }

  @Test func `bytes that are not UTF-8 are an error of their line`() throws {
    let space = try Workspace(Workspace.people)
    try space.write([0xFF, 0x0A] + Array(#"{"age": 99}"#.utf8), to: "requests")
    let result = try space.run("find", "people/contacts", "--batch", "requests")
    #expect(
      result.output == """
        {"error":"invalidRequest","reason":"the line is not UTF-8; convert it to UTF-8","path":""}
        {"docs":[]}

        """)
    #expect(result.status == 0)
  }

  @Test func `an empty file gives no results, and a missing file is an error`() throws {
    let space = try Workspace(Workspace.people)
    #expect(try space.run("find", "people/contacts", "--batch", "-", input: "").output == "")
    let result = try space.run("find", "people/contacts", "--batch", "nowhere")
    #expect(result.errors == "cdtquery: can't read nowhere: No such file or directory; check the path\n")
    #expect(result.status == 74)
  }

  @Test func `a store that is deleted or replaced meanwhile is noticed with the next line`() throws {
    let space = try Workspace(Workspace.people)
    let (requests, results) = (try Pipe(), try Pipe())
    let program = try Program.start(
      Built.cdtquery, ["find", "people/contacts", "--batch", "-"], directory: space.directory,
      input: .descriptor(requests.reading), output: .descriptor(results.writing),
      errors: .file("/dev/null"))
    close(requests.reading)
    close(results.writing)
    func ask(_ expected: String) throws {
      try Descriptor.write(#"{"selector": {"age": 7}, "fields": ["x"]}"# + "\n", to: requests.writing)
      let line = try Descriptor.line(from: results.reading)
      #expect(Examples.matches(line, expected + "\n"), "\(line)")
    }
    try ask(#"{"docs":[{"_id":"ann",…}]}"#)
    try space.run("drop", "people/contacts", "--yes")
    for _ in 0..<2 {
      try ask(#"{"error":"notFound","reason":"there is no store people/contacts; …","path":""}"#)
    }
    try space.run("put", "people/contacts", "new", #"{"age": 7}"#)
    try ask(#"{"docs":[{"_id":"new",…}]}"#)
    try space.run("drop", "people/contacts", "--yes")
    try space.run("put", "people/contacts", "newer", #"{"age": 7}"#)
    try ask(#"{"docs":[{"_id":"newer",…}]}"#)
    close(requests.writing)
    close(results.reading)
    #expect(program.wait() == 0)
  }

  @Test func `each result is there before the next request is asked for`() throws {
    let space = try Workspace(Workspace.people)
    let (requests, results) = (try Pipe(), try Pipe())
    let program = try Program.start(
      Built.cdtquery, ["find", "people/contacts", "--batch", "-"], directory: space.directory,
      input: .descriptor(requests.reading), output: .descriptor(results.writing),
      errors: .file("/dev/null"))
    close(requests.reading)
    close(results.writing)
    for (request, result) in [
      (#"{"age": 99}"#, "{\"docs\":[]}\n"), ("[", "{\"error\":…}\n"),
      (#"{"selector": {"age": 7}, "fields": ["x"]}"#, "{\"docs\":[{\"_id\":\"ann\",…}]}\n"),
    ] {
      try Descriptor.write(request + "\n", to: requests.writing)
      let line = try Descriptor.line(from: results.reading)
      #expect(Examples.matches(line, result), "\(line)")
    }
    // A write by somebody else shows in the next answer.
    try space.run("put", "people/contacts", "{\"age\": 99}")
    try Descriptor.write(#"{"selector": {"age": 99}, "fields": ["x"]}"# + "\n", to: requests.writing)
    #expect(try Descriptor.line(from: results.reading).contains("_id"))
    close(requests.writing)
    #expect(try Descriptor.read(from: results.reading) == "")
    close(results.reading)
    #expect(program.wait() == 0)
  }
}
