import CDTJSON
import Testing

/// Rules on the command line.
@Suite struct RulesCommandTests {
  private static let adults = #"{"validate_doc_update":{"newDoc":{"age":{"$gte":18}}}}"#

  private func workspace() throws -> Workspace {
    let space = try Workspace(Workspace.people)
    #expect(try space.run("rules", "set", "people/contacts", Self.adults).status == 0)
    return space
  }

  @Test func `commands that write enforce rules for a user`() throws {
    let space = try workspace()
    try space.write(#"{"_id":"kim","age":7}"# + "\n" + #"{"_id":"lee","age":70}"# + "\n", to: "more.jsonl")
    for arguments in [
      ["put", "people/contacts", "kim", #"{"age":7}"#],
      ["update", "people/contacts", #"{"_id":"mike"}"#, "--set", "age=3", "--yes"],
      ["delete", "people/contacts", "mike"],
      ["import", "people/contacts", "more.jsonl"],
      ["attachment", "put", "people/contacts", "zoe", "a", "more.jsonl"],
    ] {
      let refused = try space.run(Built.cdtquery, arguments + ["--as", "eve"])
      #expect([1, 65, 77].contains(refused.status), "\(arguments) \(refused.output)")
      #expect(refused.errors.contains("newDoc.age: expected at least 18"), "\(arguments): \(refused.errors)")
    }
    #expect(try space.run("count", "people/contacts").output == "3\n")
    let partly = try space.run("import", "people/contacts", "more.jsonl", "--as", "eve", "--keep-going")
    #expect((partly.output + partly.errors).contains("1 imported"), "\(partly.errors)")
    #expect(try space.run("put", "people/contacts", "kim", #"{"age":7}"#).status == 0)
  }

  @Test func `commands that read show a user what they see`() throws {
    let space = try Workspace(Workspace.people)
    let rule =
      #"{"read":[{"roles":["adult"],"selector":{"age":{"$gte":18}}},"#
      + #"{"roles":["*"],"selector":{"_id":{"$data":"userCtx.name"}}}]}"#
    #expect(try space.run("rules", "set", "people/contacts", rule).status == 0)
    let all = try space.run("find", "people/contacts", "--ids").lines.sorted()
    #expect(all.contains("zoe") && all.contains("mike") && all.count > 2)
    let zoe = try space.run("get", "people/contacts", "zoe").output
    for (command, output) in [
      (["find", "people/contacts"], zoe), (["sample", "people/contacts"], zoe),
      (["export", "people/contacts"], zoe),
      (["count", "people/contacts"], "1\n"), (["distinct", "people/contacts", "_id"], "\"zoe\"\n"),
      (["group", "people/contacts", "--count", "n"], "{\"n\":1}\n"), (["conflicts", "people/contacts"], ""),
    ] {
      #expect(try space.run(Built.cdtquery, command + ["--as", "zoe"]).output == output, "\(command)")
    }
    #expect(try space.run("count", "people/contacts", "--as", "zoe", "--roles", "adult").output != "1\n")
    for command in ["describe", "changes", "explain"] {
      let result = try space.run(command, "people/contacts", "--as", "zoe")
      #expect(result.status == 0 && !result.output.contains("mike"), "\(command) \(result.errors)")
    }
    #expect(try space.run("changes", "people/contacts", "--as", "zoe").lines.count == 1)
    #expect(try space.run("info", "people/contacts", "--as", "zoe").output.contains(#""documents":1"#))
    let missing = try space.run("get", "people/contacts", "nobody", "--as", "zoe")
    let hidden = try space.run("get", "people/contacts", "mike", "--as", "zoe")
    #expect(missing.status == 66 && hidden.status == 66 && hidden.output.isEmpty)
    #expect(hidden.errors == missing.errors.replacing("nobody", with: "mike"))
    #expect(try space.run("attachment", "list", "people/contacts", "mike", "--as", "zoe").status == 66)
    let file = try space.run("find", "people.jsonl", "--as", "zoe")
    #expect(file.status == 64 && file.errors.contains("--as is for stores"), "\(file.errors)")
  }

  @Test func `documents that break a rule are found`() throws {
    let space = try workspace()
    let rows = try space.run("rules", "check", "people/contacts", "--quiet")
    #expect(rows.status == 1)
    let found = try rows.lines.map { try JSONObject(parsing: $0)["id"] }
    #expect(found == ["ann", "zoe"])
    let check = try space.run("check", "people/contacts", "--rules", "--quiet")
    #expect(check.status == 1)
    #expect(check.lines.last == #"{"kind":"rule","id":"zoe","finding":"newDoc.age: expected at least 18"}"#)
    #expect(try space.run("check", "people/contacts", "--quiet").status == 0)
  }

  @Test func `rules are set in place of others, beside other members`() throws {
    let space = try workspace()
    let other = #"{"validate_doc_update":{"newDoc":{"$ref":"defs.a"}},"defs":{"a":{"age":{"$lt":200}}}}"#
    #expect(try space.run("rules", "set", "people/contacts", other).status == 0)
    #expect(
      try space.run("rules", "show", "people/contacts").output == #"{"name":"rules",\#(other.dropFirst())"#
        + "\n")
    #expect(try space.run("rules", "set", "people/contacts", "{}").status == 0)
    #expect(try space.run("rules", "show", "people/contacts").output == "")
  }

  struct Case: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let rules: String
    let message: String
  }

  static let refused = [
    Case(
      testDescription: "a member", rules: #"{"validate": {}}"#,
      message: #"validate: "validate" is not a member of rules"#),
    Case(
      testDescription: "a field that is not of the input", rules: #"{"validate_doc_update": {"age": 1}}"#,
      message: #"write "newDoc.age" for a member of the document"#),
    Case(
      testDescription: "an operator", rules: #"{"validate_doc_update": {"newDoc.age": {"$gtt": 1}}}"#,
      message: #"validate_doc_update.newDoc.age.$gtt: unknown operator "$gtt" (did you mean "$gt"?)"#),
    Case(
      testDescription: "a pattern that systems may decide differently",
      rules: #"{"validate_doc_update": {"newDoc.name": {"$regex": "^\\X$"}}}"#,
      message:
        #"validate_doc_update.newDoc.name.$regex: devices and servers might decide the pattern differently: it has "\X" at offset 1; write \P{M}\p{M}*"#
    ),
    Case(testDescription: "no JSON", rules: "{", message: "line 1"),
    Case(
      testDescription: "a function", rules: #"{"validate_doc_update": "function (n) {}"}"#,
      message: "validate_doc_update: a selector is an object"),
  ]

  @Test(arguments: refused) func `rules that can't be read are refused`(_ wrong: Case) throws {
    let space = try workspace()
    let result = try space.run("rules", "set", "people/contacts", wrong.rules)
    #expect(result.status == 65 && result.errors.contains(wrong.message), "\(result.errors)")
    #expect(try space.run("rules", "show", "people/contacts").output.contains("18"))
  }

  @Test func `the options of a user belong together, and to stores`() throws {
    let space = try workspace()
    let roles = try space.run("put", "people/contacts", "kim", "{}", "--roles", "a")
    #expect(roles.status == 64 && roles.errors.contains("--roles needs a user"))
    let url = try space.run("import", "http://127.0.0.1:1/db", "people.jsonl", "--as", "eve")
    #expect(url.status == 64 && url.errors.contains("--as is for stores"), "\(url.errors)")
  }
}
