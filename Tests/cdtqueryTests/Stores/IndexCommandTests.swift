import CDTJSON
import CDTPlatform
import FoundationEssentials
import Testing

@Suite struct IndexCommandTests {
  private func list(_ space: Workspace) throws -> [JSONValue] {
    try space.run("index", "list", "people/contacts").lines.map { try JSONValue(parsing: $0) }
  }

  @Test func `list tells what each index is`() throws {
    let space = try Workspace(Workspace.people)
    #expect(try list(space).isEmpty)
    #expect(
      try space.run("index", "create", "people/contacts", "name", "age:desc", "--name", "by_name").output
        == "by_name\n")
    #expect(try space.run("index", "create", "people/contacts", "age").output == "age\n")
    let found = try list(space)
    #expect(found.map { $0["name"] } == ["age", "by_name"])
    #expect(found.last?["fields"] == ["name", ["age": "desc"]])
    #expect(found.last?["type"] == "json")
    #expect(found.last?["entries"] == 3)
    #expect(found.last?["sequence"] == 3)
  }

  @Test func `only a last direction is one`() throws {
    let space = try Workspace(Workspace.people)
    try space.run("index", "create", "people/contacts", "a:desc:asc", "b:x", "c:desc", "--name", "i")
    #expect(try list(space).first?["fields"] == ["a:desc", "b:x", ["c": "desc"]])
  }

  @Test(arguments: ["x'; DROP TABLE indexes; --", "\"", "名前", " ", "-n", "--name", "x$(y)", "a\nb"])
  func `any name and any field is legal and harmless`(_ name: String) throws {
    let space = try Workspace(Workspace.people)
    let made = try space.run("index", "create", "--name=\(name)", "--", "people/contacts", name)
    #expect(made.output == name + "\n")
    #expect(made.status == 0)
    #expect(try list(space).map { $0["name"] } == [.string(name)])
    #expect(try space.run("count", "people/contacts").output == "3\n")
    #expect(try space.run("index", "rebuild", "--", "people/contacts", name).status == 0)
    #expect(try space.run("index", "delete", "--", "people/contacts", name).status == 0)
    #expect(try list(space).isEmpty)
  }

  @Test func `update and rebuild bring indexes up to date`() throws {
    let space = try Workspace(Workspace.people)
    try space.run("index", "create", "people/contacts", "age", "--name", "by_age")
    try space.run("put", "people/contacts", "new", "{}")
    #expect(try space.run("index", "update", "people/contacts").status == 0)
    #expect(try list(space).first?["sequence"] == 4)
    try space.run("put", "people/contacts", "newer", "{}")
    #expect(try space.run("index", "rebuild", "people/contacts", "by_age").status == 0)
    #expect(try list(space).first?["entries"] == 5)
    #expect(try space.run("index", "rebuild", "people/contacts").status == 0)
  }

  static let refused: [(arguments: [String], status: Int32, error: String)] = [
    (["create", "people/contacts", "a", "a"], 65, #"fields[1]: the field "a" is named twice; name it once"#),
    (
      ["create", "people/contacts", "a", "--name", ""], 65,
      "name: an index name can't be empty; omit it to have one generated"
    ),
    (
      ["create", "people/contacts"] + (0..<1_000).map { "f\($0)" }, 65,
      "fields: an index has at most 32 fields, not 1000; keep the most selective"
    ),
    (
      ["create", "people/contacts"], 64, "an index needs at least one field; name the fields that queries use"
    ),
    (["create", "people/nobody", "a"], 66, "there is no store people/nobody; …"),
    (["delete", "people/contacts", "x"], 65, #"name: there is no index "x"; there are none"#),
    (["rebuild", "people/contacts", "x"], 65, #"name: there is no index "x"; there are none"#),
    (["list", "people/nobody"], 66, "there is no store people/nobody; …"),
    (["update", "people/nobody"], 66, "there is no store people/nobody; …"),
    (["frobnicate"], 64, "…frobnicate…"),
  ]

  @Test(arguments: refused)
  func refuses(_ c: (arguments: [String], status: Int32, error: String)) throws {
    let space = try Workspace(Workspace.people)
    let result = try space.run(Built.cdtquery, ["index"] + c.arguments)
    let first = result.errors.split(separator: "\n").first.map(String.init) ?? ""
    #expect(Examples.matches(first, "cdtquery: \(c.error)"), "\(first)")
    #expect(result.status == c.status)
    #expect(result.output == "")
    #expect(try list(space).isEmpty)
  }

  /// "É" as one character, and as two that are canonically equal to it.
  private static let equalNames = ["\u{c9}", "E\u{301}"]

  @Test func `of two names with equal characters and other bytes, each index stands for itself`() throws {
    let space = try Workspace(Workspace.people)
    for name in Self.equalNames {
      #expect(try space.run("index", "create", "people/contacts", "age", "--name", name).status == 0)
    }
    #expect(try space.run("index", "delete", "people/contacts", Self.equalNames[0]).status == 0)
    let directory = "people/contacts/extensions/com.cloudant.sync.query"
    for name in try Files.names(in: space.path(directory)) where name.hasPrefix("indexes.sqlite") {
      try FileManager.default.removeItem(atPath: space.path("\(directory)/\(name)"))
    }
    let found = try space.run(
      "find", "people/contacts", #"{"age":36}"#, "--ids", "--use-index", Self.equalNames[1])
    #expect(found.output == "mike\n", "\(found.errors)")
  }

  @Test func `the command of a wished index is one that a shell takes as it is`() throws {
    let space = try Workspace(Workspace.people)
    let selector = #"{"a'\#u{301};touch pwned;'":1}"#
    let explained = try space.run("explain", "people/contacts", selector)
    let line = try #require(explained.output.split(separator: "\n").first { $0.contains("index create") })
    let start = try #require(line.range(of: "cdtquery index create")).lowerBound
    let made = try space.shell(String(line[start...]))
    #expect(made.status == 0, "\(made.errors)")
    #expect(!space.exists("pwned"))
    #expect(try space.run("explain", "people/contacts", selector).output.contains("index create") == false)
  }
}
