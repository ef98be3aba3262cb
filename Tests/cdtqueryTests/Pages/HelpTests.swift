import CDTPlatform
import Testing

@Suite struct HelpTests {
  /// A command with its help.
  private struct Page {
    let path: [String]
    let text: String

    var name: String { (["cdtquery"] + path).joined(separator: " ") }

    var lines: [(number: Int, text: String)] {
      text.split(separator: "\n", omittingEmptySubsequences: false).enumerated().map { ($0 + 1, String($1)) }
    }

    /// The examples: what is indented below the line that begins with `EXAMPLE`.
    var examples: [Example] {
      let block = lines.drop { !$0.text.hasPrefix("EXAMPLE") }.dropFirst().prefix { $0.text.hasPrefix("  ") }
      return Examples.read(block.map { ($0.number, String($0.text.dropFirst(2))) })
    }

    /// The names of the subcommands.
    var subcommands: [String] {
      lines.drop { $0.text != "SUBCOMMANDS:" }.dropFirst().prefix { $0.text.hasPrefix("  ") }
        .filter { !$0.text.hasPrefix("   ") && !$0.text.hasPrefix("  See ") }
        .compactMap { $0.text.split(separator: " ").first.map(String.init) }
    }
  }

  /// Every command, found through the help itself.
  private static func pages(_ path: [String] = []) throws -> [Page] {
    let result = try Workspace().run(Built.cdtquery, path + ["--help"])
    #expect(result.status == 0)
    let page = Page(path: path, text: result.output)
    return try [page] + page.subcommands.flatMap { try pages(path + [$0]) }
  }

  @Test func `every command is found`() throws {
    let names = try Self.pages().map(\.name)
    for name in [
      "cdtquery", "cdtquery import", "cdtquery find", "cdtquery index create", "cdtquery drop",
      "cdtquery serve", "cdtquery look", "cdtquery replicate", "cdtquery user add",
    ] {
      #expect(names.contains(name))
    }
  }

  @Test func `every command has an example, and each does what it shows`() throws {
    let pages = try Self.pages()
    let preparation = pages.first?.examples ?? []
    for page in pages {
      #expect(!page.examples.isEmpty, "\(page.name)")
      #expect(page.examples.contains { $0.command.contains(page.name) }, "\(page.name)")
      let space = try Workspace()
      try space.makeConflict()
      for example in (page.path.isEmpty ? [] : preparation) + page.examples {
        let result = try space.shell(example.command, mergesErrors: true)
        #expect(result.status == 0, "\(page.name): \(example.command): \(result.output)")
        let shown = example.output.joined(separator: "\n")
        #expect(
          Examples.matches(result.output, shown), "\(page.name): \(example.command): \(result.output)")
      }
    }
  }

  @Test func `examples fit into a terminal of 80 columns`() throws {
    for page in try Self.pages() {
      let block = page.lines.drop { !$0.text.hasPrefix("EXAMPLE") }.prefix { !$0.text.isEmpty }
      // A line that was too long goes on without its indentation.
      #expect(block.dropFirst().allSatisfy { $0.text.hasPrefix("  ") }, "\(page.name)")
    }
  }

  @Test(arguments: ["bash", "zsh", "fish"])
  func `completions know every command, and the shell takes them`(_ shell: String) throws {
    let space = try Workspace()
    let result = try space.run("--generate-completion-script", shell, output: space.path("completion"))
    #expect(result.errors == "")
    #expect(result.status == 0)
    let script = try space.text("completion")
    for word in ["import", "export", "find", "index", "rebuild", "drop"] {
      #expect(script.contains(word), "\(word)")
    }
    let check = try space.shell("command -v \(shell) > /dev/null || exit 0; \(shell) -n completion")
    #expect(check.status == 0, "\(check.errors)")
  }

  @Test func `bash completes commands and options`() throws {
    let space = try Workspace()
    let result = try space.shell(
      """
      source <(cdtquery --generate-completion-script bash)
      complete -p cdtquery
      COMP_WORDS=(cdtquery exp); COMP_CWORD=1; COMP_LINE='cdtquery exp'; COMP_POINT=12
      _cdtquery cdtquery exp cdtquery; printf '%s\\n' "${COMPREPLY[@]}"
      """)
    #expect(result.lines.first?.contains("_cdtquery") == true)
    #expect(result.lines.dropFirst() == ["export", "explain"] || result.lines.dropFirst() == ["export"])
  }

  @Test func `stores, files and fields are completed`() throws {
    let space = try Workspace("{\"_id\":\"a\",\"name\":1,\"pet\":{\"kind\":\"cat\"},\"tags\":[{\"n\":1}]}\n")
    try space.run("import", "people/pets", input: "{}")
    try space.run("import", "alone", input: "{}")
    try space.write("{\"code\":1}\n", to: "places.jsonl")
    try space.write("", to: "notes.txt")
    /// What the scripts of the shells call.
    func completed(_ command: [String], _ argument: String, _ words: [String]) throws -> [String] {
      let prefix = words.last ?? ""
      let result = try space.run(
        Built.cdtquery,
        ["---completion"] + command + ["--", argument, "\(words.count - 1)", "\(prefix.count)"] + words)
      return result.lines
    }
    #expect(
      try completed(["find"], "positional@0", ["cdtquery", "find", ""]) == [
        "alone", "people/contacts", "people/pets", "places.jsonl",
      ])
    #expect(try completed(["find"], "positional@0", ["cdtquery", "find", "people/p"]) == ["people/pets"])
    #expect(try completed(["info"], "positional@0", ["cdtquery", "info", "pl"]) == [])
    let fields = ["name", "pet", "pet.kind", "tags", "tags.n"]
    #expect(
      try completed(["find"], "--sort", ["cdtquery", "find", "people/contacts", "{}", "--sort", ""]) == fields
    )
    #expect(
      try completed(["find"], "--fields", ["cdtquery", "find", "people/contacts", "--fields", "name,p"])
        == fields.map { "name," + $0 })
    #expect(
      try completed(["find"], "--sort", ["cdtquery", "find", "places.jsonl", "--sort", ""]) == ["code"])
    #expect(try completed(["find"], "--sort", ["cdtquery", "find", "people/none", "--sort", ""]) == [])
  }

  /// The scripts of bash expand the words that they are given.
  @Test func `names that a shell would expand are not completed`() throws {
    let space = try Workspace()
    try space.shell(
      #"printf '{"_id":"1","`touch pwned`":1,"$(touch pwned)":2,"a b":3,"fine":4}\n' | cdtquery import inj/s -"#
    )
    try space.write("{\"code\":1}\n", to: "`touch pwned`.jsonl")
    try space.write("{\"code\":1}\n", to: "right.jsonl")
    let fields = try space.run(
      Built.cdtquery,
      ["---completion", "find", "--", "--sort", "4", "0", "cdtquery", "find", "inj/s", "--sort", ""])
    #expect(fields.lines == ["fine"])
    let result = try space.shell(
      """
      source <(cdtquery --generate-completion-script bash)
      COMP_WORDS=(cdtquery find ''); COMP_CWORD=2; COMP_LINE='cdtquery find '; COMP_POINT=14
      _cdtquery cdtquery '' find; printf '%s\\n' "${COMPREPLY[@]}"
      """)
    #expect(result.lines.contains("right.jsonl"), "\(result.output) \(result.errors)")
    #expect(try Files.kind(of: space.path("pwned")) == nil)
  }

  @Test func `the manual page has every command`() throws {
    let space = try Workspace()
    let result = try space.run(
      "/bin/sh", ["\(Built.package)/scripts/man-page.sh", Built.cdtquery], output: space.path("cdtquery.1"))
    #expect(result.errors == "")
    #expect(result.status == 0)
    let lines = try space.text("cdtquery.1").split(separator: "\n")
    #expect(lines.first?.hasPrefix(".TH CDTQUERY 1 ") == true)
    for page in try Self.pages().dropFirst() { #expect(lines.contains(".SH \(page.name.uppercased())")) }
    // Only the lines of the page itself are requests.
    let requests = Set(lines.filter { $0.hasPrefix(".") || $0.hasPrefix("'") }.map { $0.prefix(3) })
    #expect(requests == [".TH", ".SH", ".nf", ".fi", ".in"])
    let check = try space.shell(
      "command -v groff > /dev/null || exit 0; groff -k -man -Tutf8 -ww -z cdtquery.1", mergesErrors: true)
    #expect(check.output == "")
    #expect(check.status == 0)
  }

  @Test func `the version is told`() throws {
    let result = try Workspace().run("--version")
    #expect(result.lines.count == 1)
    #expect(result.status == 0)
  }
}
