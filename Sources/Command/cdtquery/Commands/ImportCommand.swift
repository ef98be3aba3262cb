import ArgumentParser
import CDTImport

struct ImportCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "import",
    abstract: "Import documents into a database, which is created if it does not exist.",
    discussion: """
      Reads JSON objects, one after another or in arrays, tables with a header line (by the name of the file, or --format \
      csv), dumps of CouchDB and its tools ({"docs": […]}, _all_docs and _changes with documents, couchbackup, \
      pouchdb-dump), and what mongoexport writes; any of them compressed by gzip. What was recognized is said on standard \
      error; --format decides otherwise. The id is the document's _id, or the field at the path given by --id, or it is \
      generated. _attachments are imported with their data, as written by export --attachments and by CouchDB.

      Files are read as a stream. The first invalid document ends the import and is reported with its file, line and \
      column: its batch is not written, but the batches before it are. If nothing was written, a store that was created \
      is removed. A server has no transactions: if it refuses a document, the others of its batch may be written.

      With --on-conflict replace, a document that has a _rev is replaced only if that is its current revision. Others \
      are listed, and the exit code is 65. Without --on-conflict replace, _rev is ignored.

      --from-touchdb imports a datastore of CDTDatastore 2.x: documents with their whole revision trees, local \
      documents, attachments and indexes. Attachments and indexes are read from beside the file. The file is only read. \
      Importing again adds nothing.

      EXAMPLE
        $ printf 'name,age\\nann,7\\n' > more.csv
        $ cdtquery import people/contacts more.csv --format csv --id name
        1 imported
        $ cdtquery find people/contacts '{"age": {"$lt": 18}}' | \\
            sed 's/}$/,"minor":true}/' | \\
            cdtquery import people/contacts --on-conflict replace
        0 imported, 2 replaced
        $ cdtquery import people/contacts people.jsonl --on-conflict skip
        0 imported, 2 skipped
      """)

  @Argument(help: DatabaseArgument.help) var database: DatabaseArgument
  @OptionGroup var key: KeyOptions
  @OptionGroup var user: UserOptions
  @OptionGroup var options: ImportOptions
  @OptionGroup var server: ServerOptions
  @Option(name: .customLong("from-touchdb"), help: "Import a datastore of CDTDatastore 2.x, NAME.touchdb.")
  var touchDB: String?

  func validate() throws {
    try refuse([
      "--from-touchdb is for stores; import into a store, then copy it to the server with cdtquery replicate":
        touchDB != nil && database.isURL,
      "--from-touchdb imports one file and needs no other options; leave out other files, and the options for them":
        touchDB != nil && !(options.isEmpty && server.isEmpty),
    ])
  }

  func run() throws {
    if let touchDB, case .store(let store) = database {
      return try TouchDBImport(file: touchDB, batch: options.batch, continuesOnError: options.keepGoing)
        .run(into: store)
    }
    var database = database
    // What is in the place of a store can't be replaced by one, which the error says.
    if case .file(let path) = database, path != "-" {
      database = StoreArgument(argument: path).map(DatabaseArgument.store) ?? database
    }
    try database.open(server, reading: options.inputs.first { $0 == "-" }).importDocuments(options)
  }
}
