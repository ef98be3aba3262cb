import Glibc

/// A bar for each operation, our time divided by that of SQLite by hand, and a dot for the best of other stores. The axis is logarithmic, so that twice as fast and half as
/// fast are equally long.
struct Plot {
  private struct Bar {
    let operation: Operation
    let ratio: Double
  }

  private let bars: [Bar]
  private let title: String

  /// The queries for the first time and the changes of one run.
  init(_ run: ComparisonReport.Run) {
    title = "Time in \(Spelling.count(run.documents)) documents, divided by that of hand-written SQLite"
    bars =
      run.first.map { Bar(operation: $0.operation, ratio: $0.yardstick.processorRatio) }
      + run.changes.map { Bar(operation: $0.operation, ratio: $0.yardstick.wallRatio) }
  }

  private static let left = 250
  private static let width = 340
  private static let height = 20
  private static let range = 4.0

  var svg: String {
    let bottom = 56 + bars.count * Self.height
    var lines = [
      #"<svg xmlns="http://www.w3.org/2000/svg" width="660" height="\#(bottom + 44)" font-family="sans-serif" font-size="12" role="img">"#,
      "<title>\(title)</title>",
      """
      <style>text { fill: #24292f } line { stroke: #8c959f } .faster { fill: #1a7f37 } .slower { fill: #bc4c00 } circle { fill: none; stroke: #24292f; stroke-width: 2 }
      @media (prefers-color-scheme: dark) { text { fill: #e6edf3 } line { stroke: #6e7681 } .faster { fill: #3fb950 } .slower { fill: #db6d28 } circle { stroke: #e6edf3 } }</style>
      """,
      #"<text x="10" y="20" font-weight="bold">\#(title)</text>"#,
    ]
    for (number, bar) in bars.enumerated() {
      let top = 40 + number * Self.height
      let (from, to) = (Self.x(min(1, bar.ratio)), Self.x(max(1, bar.ratio)))
      let kind = bar.ratio <= 1 ? "faster" : "slower"
      lines += [
        #"<text x="\#(Self.left - 12)" y="\#(top + 14)" text-anchor="end">\#(bar.operation.title)</text>"#,
        #"<rect class="\#(kind)" x="\#(from)" y="\#(top + 3)" width="\#(max(1, to - from))" height="\#(Self.height - 6)"/>"#,
        #"<text x="\#(Self.left + Self.width + 10)" y="\#(top + 14)">\#(Spelling.number(bar.ratio))</text>"#,
      ]
      if let peer = Peer.best(in: bar.operation) {
        lines += [
          #"<circle cx="\#(Self.x(peer.ratio))" cy="\#(top + Self.height / 2)" r="4">"#,
          "<title>\(peer.name): \(Spelling.number(peer.ratio))</title></circle>",
        ]
      }
    }
    for (ratio, name) in [(0.25, "4 × faster"), (0.5, "2 ×"), (1, "equal"), (2, "2 ×"), (4, "4 × slower")] {
      let x = Self.x(ratio)
      lines += [
        #"<line x1="\#(x)" y1="36" x2="\#(x)" y2="\#(bottom - 8)" stroke-dasharray="\#(ratio == 1 ? "none" : "2 4")"/>"#,
        #"<text x="\#(x)" y="\#(bottom + 10)" text-anchor="middle">\#(name)</text>"#,
      ]
    }
    lines += [
      #"<circle cx="\#(Self.left)" cy="\#(bottom + 26)" r="4"/>"#,
      #"<text x="\#(Self.left + 10)" y="\#(bottom + 30)">the best of PostgreSQL, Couchbase Lite and EJDB2, as published</text>"#,
    ]
    return (lines + ["</svg>"]).joined(separator: "\n") + "\n"
  }

  /// The position of a ratio on the axis; one beyond its ends is at the end.
  private static func x(_ ratio: Double) -> Int {
    let part = (1 + log(min(range, max(1 / range, ratio))) / log(range)) / 2
    return left + Int((part * Double(width)).rounded())
  }
}
