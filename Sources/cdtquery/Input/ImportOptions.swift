public import ArgumentParser
import CDTDatastore
public import CDTImport
import CDTJSON
import CDTPlatform
import CDTQuery

/// What an import reads, and how.
struct ImportOptions: ParsableArguments {
  @Argument(help: "Files to read; - is standard input, the default.") var files: [String] = []
  @Option(help: "auto, or what the files are: json, csv, tsv, couchdb or mongodb.")
  var format = DocumentImporter.Format.automatic
  @Option(
    name: .customLong("at"),
    help:
      "Import the array or object of documents at this path of a single object, as in data.people; . is the object itself."
  )
  var path: String?
  @Option(
    name: .customLong("id"), help: "The field to use as the id of documents without _id, as in customer.id.")
  var idPath: String?
  @Option(help: "What separates the cells of a table, if not what the header has.")
  var delimiter: String?
  @Option(help: "Columns whose cells stay text, as in zip,color; * is every column.")
  var textColumns: String?
  @Flag(help: "Keep dots in the names of columns; otherwise pet.name is a field of the object pet.")
  var flat = false
  @Option(help: "What to do if a document exists: fail, skip or replace. (default: fail)")
  var onConflict: DocumentImporter.ConflictRule?
  @Flag(help: "Replace documents also if they have changed since the _rev in the file.") var force =
    false
  @Option(help: "The maximum number of documents (revisions with --from-touchdb) to write at once.")
  var batch = 1_000
  @Flag(help: "Report invalid documents and continue.") var keepGoing = false

  init() {}

  /// Whether the files, and what is in them, are left to the command.
  var isEmpty: Bool {
    files.isEmpty && path == nil && idPath == nil && onConflict == nil && format == .automatic && !force
      && !hasTableOptions
  }

  private var hasTableOptions: Bool { delimiter != nil || textColumns != nil || flat }

  func validate() throws {
    guard batch > 0 else { throw ValidationError("--batch must be a whole number, 1 or more") }
    guard path == nil || format != .csv && format != .tsv else {
      throw ValidationError("--at is a path in JSON; leave it out with --format \(format.rawValue)")
    }
    guard !hasTableOptions || [.automatic, .csv, .tsv].contains(format) && path == nil else {
      throw ValidationError("--delimiter, --text-columns and --flat are for tables; leave them out")
    }
    guard !force || onConflict == .replace else {
      throw ValidationError("--force is for --on-conflict replace; add that, or leave out --force")
    }
    if let delimiter {
      guard Self.delimiter(delimiter) != nil else {
        throw ValidationError("--delimiter must be one ASCII character, but no quotation mark, or tab")
      }
    }
  }

  private static func delimiter(_ text: String) -> Character? {
    if text == "tab" || text == "\\t" { return "\t" }
    guard text.utf8.count == 1, let delimiter = text.first, !"\"\r\n".contains(delimiter) else { return nil }
    return delimiter
  }

  private var table: DocumentImporter.TableOptions {
    var table = DocumentImporter.TableOptions()
    table.delimiter = delimiter.flatMap(Self.delimiter)
    table.textColumns = textColumns?.splitBytes(at: ",").map(\.withoutOuterSpaces) ?? []
    table.isFlat = flat
    return table
  }

  /// The files to read; `-` is standard input.
  var inputs: [String] { files.isEmpty ? ["-"] : files }

  /// The progress of an import of the files.
  var progress: ImportProgress { ImportProgress(of: inputs) }

  /// A reader of the files, which reports invalid documents.
  func reader(_ progress: ImportProgress) throws -> ImportReader {
    var reader = ImportReader(inputs)
    reader.format = format
    // Table options mean that the files are tables, whatever their names.
    if hasTableOptions, format == .automatic { reader.format = .csv }
    reader.table = table
    reader.path = try path.map { $0 == "." ? [] : try Self.names(onPath: $0, of: "--at") }
    reader.idPath = try idPath.map { try Self.names(onPath: $0, of: "--id") } ?? []
    reader.batchSize = batch
    reader.continuesOnError = keepGoing
    reader.onInvalidDocument = { progress.report("\($0)") }
    reader.onNotice = { progress.report($0) }
    for file in inputs { try Self.checkReadable(file) }
    return reader
  }

  private static func names(onPath path: String, of option: String) throws -> [String] {
    do throws(FieldPath.Fault) {
      return try FieldPath(path, allowsDollar: true).segments.map { String(decoding: $0.name, as: UTF8.self) }
    } catch {
      throw ToolError(
        .usage,
        "\"\(path)\" is not a path for \(option); give one such as data.people, with \\. for a dot in a name")
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
}

extension DocumentImporter.Format: ExpressibleByArgument {}
extension DocumentImporter.ConflictRule: ExpressibleByArgument {}
