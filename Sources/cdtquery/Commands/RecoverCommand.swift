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
  @Flag(help: "Print only losses, without progress.") var quiet = false

  func run() throws {
    guard try Self.kind(of: store) == .directory else { throw store.missing }
    guard try Self.kind(of: target) == nil else {
      throw ToolError(.cantCreate, "\(target.path) exists already; name a store that does not")
    }
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

  /// Saves the store in a directory beside TARGET, and moves it when it is whole.
  private func recover(_ progress: (_ done: Int, _ total: Int) -> Void) throws -> RecoveryReport {
    try removeAbandonedDrafts()
    let (directory, lock) = try makeLockedDirectory()
    defer { withExtendedLifetime(lock) {} }
    let draft = StoreArgument(directory: directory, name: target.name)
    let report: RecoveryReport
    do {
      report = try save(in: draft, progress)
      try ToolError.perform("create", target.path) { () throws(SystemError) in
        try Files.rename("\(draft.directory)/\(draft.name)", to: "\(target.directory)/\(target.name)")
      }
    } catch {
      // A draft on a full disk would keep it full.
      try? removeTree(draft.directory)
      throw error
    }
    // All is saved, and the next run removes what can't be removed now.
    try? Files.synchronizeDirectory(of: draft.directory)
    try? removeTree(draft.directory)
    return report
  }

  private func save(
    in draft: StoreArgument, _ progress: (_ done: Int, _ total: Int) -> Void
  ) throws -> RecoveryReport {
    let (manager, saved) = try draft.createWithManager()
    // Also after an error: what is open keeps its space.
    defer { try? manager.closeDatastore(named: draft.databaseName) }
    var report = try saved.recoverDocuments(from: store.path, progress: progress)
    report.losses += try saved.recoverIndexes(from: store.path)
    return report
  }

  private var draftPrefix: String { ".\(target.name).recovering-" }

  /// Makes the directory of a draft, and locks it. If another run removes it before it is locked, another is made.
  private func makeLockedDirectory() throws -> (path: String, lock: OpenFile) {
    while true {
      let path = "\(target.directory)/\(draftPrefix)\(RandomID.uuid())"
      var lock: OpenFile?
      try ToolError.perform("create", path) { () throws(SystemError) in
        try Files.makeDirectory(path)
        do throws(SystemError) {
          let directory = try OpenFile(path, for: .reading)
          if try directory.lock(), try directory.hasName() { lock = directory }
        } catch {
          guard error.isMissing else { throw error }
        }
      }
      if let lock { return (path, lock) }
    }
  }

  /// Removes what earlier runs to the same TARGET have left that were interrupted: they are not locked, and have a store
  /// at most.
  private func removeAbandonedDrafts() throws {
    for name in (try? Files.names(in: target.directory)) ?? [] {
      guard let id = name.afterBytePrefix(draftPrefix), UUID(uuidString: id) != nil else { continue }
      let path = "\(target.directory)/\(name)"
      guard (try? Files.kind(of: path, followsLinks: false)) == .directory,
        let directory = try? OpenFile(path, for: .reading), (try? directory.lock()) == true,
        let content = try? Files.names(in: path), content.allSatisfy({ $0.hasSameBytes(as: target.name) })
      else { continue }
      try removeTree(path)
      withExtendedLifetime(directory) {}
    }
  }

  private func removeTree(_ path: String) throws {
    try ToolError.perform("remove", path) { () throws(SystemError) in try Files.removeTree(path) }
  }

  private static func summary(_ report: RecoveryReport) -> String {
    "saved \(report.documents) documents, \(report.revisions) revisions, \(report.attachments) attachments; "
      + "\(report.losses.count) losses"
  }
}
