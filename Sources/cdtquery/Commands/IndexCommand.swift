public import ArgumentParser
public import CDTQuery

struct IndexCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "index",
    abstract: "Create, list, delete, update or rebuild indexes.",
    discussion: """
      EXAMPLE
        $ cdtquery index create people/contacts name age:desc --name by_name
        by_name
        $ cdtquery index list people/contacts
        {"name":"by_name","type":"json","fields":["name",{"age":"desc"}],…}
      """,
    subcommands: [Create.self, List.self, Delete.self, Update.self, Rebuild.self])

  struct Create: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "create",
      abstract: "Create an index, or confirm it, and print its name.",
      discussion: """
        Only a last :asc or :desc is a direction, so that a field may have a colon in its name.

        Others read and write meanwhile. Interrupted, what is built stays, and index update goes on from there. A bar \
        shows how far it is, on a terminal.

        EXAMPLE
          $ cdtquery index create people/contacts pet.species age:desc
          pet.species_age-desc
        """)

    @Argument(help: "The store, DIRECTORY/NAME.") var store: StoreArgument
    @Argument(help: "Fields, the most significant first; age:desc gives a direction.") var fields: [String]
    @Option(help: "The index's name; one is made when it is left out.") var name: String?
    @Option(help: "The type of index: json, for values in order, or text, for $text.") var type = IndexType
      .json
    @Option(help: "How a text index cuts words: simple, porter, unicode61 or trigram.") var tokenize: String?
    @OptionGroup var progress: ProgressOptions

    func run() async throws {
      let build = try store.open().buildIndex(
        fields.map(DirectedField.spelled), name: name, type: type,
        settings: tokenize.map { ["tokenize": .string($0)] } ?? [:])
      try await progress.follow(build)
      try Output.standard.line(build.name ?? "")
    }
  }

  struct List: ParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "list",
      abstract: "Print the indexes, a JSON object a line.",
      discussion: """
        EXAMPLE
          $ cdtquery index create people/contacts age --name by_age
          by_age
          $ cdtquery index list people/contacts
          {"name":"by_age","type":"json","fields":["age"],"entries":2,…}
        """)

    @Argument(help: "The store, DIRECTORY/NAME.") var store: StoreArgument

    func run() throws {
      for index in try store.open().listIndexes() { try Output.standard.line(index.json.text) }
    }
  }

  struct Delete: ParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "delete",
      abstract: "Delete an index.",
      discussion: """
        EXAMPLE
          $ cdtquery index create people/contacts age --name by_age
          by_age
          $ cdtquery index delete people/contacts by_age
        """)

    @Argument(help: "The store, DIRECTORY/NAME.") var store: StoreArgument
    @Argument(help: "The index's name.") var name: String

    func run() throws {
      try store.open().deleteIndex(named: name)
    }
  }

  struct Update: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "update",
      abstract: "Bring every index up to the newest document.",
      discussion: """
        Queries are right without it; it moves its cost to now.

        EXAMPLE
          $ cdtquery index update people/contacts
        """)

    @Argument(help: "The store, DIRECTORY/NAME.") var store: StoreArgument
    @OptionGroup var progress: ProgressOptions

    func run() async throws {
      try await progress.follow(try store.open().buildIndexes())
    }
  }

  struct Rebuild: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "rebuild",
      abstract: "Empty an index, or all of them, and fill it anew.",
      discussion: """
        EXAMPLE
          $ cdtquery index rebuild people/contacts
        """)

    @Argument(help: "The store, DIRECTORY/NAME.") var store: StoreArgument
    @Argument(help: "The index's name; every index when it is left out.") var name: String?
    @OptionGroup var progress: ProgressOptions

    func run() async throws {
      try await progress.follow(try store.open().buildIndexesAnew(named: name))
    }
  }
}

/// How a command that builds indexes tells how far it is.
struct ProgressOptions: ParsableArguments {
  @Flag(help: "Show no progress.") var quiet = false

  /// Waits for the end of a build.
  func follow(_ build: IndexBuild) async throws {
    let bar = ProgressBar(noun: "documents", isQuiet: quiet)
    defer { bar.clear() }
    for try await progress in build where progress.total > 0 { bar.show(progress.done, of: progress.total) }
  }
}

extension IndexType: ExpressibleByArgument {}
