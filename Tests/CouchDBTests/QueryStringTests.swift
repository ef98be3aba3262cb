import CouchDB
import Testing

@Suite struct QueryStringTests {
  @Test(arguments: [
    ("", []), ("a=1", ["a=1"]), ("a=1&b=2", ["a=1", "b=2"]), ("a=1;b=2", ["a=1", "b=2"]), ("a", ["a="]),
    ("a=", ["a="]), ("=1", ["=1"]), ("a=b=c", ["a=b=c"]), ("&&a=1&", ["a=1"]), ("a=1&a=2", ["a=1", "a=2"]),
    ("open_revs=%5B%221-a%22%5D&revs=true", [#"open_revs=["1-a"]"#, "revs=true"]),
    ("a%26b=c%3Dd%3Be", ["a&b=c=d;e"]), ("a+b=c+d%2B", ["a b=c d+"]), ("a=%2526", ["a=%26"]),
  ]) func `parameters in order`(text: String, parameters: [String]) throws {
    #expect(try QueryString(text).parameters.map { "\($0.name)=\($0.value)" } == parameters)
  }

  @Test func `the first value of a name`() throws {
    let query = try QueryString("rev=1-a&rev=2-b&REV=3-c&e%CC%81=1")
    #expect(query["rev"] == "1-a")
    #expect(query["REV"] == "3-c")
    #expect(query["\u{E9}"] == nil)  // names are bytes
    #expect(query["missing"] == nil)
  }

  @Test func `errors of names and values`() {
    #expect(throws: CouchError.invalidPercentEncoding("%")) { try QueryString("a=%&b=1") }
    #expect(throws: CouchError.invalidPercentEncoding("b%2")) { try QueryString("a=1&b%2=1") }
    #expect(throws: CouchError.urlNotUTF8("%FF")) { try QueryString("%FF=1") }
  }

  @Test func `text is what was parsed`() throws {
    let query = QueryString([
      .init("keys", #"["a&b","c d+;"]"#), .init("é", ""), .init("", "x=y"), .init("keys", "2"),
    ])
    #expect(query.text == "keys=%5B%22a%26b%22%2C%22c%20d%2B%3B%22%5D&%C3%A9=&=x%3Dy&keys=2")
    #expect(try QueryString(query.text).parameters == query.parameters)
    #expect(QueryString().text.isEmpty)
  }
}
