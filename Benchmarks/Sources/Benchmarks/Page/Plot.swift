import Glibc

/// A bar for each operation: our time divided by that of SQLite by hand. The axis is logarithmic, so that twice as fast and half as
/// fast are equally long.
struct Plot {
  private struct Bar {
    let name: String
    let ratio: Double
  }

  private let bars: [Bar]
  private let title: String

  /// The queries for the first time and the changes of one run.
  init(_ run: ComparisonReport.Run) {
    title =
      "Time in \(Spelling.count(run.documents)) documents: CDTDatastore divided by hand-written SQLite"
    bars =
      run.first.map { Bar(name: Self.names[$0.operation] ?? "", ratio: $0.yardstick.processorRatio) }
      + run.changes.map { Bar(name: Self.names[$0.operation] ?? "", ratio: $0.yardstick.wallRatio) }
  }

  /// What a user would call the operations.
  private static let names: [Operation: String] = [
    .q1: "two fields, limit 25 (q1)", .q2: "one document by id (q2)",
    .q3: "sort without an index, top 50 (q3)",
    .q4: "ids of a tenth, no index (q4)", .q4i: "ids of a tenth, by index (q4i)",
    .q5: "element of an array, limit 100 (q5)", .q6a: "word in a text, limit 50 (q6a)",
    .q6b: "word in a text, all (q6b)", .q7: "$or, ids (q7)", .q8: "10,000 whole documents (q8)",
    .load: "load", .loadIndexed: "load with three indexes", .index: "build three indexes",
    .update: "one durable update", .maint: "update of one in a hundred",
  ]

  private static let left = 250
  private static let width = 340
  private static let height = 20
  private static let range = 4.0

  var svg: String {
    let bottom = 56 + bars.count * Self.height
    var lines = [
      #"<svg xmlns="http://www.w3.org/2000/svg" width="660" height="\#(bottom + 28)" font-family="sans-serif" font-size="12" role="img">"#,
      "<title>\(title)</title>",
      """
      <style>text { fill: #24292f } line { stroke: #8c959f } .faster { fill: #1a7f37 } .slower { fill: #bc4c00 }
      @media (prefers-color-scheme: dark) { text { fill: #e6edf3 } line { stroke: #6e7681 } .faster { fill: #3fb950 } .slower { fill: #db6d28 } }</style>
      """,
      #"<text x="10" y="20" font-weight="bold">\#(title)</text>"#,
    ]
    for (number, bar) in bars.enumerated() {
      let top = 40 + number * Self.height
      let (from, to) = (Self.x(min(1, bar.ratio)), Self.x(max(1, bar.ratio)))
      let kind = bar.ratio <= 1 ? "faster" : "slower"
      lines += [
        #"<text x="\#(Self.left - 12)" y="\#(top + 14)" text-anchor="end">\#(bar.name)</text>"#,
        #"<rect class="\#(kind)" x="\#(from)" y="\#(top + 3)" width="\#(max(1, to - from))" height="\#(Self.height - 6)"/>"#,
        #"<text x="\#(Self.left + Self.width + 10)" y="\#(top + 14)">\#(Spelling.number(bar.ratio))</text>"#,
      ]
    }
    for (ratio, name) in [(0.25, "4 × faster"), (0.5, "2 ×"), (1, "equal"), (2, "2 ×"), (4, "4 × slower")] {
      let x = Self.x(ratio)
      lines += [
        #"<line x1="\#(x)" y1="36" x2="\#(x)" y2="\#(bottom - 8)" stroke-dasharray="\#(ratio == 1 ? "none" : "2 4")"/>"#,
        #"<text x="\#(x)" y="\#(bottom + 10)" text-anchor="middle">\#(name)</text>"#,
      ]
    }
    return (lines + ["</svg>"]).joined(separator: "\n") + "\n"
  }

  /// Where a ratio is on the axis; one beyond its ends is at the end.
  private static func x(_ ratio: Double) -> Int {
    let part = (1 + log(min(range, max(1 / range, ratio))) / log(range)) / 2
    return left + Int((part * Double(width)).rounded())
  }
}
