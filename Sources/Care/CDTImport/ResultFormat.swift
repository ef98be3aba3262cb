/// The format of results, which commands print, export and download.
package enum ResultFormat: String, CaseIterable, Sendable {
  case jsonl, json, table, csv, tsv, auto

  package var isJSON: Bool { [.jsonl, .json].contains(self) }

  /// The lines of a format of separated values; `nil` for any other.
  package var separatedValues: CSVText? {
    switch self {
    case .csv: CSVText(separator: ",")
    case .tsv: CSVText(separator: "\t")
    case .jsonl, .json, .table, .auto: nil
    }
  }
}
