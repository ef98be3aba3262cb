import CDTJSON
import CDTQuery
import Testing

@Suite struct IndexCommandTests {
  private static func arguments(_ option: IndexOptions.Name) -> [String] {
    switch option {
    case .filter: ["--where", #"{"a":1}"#]
    case .tokenize: ["--type", "text", "--tokenize", "porter"]
    case .vector: ["--vector", "3"]
    case .unique: ["--unique"]
    case .collation: ["--collation", "unicode"]
    case .sum: ["--sum", "n"]
    case .expireAfter: ["--expire-after", "1.5"]
    case .milliseconds: ["--expire-after", "60", "--milliseconds"]
    }
  }

  @Test(arguments: IndexOptions.Name.allCases)
  func `index create has every option of an index`(option: IndexOptions.Name) throws {
    let workspace = try Workspace("{\"_id\":\"x\"}\n")
    let created = try workspace.run(
      Built.cdtquery, ["index", "create", "people/contacts", "a"] + Self.arguments(option))
    #expect(created.status == 0, "\(created.errors)")
    let listed = try workspace.run("index", "list", "people/contacts")
    #expect(listed.output.contains("\"\(option.rawValue)\":"))
  }
}
