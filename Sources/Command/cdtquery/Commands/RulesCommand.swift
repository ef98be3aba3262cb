import ArgumentParser
import CDTDatastore
import CDTJSON
import CDTQuery

struct RulesCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "rules",
    abstract: "Show, set or check the rules of a store: what may be written.",
    discussion: """
      Rules are selectors in design documents, so they are replicated. Servers enforce them, and commands with --as do. See \
      docs/rules.md.

      EXAMPLE
        $ cdtquery rules set people/contacts \\
            '{"validate_doc_update":{"newDoc":{"age":{"$gte":0}}}}'
        $ cdtquery rules check people/contacts
        cdtquery: no document breaks a rule
        $ cdtquery put people/contacts tim '{"age":-1}' --as eve || true
        cdtquery: document "tim": newDoc.age: expected at least 0
      """,
    subcommands: [Show.self, Set.self, Check.self])

  struct Show: ParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "show",
      abstract: "Print the rules, one design document per line.",
      discussion: """
        EXAMPLE
          $ cdtquery rules set people/contacts \\
              '{"validate_doc_update":{"newDoc":{"age":{"$gte":0}}}}'
          $ cdtquery rules show people/contacts
          {"name":"rules","validate_doc_update":{"newDoc":{"age":{"$gte":0}}}}
        """)

    @Argument(help: "The store, DIRECTORY/NAME.") var store: StoreArgument
    @OptionGroup var key: KeyOptions

    func run() throws {
      for (name, rules) in try store.open().read({ try $0.rules() }) {
        var json: JSONObject = ["name": .string(name)]
        for (member, value) in rules { json[member] = value }
        try Output.standard.json(json)
      }
    }
  }

  struct Set: ParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "set",
      abstract: "Set the rules of a design document, in place of those that it has.",
      discussion: """
        The rules are JSON, @FILE, or - for standard input, with the members validate_doc_update, read and defs. {} removes them.

        EXAMPLE
          $ cdtquery rules set people/contacts --name adults \\
              '{"validate_doc_update":{"newDoc":{"age":{"$gte":18}}}}'
          $ cdtquery rules check people/contacts || true
          {"id":"zoe","reason":"newDoc.age: expected at least 18","failures":…
          cdtquery: 1 document breaks a rule
        """)

    @Argument(help: "The store, DIRECTORY/NAME.") var store: StoreArgument
    @OptionGroup var key: KeyOptions
    @Argument(help: "The rules.") var rules: String
    @Option(help: "The name of the design document, without _design/.") var name = Datastore.rulesName

    func run() throws {
      let rules = try JSONObject(parsing: TextArgument.read(rules))
      try store.open().setRules(rules, named: name)
    }
  }

  struct Check: ParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "check",
      abstract: "Print the documents that break a rule.",
      discussion: """
        A rule that is new does not touch what is stored. Each document is checked as if it were saved again unchanged, by an admin \
        or by the user of --as. The exit code is 1 if there are such documents.

        EXAMPLE
          $ cdtquery rules check people/contacts
          cdtquery: no document breaks a rule
        """)

    @Argument(help: "The store, DIRECTORY/NAME.") var store: StoreArgument
    @OptionGroup var key: KeyOptions
    @OptionGroup var user: UserOptions
    @Flag(help: "Print only documents, without a summary.") var quiet = false

    func run() throws {
      var count = 0
      let admin = UserContext(name: nil, roles: ["_admin"])
      try store.open().read { transaction in
        try transaction.forEachViolation(as: user.context ?? admin) { violation in
          count += 1
          try Output.standard.json([
            "id": .string(violation.documentID), "reason": .string(violation.reason),
            "failures": .array(violation.failures.map { .object($0.json) }),
          ])
        }
      }
      try Output.standard.flush()
      if !quiet {
        let text =
          switch count {
          case 0: "no document breaks a rule"
          case 1: "1 document breaks a rule"
          default: "\(count) documents break a rule"
          }
        Message.write("cdtquery: \(text)")
      }
      if count > 0 { throw ExitStatus.findings }
    }
  }
}
