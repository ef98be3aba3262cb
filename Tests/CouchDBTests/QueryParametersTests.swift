import CouchDB
import Testing

@Suite struct QueryParametersTests {
  @Test(arguments: [
    ("", []), ("a=1", ["a=1"]), ("a=1&b=2", ["a=1", "b=2"]), ("a=1;b=2", ["a=1", "b=2"]), ("a", ["a="]),
    ("a=", ["a="]), ("=1", ["=1"]), ("a=b=c", ["a=b=c"]), ("&&a=1&", ["a=1"]), ("a=1&a=2", ["a=1", "a=2"]),
    ("open_revs=%5B%221-a%22%5D&revs=true", [#"open_revs=["1-a"]"#, "revs=true"]),
    ("a%26b=c%3Dd%3Be", ["a&b=c=d;e"]), ("a+b=c+d%2B", ["a b=c d+"]), ("a=%2526", ["a=%26"]),
  ]) func `parameters in order`(text: String, parameters: [String]) throws {
    #expect(try QueryParameters.pairs(text).map { "\($0.name)=\($0.value)" } == parameters)
  }

  @Test func `the last value of a name`() throws {
    let query = try QueryParameters("rev=2-b&rev=1-a&REV=3-c&e%CC%81=1")
    #expect(query["rev"] == "1-a")
    #expect(query["REV"] == "3-c")
    #expect(query["\u{E9}"] == nil)  // names are bytes
    #expect(query["missing"] == nil)
  }

  @Test func `errors of names and values`() {
    #expect(throws: CouchError.invalidPercentEncoding("%")) { try QueryParameters("a=%&b=1") }
    #expect(throws: CouchError.invalidPercentEncoding("b%2")) { try QueryParameters("a=1&b%2=1") }
    #expect(throws: CouchError.urlNotUTF8("%FF")) { try QueryParameters("%FF=1") }
  }
}
