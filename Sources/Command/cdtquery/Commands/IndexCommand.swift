public import ArgumentParser
public import CDTJSON
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

  struct Create: ParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "create",
      abstract: "Create an index unless it exists, and print its name.",
      discussion: """
        Only a trailing :asc or :desc is a direction; other colons are part of the field's name.

        Other processes can read and write during the build. If you interrupt it, completed work is kept, and index update \
        continues from there. On a terminal a progress bar is shown.

        With --where the index only holds the documents that match a selector. Queries whose selector implies it use the index.

        With --unique a write is refused that would give two documents the same values; null and missing values are not \
        compared. Documents that had the same values before, and those that a replication brings, stay as they are: conflicts \
        --unique lists them.

        With --collation the index compares strings by nocase or unicode, as queries with this collation do.

        With --sum or --count the index is a summary: it also keeps, for each combination of values of the fields, the number of \
        documents and the sums of the fields named by --sum. Groups are then answered from these. Without fields, a summary has the \
        sums of all documents.

        With --expire-after documents expire so many seconds after the date in the field, ISO 8601 text or seconds since 1970: they \
        are left out from then on, and deleted. With --milliseconds, numbers are milliseconds since 1970, as of JavaScript's Date.now(). \
        Documents with any other value never expire; they are counted. Such an index answers no queries.

        With --place the last field is a place, a GeoJSON Point or an array of a longitude and a latitude. $geoWithin and $near with a \
        $geometry use the index, also with conditions that give the fields before the place one value each.

        With --vector the index has codes of the arrays of so many numbers in the field, for $near with a $vector. Its size is about \
        that number of bytes for each document.

        EXAMPLE
          $ cdtquery index create people/contacts pet.species age:desc
          pet.species_age-desc
          $ cdtquery index create people/contacts age --where '{"age":{"$gt":17}}'
          age_where_…
          $ cdtquery index create people/contacts name --unique
          unique_name
          $ cdtquery index create people/contacts pet.species --sum age
          summary_pet.species_of_age
          $ cdtquery index create people/contacts --sum age
          summary_of_age
          $ cdtquery index create people/contacts seen --expire-after 86400
          expire_seen
          $ cdtquery index create people/contacts city place --place
          place_city_place
          $ cdtquery index create people/contacts embedding --vector 384
          vector_embedding
        """)

    @Argument(help: DatabaseArgument.help) var database: DatabaseArgument
    @OptionGroup var key: KeyOptions
    @Argument(
      help: "Fields, most significant first; age:desc sorts descending. A summary needs none.",
      completion: Completions.fields)
    var fields: [String] = []
    @Option(help: SharedArgument.indexName.option) var name: String?
    @Option(help: SharedArgument.indexType.option) var type = IndexType
      .json
    @Option(help: SharedArgument.tokenize.option) var tokenize: String?
    @Option(help: SharedArgument.vector.option) var vector: Int?
    @Option(
      name: .customLong("where"), help: SharedArgument.filter.option)
    var filter: String?
    @Flag(help: SharedArgument.unique.option) var unique = false
    @Option(help: SharedArgument.collation.option) var collation: Collation?
    @Option(
      help: "Make a summary by the fields, with sums of another field; can be repeated.",
      completion: Completions.fields)
    var sum: [String] = []
    @Flag(help: "Make a summary by the fields.") var count = false
    @Option(help: "Delete documents so many seconds after the date in the field.") var expireAfter: Double?
    @Flag(help: "The numbers in the field of --expire-after are milliseconds since 1970, not seconds.")
    var milliseconds = false
    @Flag(help: "The last field is a place, for $near and $geoWithin.") var place = false
    @OptionGroup var progress: ProgressOptions
    @OptionGroup var server: ServerOptions

    func validate() throws {
      if place, type == .text {
        throw ValidationError("an index has words or places; leave out --place or --type text")
      }
      if fields.isEmpty, sum.isEmpty {
        throw ValidationError("an index needs at least one field; name the fields that queries use")
      }
    }

    func run() throws {
      var options = IndexOptions(
        where: try filter.map { try SelectorArgument.json($0) }, vector: vector, unique: unique,
        collation: collation, sums: count || !sum.isEmpty ? sum : nil, milliseconds: milliseconds)
      options.expireAfter = expireAfter
      var json = options.json
      if place {
        json["type"] = .string(IndexType.place.rawValue)
      } else if vector == nil || type != .json {
        json["type"] = .string(type.rawValue)
      }
      json["tokenize"] = tokenize.map { .string($0) }
      json["name"] = name.map { .string($0) }
      json["fields"] = .array(
        try SortField.fields(words: fields, at: "fields").map(\.json) + sum.map { .string($0) })
      try Output.standard.line(try database.open(server).createIndex(json, progress))
    }
  }

  struct List: ParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "list",
      abstract: "Print the indexes, one JSON object per line.",
      discussion: """
        EXAMPLE
          $ cdtquery index create people/contacts age --name by_age
          by_age
          $ cdtquery index list people/contacts
          {"name":"by_age","type":"json","fields":["age"],"entries":2,…}
        """)

    @Argument(help: DatabaseArgument.help) var database: DatabaseArgument
    @OptionGroup var key: KeyOptions
    @OptionGroup var server: ServerOptions

    func run() throws {
      for index in try database.open(server).indexes() { try Output.standard.line(index.text) }
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

    @Argument(help: DatabaseArgument.help) var database: DatabaseArgument
    @OptionGroup var key: KeyOptions
    @Argument(help: "The index's name.") var name: String
    @OptionGroup var server: ServerOptions

    func run() throws {
      try database.open(server).deleteIndex(named: name)
    }
  }

  struct Update: ParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "update",
      abstract: "Bring every index up to date.",
      discussion: """
        Queries are correct without it, but the first one is faster after it.

        EXAMPLE
          $ cdtquery index update people/contacts
        """)

    @Argument(help: "The store, DIRECTORY/NAME.") var store: StoreArgument
    @OptionGroup var key: KeyOptions
    @OptionGroup var progress: ProgressOptions

    func run() throws {
      let datastore = try store.open()
      try progress.showing { try datastore.updateIndexes(progress: $0) }
    }
  }

  struct Rebuild: ParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "rebuild",
      abstract: "Rebuild one index, or all of them.",
      discussion: """
        EXAMPLE
          $ cdtquery index rebuild people/contacts
        """)

    @Argument(help: "The store, DIRECTORY/NAME.") var store: StoreArgument
    @OptionGroup var key: KeyOptions
    @Argument(help: "The index's name. (default: every index)") var name: String?
    @OptionGroup var progress: ProgressOptions

    func run() throws {
      let datastore = try store.open()
      try progress.showing { try datastore.rebuildIndexes(named: name, progress: $0) }
    }
  }
}

/// The progress options of commands that build indexes.
struct ProgressOptions: ParsableArguments {
  @Flag(help: "Show no progress.") var quiet = false

  /// Runs a build and shows its progress.
  func showing<R>(_ build: ((IndexProgress) -> Void) throws -> R) rethrows -> R {
    let bar = ProgressBar(noun: "documents", isQuiet: quiet)
    defer { bar.clear() }
    return try build { if $0.total > 0 { bar.show($0.done, of: $0.total) } }
  }
}

extension IndexType: ExpressibleByArgument {}
extension Collation: ExpressibleByArgument {}
