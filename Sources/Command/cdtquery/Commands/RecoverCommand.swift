import ArgumentParser
import CDTDatastore
import CDTJSON
import CDTPlatform
import CDTQuery
import CDTRecovery

struct RecoverCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "recover",
    abstract: "Save what can be read from a damaged store in a new one, and print what can't.",
    discussion: """
      Reads the files of the damaged store page by page, without changing them, and saves every document, revision \
      and attachment that is whole in TARGET, which must not exist, and does not until everything is saved. Where the newest revision of a branch can't be \
      read, its newest readable ancestor takes its place. The indexes are created again. Each loss is one line, like a \
      finding of check. The exit code is 1 if anything was lost.

      EXAMPLE
        $ cdtquery recover people/contacts people/saved
        cdtquery: saved 2 documents, 2 revisions, 0 attachments; 0 losses
      """)

  @Argument(help: "The damaged store, DIRECTORY/NAME.") var store: StoreArgument
  @Argument(help: "The store to create, DIRECTORY/NAME.") var target: StoreArgument
  @OptionGroup var key: KeyOptions
  @Flag(help: "Print only losses, without progress.") var quiet = false

  func run() throws {
    guard try Self.kind(of: store) == .directory else { throw store.missing }
    try StoreDraft.check(target)
    let progress = ProgressBar(noun: "pages and documents", isQuiet: quiet)
    defer { progress.clear() }
    let report = try recover { progress.show($0, of: $1) }
    progress.clear()
    for loss in report.losses { try CheckCommand.write(loss, isRepaired: false) }
    try Output.standard.flush()
    if !quiet { Message.write("cdtquery: " + Self.summary(report)) }
    if !report.losses.isEmpty { throw ExitStatus.findings }
  }

  private static func kind(of store: StoreArgument) throws(ToolError) -> FileStatus.Kind? {
    try ToolError.perform("read", store.path) { () throws(SystemError) in try Files.kind(of: store.path) }
  }

  private func recover(_ progress: (_ done: Int, _ total: Int) -> Void) throws -> RecoveryReport {
    try StoreDraft(of: target, purpose: "recovering").fill { saved in
      var report = try saved.recoverDocuments(from: store.path, progress: progress)
      report.losses += try saved.recoverIndexes(from: store.path)
      return report
    }
  }

  private static func summary(_ report: RecoveryReport) -> String {
    "saved \(report.documents) documents, \(report.revisions) revisions, \(report.attachments) attachments; "
      + "\(report.losses.count) losses"
  }
}
