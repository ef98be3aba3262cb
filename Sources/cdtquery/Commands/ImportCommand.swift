import ArgumentParser
import CDTCommandLine
import CDTDatastore
import CDTImport

struct ImportCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "import",
    abstract: "Import documents into a store, which is created if it does not exist.",
    discussion: """
      Reads JSON objects, one after another or in arrays, tables with a header line (by the name of the file, or --format \
      csv), dumps of CouchDB and its tools ({"docs": […]}, _all_docs and _changes with documents, couchbackup, \
      pouchdb-dump), and what mongoexport writes; any of them compressed by gzip. What was recognized is said on standard \
      error; --format decides otherwise. The id is the document's _id, or the field at the path given by --id, or it is \
      generated. _attachments are imported with their data, as written by export --attachments and by CouchDB.

      Files are read as a stream. The first invalid document ends the import and is reported with its file, line and \
      column: its batch is not written, but the batches before it are. If nothing was written, a store that was created \
      is removed.

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

  @Argument(help: "The store, DIRECTORY/NAME.") var store: StoreArgument
  @OptionGroup var options: ImportOptions
  @Option(name: .customLong("from-touchdb"), help: "Import a datastore of CDTDatastore 2.x, NAME.touchdb.")
  var touchDB: String?

  func validate() throws {
    guard touchDB == nil || options.isEmpty else {
      throw ValidationError(
        "--from-touchdb imports one file and needs no other options; leave out other files, and the options for them"
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
    defer { progress.clear() }
    try store.withCreated { datastore in
      var importer = DocumentImporter(into: datastore)
      importer.onConflict = options.onConflict ?? .fail
      importer.ignoresRevisions = options.force
      importer.onProgress = { progress.show($0) }
      try progress.finish(importer.run(reader))
    }
  }
}
