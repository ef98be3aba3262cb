import ArgumentParser
import CDTJSON
import CDTQuery

struct DescribeCommand: QueryingCommand {
  static let configuration = CommandConfiguration(
    commandName: "describe",
    abstract: "Print the fields of the documents, with their types and values.",
    usage: "cdtquery describe <store> [<options>]",
    discussion: """
      Reads every document. tags[] are the elements of the array tags. A field is in a share of the documents; ~ marks a number of \
      distinct values that is estimated (above 500; the standard error is 2.3 %). Indexes are proposed for a store of 1,000 documents or more: \
      for fields of which a value finds few documents. If there are more than 1,000 fields, or 200 in one object, the others are only counted.

      EXAMPLE
        $ cdtquery describe people/contacts
        2 documents
        …
        field  in     types   distinct  examples
        ─────  ─────  ──────  ────────  ────────
        age    100 %  number  2         36, 12
      """)

  enum Format: String, ExpressibleByArgument, CaseIterable {
    case table, json
  }

  @Argument(help: DatabaseArgument.queryHelp) var database: DatabaseArgument
  @Option(help: "table, or json for the fields as data.") var format = Format.table
  @OptionGroup var file: QueriedFileOptions
  @OptionGroup var key: KeyOptions
  @OptionGroup var user: UserOptions
  @OptionGroup var server: ServerOptions

  func run() throws {
    let summary = try summary()
    let neverExpiring = try neverExpiring()
    guard format == .table else {
      var json = summary.json
      if !neverExpiring.isEmpty { json["neverExpiring"] = .array(neverExpiring.map { .string($0) }) }
      return try Output.standard.line(json.text)
    }
    try Output.standard.line("\(summary.documents) \(summary.documents == 1 ? "document" : "documents")")
    if !summary.fields.isEmpty { try write(summary) }
    if summary.omittedFields > 0 {
      try Output.standard.line("\nabout \(summary.omittedFields) more fields are left out")
    }
    for line in neverExpiring { try Output.standard.line("\n\(line)") }
    if case .store(let store) = database, store.state != nil { return }
    for (number, proposal) in summary.proposedIndexes.enumerated() {
      if number == 0 { try Output.standard.line("\nindexes that may help:") }
      try Output.standard.line(SuggestedIndex.command([SortField(proposal.field)], store: path))
      try Output.standard.line("  \(proposal.reason)")
    }
  }

  /// The indexes by which documents never expire, as their dates are not valid.
  private func neverExpiring() throws -> [String] {
    guard case .store(let store) = database, file.isEmpty, server.isEmpty else { return [] }
    return try store.open().documentsThatNeverExpire().map(\.description)
  }

  private func summary() throws -> FieldSummary {
    if case .store(let store) = database, file.isEmpty, server.isEmpty {
      return try store.open().summarizeFields()
    }
    var scan = FieldScan()
    try open(database).results(for: Query([:])).forEachJSON { scan.add($0) }
    // What is not a store has no indexes that are known here.
    return scan.summary(indexed: nil)
  }

  private var path: String {
    if case .store(let store) = database { store.path } else { "STORE" }
  }

  private func write(_ summary: FieldSummary) throws {
    let rows = summary.fields.map { field in
      let types = field.types.sorted { ($1.value, $0.key) < ($0.value, $1.key) }.map(\.key)
      let distinct = field.distinct == 0 ? "" : "\(field.isDistinctExact ? "" : "~")\(field.distinct)"
      return [
        field.path, Self.share(field.documents, of: summary.documents), types.joined(separator: ", "),
        distinct,
        field.examples.map(\.text).joined(separator: ", "),
      ]
    }
    try Output.standard.line("")
    let header = ["field", "in", "types", "distinct", "examples"]
    let table = TextTable(header: header, rows: rows, width: Terminal.columns)
    try table.write()
    guard table.omitted > 0 else { return }
    try Output.standard.flush()
    Message.write("cdtquery: the terminal is too narrow for \(table.omitted) more columns; see --format json")
  }

  private static func share(_ count: Int, of all: Int) -> String {
    let percent = Double(count) * 100 / Double(all)
    return percent > 0 && percent < 1 ? "<1 %" : "\(Int(percent)) %"
  }
}
