import CouchDB
import Testing

@Suite struct HeaderValueTests {
  @Test(arguments: [
    ("multipart/related", "multipart/related", []),
    (" Text/Plain ;\tCHARSET = utf-8 ", "text/plain", ["charset=utf-8"]),
    (#"a/b; x="1; y=2"; z=3"#, "a/b", ["x=1; y=2", "z=3"]),
    (#"a/b;x="\"\\q\w"  ;y="""#, "a/b", [#"x="\qw"#, "y="]),
    ("a/b;;  ; x=1;", "a/b", ["x=1"]),
    ("a/b; x=; y=é=ü", "a/b", ["x=", "y=é=ü"]),
    ("a/b; x=1; X=2", "a/b", ["x=1", "x=2"]),
    ("", "", []), (";", "", []), ("; a=b", "", ["a=b"]),
  ])
  func `a value and its parameters`(text: String, value: String, parameters: [String]) throws {
    let parsed = try #require(HeaderValue(text))
    #expect(parsed.value == value)
    #expect(parsed.parameters.map { "\($0.name)=\($0.value)" } == parameters)
    #expect(parsed["x"] == parsed.parameters.first { $0.name == "x" }?.value)
  }

  @Test(arguments: [
    "a/b; x", "a/b; =1", #"a/b; x="1"#, #"a/b; x="1\"#, #"a/b; x="1\""#, #"a/b; x="1"2"#, #"a/b; x=1"2"#,
    "a/b; x=1 2", "a/b; x; y=1", "a/b; x=1; y",
  ])
  func `malformed parameters`(text: String) {
    #expect(HeaderValue(text) == nil)
  }
}
