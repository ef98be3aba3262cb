import ArgumentParser
import CDTDatastore
import CDTJSON
import CDTQuery

struct FindCommand: QueryingCommand {
  static let configuration = CommandConfiguration(
    commandName: "find",
    abstract: "Print the documents that a selector matches, one per line.",
    usage: """
      cdtquery find <store> [<selector>] [<options>]
      cdtquery find <store> --batch <batch>
      """,
    discussion: """
      SELECTOR is JSON, @FILE, - for standard input, or a whole request {"selector": …, "sort": …, "fields": …, \
      "skip": …, "limit": …, "use_index": …, "collation": …, "snippets": …, "distance": …, "bookmark": …, "backward": …, "include": …}. Options override the \
      request. Without SELECTOR, every document is found. A field \
      whose name contains a comma, or a space at an end, can be named in a request only.

      STORE can also be a file of any kind that import reads, or - for standard input. Its documents are read one after \
      another, and printed in their order unless --sort is given. They have no _rev, and can't be searched with $text.

      With --watch, the results are followed by a line for each change of them: what is removed, moved, inserted or \
      updated. Positions are those that docs/live.md describes.

      With --include, the last line has the documents whose ids stand at a path of the results, by name and id. The path of \
      ids in an array of objects is items[].product. With --format json, the output is {"docs": [...], "included": {...}}.

      With --snippets or --highlight, each result of a search with $text has the text around what was found, as _snippets.
      With --distance, each result of a query with $near has its distance, as _distance.

      EXAMPLE
        $ cdtquery find people/contacts '{}' --sort age --format table
        _id   _rev                                age
        ────  ──────────────────────────────────  ───
        zoe   1-6becd5b6af2701a6fe53470157b9e47d  12
        mike  1-dc7c404fb82b5e0160f925a3aaa9534b  36
        $ echo '{"selector": {"age": 12}}' | cdtquery find people/contacts --batch -
        {"docs":[{"_id":"zoe","_rev":"1-6becd5b6af2701a6fe53470157b9e47d","age":12}]}
        $ cdtquery find people.jsonl '{"age": {"$lt": 18}}'
        {"_id":"zoe","age":12}
      """)

  @Argument(help: DatabaseArgument.queryHelp) var database: DatabaseArgument
  @Argument(help: "The selector, or a request. (default: every document)") var selector: String?
  @OptionGroup var options: QueryOptions
  @OptionGroup var position: BookmarkOptions
  @Flag(help: "Print how many documents match.") var count = false
  @Flag(help: "Print the ids only.") var ids = false
  @Flag(help: "Print the plan without running the query.") var explain = false
  @Flag(help: "Then print changes of the results until interrupted or until the output is closed.")
  var watch = false
  @OptionGroup var output: OutputOptions
  @Option(help: "Read one request per line of a file (- is standard input) and print one result per line.")
  var batch: String?
  @OptionGroup var file: QueriedFileOptions
  @OptionGroup var key: KeyOptions
  @OptionGroup var user: UserOptions
  @OptionGroup var server: ServerOptions

  func validate() throws {
    let chosen = [count, ids, explain].filter(\.self).count
    try refuse([
      "give a selector, or --batch": batch != nil && selector != nil,
      "--count, --ids and --explain can't be combined; give one of them": chosen > 1,
      "--batch takes no other option; write them into the requests":
        batch != nil
        && (chosen > 0 || watch || !(options.isEmpty && position.isEmpty && output.isEmpty)),
      "--batch is for stores; import the file into one, so that it is not read for each request":
        batch != nil && database.isFile,
    ])
    try options.page.checkIndex(for: database)
    try refuse([
      "--watch is for stores and takes no option of how results are printed; a server has _find?feed=continuous":
        watch && (database.isURL || database.isFile || chosen > 0 || !output.isEmpty),
      "--bookmark, --backward and --bookmarks are for stores; use --skip and --limit":
        (database.isURL || database.isFile) && !position.isEmpty,
      "--include can't be combined with --count and --ids, which print no documents":
        (count || ids) && !options.include.isEmpty,
      "--bookmarks can't be combined with --count, --ids, --explain and --watch":
        position.bookmarks && (chosen > 0 || watch),
      "--format and the other options of how documents are printed can't be combined with --count, --ids and --explain":
        chosen > 0 && !output.isEmpty,
    ])
  }

  func run() throws {
    if let batch {
      return try answer(batch, try openDatabase(database, reading: batch))
    }
    let database = try open(database, reading: selector)
    let query = try position.query(options.query(SelectorArgument.query(selector)))
    if watch, case .store(let store) = self.database {
      return try ResultWatch(query: query, store: store).run()
    }
    var foundNothing = false
    if explain {
      try Output.standard.line(database.explain(query).text)
    } else {
      foundNothing = try write(query, of: database) == 0
    }
    try Output.standard.flush()
    var hints = QueryHints()
    database.write(&hints, about: query, foundNothing: foundNothing)
  }

  /// Prints the results, and returns their number.
  private func write(_ query: Query, of database: any QuerySource) throws -> Int {
    // With skip or limit, only the documents in the page count.
    if count, query.skip == 0, query.limit == nil, query.bookmark == nil {
      let count = try database.count(query)
      try Output.standard.line(String(count))
      return count
    }
    let results = try database.results(for: query)
    guard count || ids else {
      let fields = query.fields + (query.fields.isEmpty ? [] : query.addedMembers)
      let found = try ResultWriter(output, fields: fields, includes: !query.include.isEmpty).write(results)
      try position.write(of: results)
      return found
    }
    var found = 0
    try results.forEachID {
      found += 1
      if ids { try Output.standard.line($0) }
    }
    if count { try Output.standard.line(String(found)) }
    return found
  }

  /// Answers the requests of a file. If the database can't be read, it says so before any request is.
  private func answer(_ file: String, _ database: any Database) throws {
    var requests = try BatchRequests(file)
    var hints = QueryHints()
    try database.check()
    while let request = try requests.next() {
      var answer = BatchAnswer()
      var query: Query?
      do {
        let requested = try request.query()
        query = requested
        let results = try database.results(for: requested)
        try results.forEachJSON { answer.append($0) }
        answer.append(included: try results.includedJSON)
      } catch {
        (answer, query) = (BatchAnswer(error), nil)
      }
      try answer.print()
      if let query { database.write(&hints, about: query, foundNothing: answer.isEmpty) }
    }
  }
}
