public import ArgumentParser
public import CDTDatastore
import CDTPlatform
import CDTQuery

struct ImportCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "import",
    abstract: "Bring documents into a store, which is created when it is missing.",
    discussion: """
      JSON Lines, a JSON array and CouchDB's {"docs": […]} are told apart by their content. The id is the document's \
      _id, or its field that --id names, or it is made; _rev is ignored. _attachments come with their \
      data, as export --attachments and CouchDB write them. Files are read as a stream. The first \
      document that can't be taken ends the import, with its file, line and column: the batch that it stands in is \
      not written, those before it are.

      --from-touchdb brings in a datastore of CDTDatastore 2.x: documents with their whole revision trees, local \
      documents, attachments and indexes. They are looked for beside the file, which is only read. Importing again adds \
      nothing.

      EXAMPLE
        $ printf 'name,age\\nann,7\\n' > more.csv
        $ cdtquery import people/contacts more.csv --format csv --id name
        1 imported
        $ cdtquery import people/contacts people.jsonl --on-conflict skip
        0 imported, 2 skipped
      """)

  @Argument(help: "The store, DIRECTORY/NAME.") var store: StoreArgument
  @Argument(help: "Files to read; - is standard input, which is also the default.") var files: [String] = []
  @Option(help: "json, or csv with a header line.") var format = Importer.Format.json
  @Option(name: .customLong("at"), help: "Take the array at this path of one big object, as in data.people.")
  var path: String?
  @Option(name: .customLong("id"), help: "The field to take the id from when there is no _id.")
  var idField: String?
  @Option(help: "What becomes of a document whose id is taken: fail, skip or replace; fail if left out.")
  var onConflict: Importer.ConflictRule?
  @Option(help: "How many documents, or revisions of --from-touchdb, to write in one transaction at most.")
  var batch = 1_000
  @Option(name: .customLong("from-touchdb"), help: "Take a datastore of CDTDatastore 2.x, NAME.touchdb.")
  var touchDB: String?
  @Flag(help: "Report documents that can't be taken, and go on.") var keepGoing = false

  func validate() throws {
    guard batch > 0 else { throw ValidationError("--batch is a whole number from 1") }
    guard format == .json || path == nil else {
      throw ValidationError("--at is a path in JSON; leave it out with --format csv")
    }
    guard
      touchDB == nil
        || (files.isEmpty && path == nil && idField == nil && onConflict == nil && format == .json)
    else {
      throw ValidationError(
        "--from-touchdb takes everything from its file; leave out other files, --format, --at, --id and --on-conflict"
      )
    }
  }

  func run() throws {
    if let touchDB {
      return try TouchDBImport(file: touchDB, batch: batch, keepsGoing: keepGoing).run(into: store)
    }
    let files = files.isEmpty ? ["-"] : files
    let path = try path.map(Self.names) ?? []
    for file in files { try Self.checkReadable(file) }
    var importer = Importer(into: try store.create())
    importer.format = format
    importer.path = path
    importer.idField = idField
    importer.onConflict = onConflict ?? .fail
    importer.batch = batch
    importer.keepsGoing = keepGoing
    let progress = ProgressBar(total: Self.size(of: files), noun: "documents")
    importer.onProblem = { problem in
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
        .usage, "\"\(path)\" is no path for --at; one looks like data.people, with \\. for a dot")
    }
  }

  /// A name that is mistyped is noticed before the store is made and the files before it are read.
  private static func checkReadable(_ file: String) throws(ToolError) {
    do {
      if file != "-" { try Files.checkReadable(file) }
    } catch {
      throw .unreadable(file, error)
    }
  }

  private static func summary(_ report: Importer.Report) -> String {
    var parts = ["\(report.imported) imported"]
    if report.replaced > 0 { parts.append("\(report.replaced) replaced") }
    if report.skipped > 0 { parts.append("\(report.skipped) skipped") }
    if report.failed > 0 { parts.append("\(report.failed) failed") }
    return parts.joined(separator: ", ")
  }

  /// The size of all files, or `nil` when one has none.
  private static func size(of files: [String]) -> Int64? {
    var total: Int64 = 0
    for file in files {
      guard file != "-", let length = Files.length(of: file) else { return nil }
      total += length
    }
    return total
  }
}

extension Importer.Format: ExpressibleByArgument {}
extension Importer.ConflictRule: ExpressibleByArgument {}
