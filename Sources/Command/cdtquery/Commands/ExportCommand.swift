import ArgumentParser
import CDTDatastore
import CDTImport
import CDTJSON
import CDTQuery

struct ExportCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "export",
    abstract: "Write every document, by id, with _id and _rev.",
    discussion: """
      Writes JSON Lines, or CSV with a column for each field if the name of the file ends with .csv, or with tabs if it \
      ends with .tsv. With --attachments, each document includes its attachments as CouchDB's _attachments, with base64 \
      content. One whose content is missing or damaged is left out and named, a former file is kept as FILE.complete, and the exit code \
      is 1. The import command reads these formats. A database at a server is written as JSON Lines.

      EXAMPLE
        $ cdtquery export people/contacts
        {"_id":"mike","_rev":"1-dc7c404fb82b5e0160f925a3aaa9534b","age":36}
        {"_id":"zoe","_rev":"1-6becd5b6af2701a6fe53470157b9e47d","age":12}
        $ cdtquery export people/contacts contacts.jsonl
      """)

  /// The format of an export.
  enum Format: String, ExpressibleByArgument, CaseIterable {
    case jsonl, csv, tsv
  }

  @Argument(help: DatabaseArgument.help) var database: DatabaseArgument
  @OptionGroup var key: KeyOptions
  @OptionGroup var user: UserOptions
  @Argument(help: "The file to write; - is standard output.") var file = "-"
  @Option(help: "jsonl, csv or tsv. (default: by the name of the file, else jsonl)") var format: Format?
  @Flag(help: "Write the documents' attachments too.") var attachments = false
  @OptionGroup var server: ServerOptions

  func validate() throws {
    let program = format == nil ? ending.flatMap { Self.compressors[$0] } : nil
    try refuse([
      "attachments can be written as JSON only; leave out --attachments, or give --format jsonl":
        attachments && chosen != .jsonl,
      "a database at a server is written as JSON Lines only; for a table, use find --format \(chosen.rawValue)":
        database.isURL && chosen != .jsonl,
      "an export is JSON Lines, CSV or TSV; name the file so, or give --format":
        format == nil && ["xlsx", "xls", "ods", "parquet"].contains(ending),
      "an export is not compressed; write it to - and pipe it through \(program ?? "")": program != nil,
    ])
  }

  private static let compressors = [
    "gz": "gzip", "bz2": "bzip2", "xz": "xz", "zst": "zstd", "zip": "zip",
  ]

  /// The file name extension.
  private var ending: String? {
    let parts = (file.splitBytes(at: "/").last ?? "").splitBytes(at: ".")
    return parts.count > 1 ? parts.last?.lowercased() : nil
  }

  private var chosen: Format { format ?? ending.flatMap(Format.init) ?? .jsonl }

  func run() throws {
    if case .store(let store) = database, server.isEmpty,
      let csv = ResultFormat(rawValue: chosen.rawValue)?.separatedValues
    {
      return try write(store.open(), as: csv)
    }
    let database = try database.open(server)
    try database.check()
    let output = try Output.opening(file)
    var isWhole = true
    try database.export(
      withAttachments: attachments,
      onLoss: { loss in
        isWhole = false
        Message.write("cdtquery: \(loss); it was left out")
      },
      { text in
        // A file gets the text as it is.
        if file == "-" { try output.json(text) } else { try output.line(text) }
      })
    let former = try output.finish(keepsFormer: !isWhole)
    if isWhole { return }
    if let former { Message.write("cdtquery: the last export with all attachments was kept as \(former)") }
    throw ExitStatus.findings
  }

  /// Reads the documents twice in one state, first for the columns.
  private func write(_ datastore: Datastore, as csv: CSVText) throws {
    try datastore.read { snapshot in
      func forEachRow(_ body: (JSONObject) throws -> Void) throws {
        try snapshot.forEachJSON(.everything) { try body(JSONObject(parsing: $0)) }
      }
      let columns = try ResultColumns(fields: [], forEachRow)
      let output = try Output.opening(file)
      try csv.write(columns, forEachRow) { try output.line($0) }
      try output.finish()
    }
  }
}
