import ArgumentParser

#if Server
  import CDTServer
#endif

struct UserCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "user",
    abstract: "Add, remove and list the users of a server.",
    discussion: """
      FILE holds the users with hashes of their passwords. Only its owner can read it. A running server reads it again \
      when it has changed.

      EXAMPLE
        $ echo 'correct horse' > password
        $ cdtquery user add users.json mike --role _admin --password-file password
        mike added
        $ cdtquery user list users.json
        {"name":"mike","roles":["_admin"]}
      """,
    subcommands: [Add.self, Remove.self, List.self])

  struct Add: ParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "add",
      abstract: "Add a user, or change a user's password.",
      discussion: """
        The password is the first line of --password-file (- is standard input), or else the variable \
        CDTQUERY_PASSWORD, or else it is asked for on the terminal, or else the first line of standard input. It is never \
        an argument.

        The role _admin makes a server admin. Other roles can be listed in the security object of a database. Without \
        --role, an existing user keeps its roles. A new password ends the user's sessions.

        EXAMPLE
          $ echo 'tr0ub4dor' | cdtquery user add users.json zoe --role team
          zoe added
          $ echo 'correct horse' | cdtquery user add users.json zoe
          zoe changed
        """)

    @Argument(help: "The file of users; it is created if it does not exist.") var file: String
    @Argument(help: "The user's name.") var name: String
    @Option(name: .customLong("role"), help: "A role; can be given several times.") var roles: [String] = []
    @Option(help: "The file whose first line is the password.") var passwordFile: String?
  }

  struct Remove: ParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "remove",
      abstract: "Remove a user, and end the user's sessions.",
      discussion: """
        EXAMPLE
          $ echo 'tr0ub4dor' | cdtquery user add users.json zoe
          zoe added
          $ cdtquery user remove users.json zoe
        """)

    @Argument(help: "The file of users.") var file: String
    @Argument(help: "The user's name.") var name: String
  }

  struct List: ParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "list",
      abstract: "Print the users by name, one JSON object per line.",
      discussion: """
        EXAMPLE
          $ echo 'tr0ub4dor' | cdtquery user add users.json zoe --role team
          zoe added
          $ cdtquery user list users.json
          {"name":"zoe","roles":["team"]}
        """)

    @Argument(help: "The file of users.") var file: String
  }
}

#if Server
  extension UserCommand.Add {
    func run() throws {
      // Before the password is asked for.
      try User.check(name: name, roles: roles)
      let password = try PasswordSource(file: passwordFile).read(for: name)
      let isNew = try UserFile(file).setPassword(password, of: name, roles: roles.isEmpty ? nil : roles)
      Message.write("\(name) \(isNew ? "added" : "changed")")
    }
  }

  extension UserCommand.Remove {
    func run() throws {
      try UserFile(file).remove(name)
    }
  }

  extension UserCommand.List {
    func run() throws {
      for user in try UserFile(file).read().users.all { try Output.standard.line(user.summary.text) }
    }
  }
#else
  extension UserCommand.Add {
    func run() throws { throw ToolError.needsFullBuild("user") }
  }

  extension UserCommand.Remove {
    func run() throws { throw ToolError.needsFullBuild("user") }
  }

  extension UserCommand.List {
    func run() throws { throw ToolError.needsFullBuild("user") }
  }
#endif
