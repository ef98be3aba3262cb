import CDTDatastore
import CDTImport
import CDTPlatform

/// The progress and the notices of an import, on standard error.
struct ImportProgress: Sendable {
  private let bar: ProgressBar

  /// Whether only errors are written.
  private let isQuiet: Bool

  init(of files: [String], isQuiet: Bool) {
    bar = ProgressBar(total: Self.size(of: files), noun: "documents", isQuiet: isQuiet)
    self.isQuiet = isQuiet
  }

  /// The total size of the files, or `nil` if the size of one is unknown.
  private static func size(of files: [String]) -> Int64? {
    var total: Int64 = 0
    for file in files {
      guard file != "-", let length = try? Files.length(of: file) else { return nil }
      total += length
    }
    return total
  }

  func show(_ report: DocumentImporter.Report) {
    bar.show(count: report.written + report.skipped, done: report.bytes)
  }

  func report(_ message: String) {
    bar.clear()
    Message.write("cdtquery: \(message)")
  }

  func clear() { bar.clear() }

  /// Writes the summary.
  ///
  /// - Throws: ``ExitStatus`` if documents were invalid, or were not replaced because they have changed.
  func finish(_ report: DocumentImporter.Report) throws(ExitStatus) {
    bar.clear()
    if !isQuiet { Message.write(Self.summary(report)) }
    if report.failed > 0 || report.stale > 0 { throw .data }
  }

  private static func summary(_ report: DocumentImporter.Report) -> String {
    var parts = ["\(report.imported) imported"]
    if report.replaced > 0 { parts.append("\(report.replaced) replaced") }
    if report.skipped > 0 { parts.append("\(report.skipped) skipped") }
    if report.stale > 0 { parts.append("\(report.stale) stale") }
    if report.failed > 0 { parts.append("\(report.failed) failed") }
    return parts.joined(separator: ", ")
  }
}
