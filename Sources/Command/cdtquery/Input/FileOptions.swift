import ArgumentParser
import CDTImport
import CDTPlatform
import CDTQuery

/// The options for reading the documents of a file.
struct FileOptions: ParsableArguments {
  @Option(
    name: .customLong("at"),
    help:
      "Read the array or object of documents at this path of a single object, as in data.people; . is the object itself. Of several objects, read the document at this path of each."
  )
  var path: String?
  @Option(
    name: .customLong("id"), help: "The field to use as the id of documents without _id, as in customer.id.")
  var idPath: String?
  @Option(
    help:
      "What to do with fields such as _links, whose names are reserved: fail, rename (to x_links) or drop. (default: fail)"
  )
  var reserved: DocumentImporter.ReservedNames?
  @Option(help: "The character between the cells of a table, if the header does not show it.")
  var delimiter: String?
  @Option(help: "Columns whose cells stay text, as in zip,color; * is every column.")
  var textColumns: String?
  @Flag(help: "Keep dots in the names of columns; otherwise pet.name is a field of the object pet.")
  var flat = false
  @Flag(help: "Read quoted cells that are numbers as numbers.") var quotedNumbers = false
  @Flag(help: "Read numbers with a comma in place of the decimal point, as in 3,5.") var decimalComma = false
  @Flag(help: "Leave out spaces around cells, also around quoted ones.") var trim = false
  @Option(help: "Leave out this many lines before the header of a table.") var skipLines: Int?

  init() {}

  var isEmpty: Bool { path == nil && idPath == nil && reserved == nil && !hasTableOptions }

  private var hasTableOptions: Bool {
    delimiter != nil || textColumns != nil || flat || quotedNumbers || decimalComma || trim
      || skipLines != nil
  }

  func check(_ format: DocumentImporter.Format) throws {
    try refuse([
      "--at is a path in JSON; leave it out for the format \(format.rawValue)":
        path != nil && [.csv, .tsv].contains(format),
      "--delimiter and the other options of tables can't be used for JSON; leave them out":
        hasTableOptions && (path != nil || ![.automatic, .csv, .tsv].contains(format)),
      "--delimiter must be an ASCII character other than a quotation mark, or tab":
        delimiter.map { DocumentImporter.TableOptions.delimiter($0) == nil } ?? false,
      "--skip-lines must be a whole number, 0 or more": (skipLines ?? 0) < 0,
    ])
  }

  private var table: DocumentImporter.TableOptions {
    var table = DocumentImporter.TableOptions()
    table.delimiter = delimiter.flatMap(DocumentImporter.TableOptions.delimiter)
    table.textColumns = textColumns?.splitBytes(at: ",").map(\.withoutOuterSpaces) ?? []
    table.isFlat = flat
    table.readsQuotedNumbers = quotedNumbers
    table.hasDecimalComma = decimalComma
    table.trimsSpaces = trim
    table.skippedLines = skipLines ?? 0
    return table
  }

  /// - Parameter format: The format of the files.
  func apply(to reader: inout ImportReader, format: DocumentImporter.Format) throws {
    reader.format = format
    // Table options mean that the files are tables, whatever their names.
    if hasTableOptions, format == .automatic { reader.format = .csv }
    reader.table = table
    reader.reservedNames = reserved ?? .fail
    reader.path = try path.map { $0 == "." ? [] : try Self.names(onPath: $0, of: "--at") }
    reader.idPath = try idPath.map { try Self.names(onPath: $0, of: "--id") } ?? []
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

  /// Detects a mistyped name before anything is read or created.
  static func checkReadable(_ file: String) throws(ToolError) {
    guard !DatabaseArgument.isURL(file) else {
      throw ToolError(
        .usage,
        "\(file) is an address, and import reads files; pipe it in: curl -fL '\(file)' | cdtquery import STORE -"
      )
    }
    do {
      if file != "-" { try Files.checkReadable(file) }
    } catch {
      throw .unreadable(file, error)
    }
  }
}

/// The options for a query of a file.
struct QueriedFileOptions: ParsableArguments {
  @Option(help: "The format of a file that is read in place of the store.")
  var inputFormat = DocumentImporter.Format.automatic
  @OptionGroup var file: FileOptions

  init() {}

  var isEmpty: Bool { inputFormat == .automatic && file.isEmpty }

  func validate() throws { try file.check(inputFormat) }
}
