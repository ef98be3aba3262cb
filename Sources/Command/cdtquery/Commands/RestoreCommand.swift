import ArgumentParser
import CDTBackup
import CDTDatastore
import CDTJSON
import CDTPlatform

struct RestoreCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "restore",
    abstract: "Restore a state of a backup in a new store, and print the state.",
    discussion: """
      Without --at it is the newest state. With a time, as in 2026-11-26T12:00:00Z, it is the last one that was saved \
      until then, with a number the last one without changes after this sequence. STORE must not exist, and does not until \
      everything is restored and compared with the backup's digests. An attachment that could not be saved in the backup is one line, like \
      a finding of check, and the exit code is then 1. The key of an encrypted backup is also that of the store.

      EXAMPLE
        $ cdtquery backup people/contacts saved > result
        $ cdtquery restore saved people/before
        {"sequence":2,"time":"…"}
        $ cdtquery verify people/contacts people/before
        {"documents":2,"differences":0}
      """)

  @Argument(help: "The directory of the backup.") var directory: String
  @Argument(help: "The store to create, DIRECTORY/NAME.") var store: StoreArgument
  @OptionGroup var key: KeyOptions
  @Option(help: "The time or the sequence of the state to restore. (default: the newest)") var at: String?
  @Flag(help: "Show no progress.") var quiet = false

  func validate() throws { _ = try point() }

  private func point() throws -> Backup.Point {
    guard let at else { return .newest }
    guard let point = Backup.Point(argument: at) else {
      throw ValidationError("--at must be a sequence, or a time as in 2026-11-26T12:00:00Z")
    }
    return point
  }

  func run() throws {
    try StoreDraft.check(store)
    let point = try point()
    let backup = try Backup(directory: directory, encryption: KeyOptions.storeOptions().encryption)
    let progress = ProgressBar(noun: "documents", isQuiet: quiet)
    defer { progress.clear() }
    let report = try StoreDraft(of: store, purpose: "restoring").fill { store in
      try store.restore(from: backup, at: point) { progress.show($0, of: $1) }
    }
    progress.clear()
    try Output.standard.line(BackupCommand.json(report.increment).text)
    for loss in report.losses { try CheckCommand.write(loss, isRepaired: false) }
    if !report.losses.isEmpty { throw ExitStatus.findings }
  }
}
