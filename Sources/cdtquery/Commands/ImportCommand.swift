import ArgumentParser
import CDTCommandLine
import CDTDatastore

struct ImportCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "import",
    abstract: "Import documents into a store, which is created if it does not exist.",
    discussion: """
      Reads JSON Lines, a JSON array or CouchDB's {"docs": […]}, detected by content. The id is the document's _id, or \
      the field named by --id, or it is generated; _rev is ignored. _attachments are imported with their data, as \
      written by export --attachments and by CouchDB. Files are read as a stream. The first invalid document ends the \
      import and is reported with its file, line and column: its batch is not written, but the batches before it are.

      --from-touchdb imports a datastore of CDTDatastore 2.x: documents with their whole revision trees, local \
      documents, attachments and indexes. Attachments and indexes are read from beside the file. The file is only read. \
      Importing again adds nothing.

      EXAMPLE
        $ printf 'name,age\\nann,7\\n' > more.csv
        $ cdtquery import people/contacts more.csv --format csv --id name
        1 imported
        $ cdtquery import people/contacts people.jsonl --on-conflict skip
        0 imported, 2 skipped
      """)

  @Argument(help: "The store, DIRECTORY/NAME.") var store: StoreArgument
  @OptionGroup var options: ImportOptions
  @Option(name: .customLong("from-touchdb"), help: "Import a datastore of CDTDatastore 2.x, NAME.touchdb.")
  var touchDB: String?

  func validate() throws {
    guard touchDB == nil || options.isEmpty else {
      throw ValidationError(
        "--from-touchdb imports one file and needs no other options; leave out other files, --format, --at, --id and --on-conflict"
      )
    }
  }

  func run() throws {
    if let touchDB {
      return try TouchDBImport(file: touchDB, batch: options.batch, continuesOnError: options.keepGoing)
        .run(into: store)
    }
    let progress = options.progress
    let reader = try options.reader(progress)
    var importer = DocumentImporter(into: try store.create())
    importer.onConflict = options.onConflict ?? .fail
    importer.onProgress = { progress.show($0) }
    defer { progress.clear() }
    try progress.finish(importer.run(reader))
  }
}
