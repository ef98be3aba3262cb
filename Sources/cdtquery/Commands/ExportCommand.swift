import ArgumentParser
import CDTCommandLine
import CDTDatastore
import CDTJSON
import CDTQuery

struct ExportCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "export",
    abstract: "Write every document, by id, with _id and _rev.",
    discussion: """
      Writes JSON Lines, or CSV with a column for each field if the name of the file ends with .csv, or with tabs if it \
      ends with .tsv. With --attachments, each document includes its attachments as CouchDB's _attachments, with base64 \
      content. The import command reads these formats.

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

  @Argument(help: "The store, DIRECTORY/NAME.") var store: StoreArgument
  @Argument(help: "The file to write; - is standard output.") var file = "-"
  @Option(help: "jsonl, csv or tsv. (default: by the name of the file, else jsonl)") var format: Format?
  @Flag(help: "Write the documents' attachments too.") var attachments = false

  func validate() throws {
    guard !attachments || chosen == .jsonl else {
      throw ValidationError(
        "attachments can be written as JSON only; leave out --attachments, or give --format jsonl")
    }
    if format == nil, let ending, let program = Self.compressors[ending] {
      throw ValidationError("an export is not compressed; write it to - and pipe it through \(program)")
    }
  }

  private static let compressors = [
    "gz": "gzip", "bz2": "bzip2", "xz": "xz", "zst": "zstd", "zip": "zip",
  ]

  /// What follows the last dot of the file's name.
  private var ending: String? {
    let parts = (file.splitBytes(at: "/").last ?? "").splitBytes(at: ".")
    return parts.count > 1 ? parts.last?.lowercased() : nil
  }

  private var chosen: Format { format ?? ending.flatMap(Format.init) ?? .jsonl }

  func run() throws {
    let datastore = try store.open()
    let query = try Query([:], sort: ["_id"])
    switch chosen {
    case .jsonl:
      let documents = try datastore.results(for: query)
      try Output.writing(to: file) { output in
        try documents.forEachJSON(inliningAttachments: attachments) { try output.line($0) }
      }
    case .csv: try write(query, of: datastore, as: CSVText(separator: ","))
    case .tsv: try write(query, of: datastore, as: CSVText(separator: "\t"))
    }
  }

  /// Reads the documents twice in one state, first for the columns.
  private func write(_ query: Query, of datastore: Datastore, as csv: CSVText) throws {
    try datastore.read { snapshot in
      var columns = try ResultColumns()
      try snapshot.forEachJSON(query) { columns.add(try JSONObject(parsing: $0)) }
      try Output.writing(to: file) { output in
        try output.line(csv.line(columns.paths))
        try snapshot.forEachJSON(query) {
          try output.line(csv.line(columns.values(of: JSONObject(parsing: $0))))
        }
      }
    }
  }
}
