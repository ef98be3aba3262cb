import ArgumentParser
import CDTImport

/// The options for printing documents.
struct OutputOptions: ParsableArguments {
  @Option(help: "The format of documents; auto is a table on a terminal, else jsonl. (default: jsonl)")
  var format: ResultFormat?
  @Flag(help: "Print JSON over several lines, with indentation.") var pretty = false
  @Flag(help: "Leave out _rev.") var noRev = false
  @Flag(help: "Print the fields of objects in columns of their own, as in pet.species.") var flatten = false

  init() {}

  var isEmpty: Bool { format == nil && !pretty && !noRev && !flatten }

  func validate() throws {
    try refuse([
      "--pretty is for JSON; leave it out with --format \(format?.rawValue ?? "")":
        pretty && format?.isJSON == false,
      "--flatten is for tables; give --format table, csv or tsv":
        flatten && format?.isJSON != false,
    ])
  }
}
