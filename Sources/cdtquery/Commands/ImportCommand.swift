public import ArgumentParser
import CDTCommandLine
public import CDTDatastore
import CDTPlatform
import CDTQuery

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
  @Argument(help: "Files to read; - is standard input, the default.") var files: [String] = []
  @Option(help: "json, or csv with a header line.") var format = DocumentImporter.Format.json
  @Option(
    name: .customLong("at"), help: "Import the array at this path of a single object, as in data.people.")
  var path: String?
  @Option(name: .customLong("id"), help: "The field to use as the id of documents without _id.")
  var idField: String?
  @Option(help: "What to do if a document exists: fail, skip or replace. (default: fail)")
  var onConflict: DocumentImporter.ConflictRule?
  @Option(help: "The maximum number of documents (revisions with --from-touchdb) per transaction.")
  var batch = 1_000
  @Option(name: .customLong("from-touchdb"), help: "Import a datastore of CDTDatastore 2.x, NAME.touchdb.")
  var touchDB: String?
  @Flag(help: "Report invalid documents and continue.") var keepGoing = false

  func validate() throws {
    guard batch > 0 else { throw ValidationError("--batch must be a whole number, 1 or more") }
    guard format == .json || path == nil else {
      throw ValidationError("--at is a path in JSON; leave it out with --format csv")
    }
    guard
      touchDB == nil
        || (files.isEmpty && path == nil && idField == nil && onConflict == nil && format == .json)
    else {
      throw ValidationError(
        "--from-touchdb imports one file and needs no other options; leave out other files, --format, --at, --id and --on-conflict"
      )
    }
  }

  func run() throws {
    if let touchDB {
      return try TouchDBImport(file: touchDB, batch: batch, continuesOnError: keepGoing).run(into: store)
    }
    let files = files.isEmpty ? ["-"] : files
    let path = try path.map(Self.names) ?? []
    for file in files { try Self.checkReadable(file) }
    var importer = DocumentImporter(into: try store.create())
    importer.format = format
    importer.arrayPath = path
    importer.idField = idField
    importer.onConflict = onConflict ?? .fail
    importer.batchSize = batch
    importer.continuesOnError = keepGoing
    let progress = ProgressBar(total: Self.size(of: files), noun: "documents")
    importer.onInvalidDocument = { problem in
      progress.clear()
      Message.write("cdtquery: \(problem)")
    }
    importer.onProgress = { progress.show(count: $0.written + $0.skipped, done: $0.bytes) }
    defer { progress.clear() }
    let report = try importer.run(files)
    progress.clear()
    Message.write(Self.summary(report))
    if report.failed > 0 { throw ExitStatus.data }
  }

  private static func names(onPath path: String) throws -> [String] {
    do throws(FieldPath.Fault) {
      return try FieldPath(path, allowsDollar: true).segments.map { String(decoding: $0.name, as: UTF8.self) }
    } catch {
      throw ToolError(
        .usage,
        "\"\(path)\" is not a path for --at; give one such as data.people, with \\. for a dot in a name")
    }
  }

  /// Detects a mistyped name before the store is created and other files are read.
  private static func checkReadable(_ file: String) throws(ToolError) {
    do {
      if file != "-" { try Files.checkReadable(file) }
    } catch {
      throw .unreadable(file, error)
    }
  }

  private static func summary(_ report: DocumentImporter.Report) -> String {
    var parts = ["\(report.imported) imported"]
    if report.replaced > 0 { parts.append("\(report.replaced) replaced") }
    if report.skipped > 0 { parts.append("\(report.skipped) skipped") }
    if report.failed > 0 { parts.append("\(report.failed) failed") }
    return parts.joined(separator: ", ")
  }

  /// The total size of the files, or `nil` if the size of one is unknown.
  private static func size(of files: [String]) -> Int64? {
    var total: Int64 = 0
    for file in files {
      guard file != "-", let length = try? Files.length(of: file) else { return nil }
      total += length
    }
    return total
  }
}

extension DocumentImporter.Format: ExpressibleByArgument {}
extension DocumentImporter.ConflictRule: ExpressibleByArgument {}
