import ArgumentParser
import CDTBackup
import CDTDatastore
import CDTJSON
import CDTPlatform

struct BackupCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "backup",
    abstract: "Back up what has changed since the last backup, and print what was saved.",
    discussion: """
      Saves one state of the store while others read and write it: all documents with conflicts, histories and \
      attachments the first time, and later what has changed. DIRECTORY is created if it does not exist. A run that is \
      interrupted leaves the backup as it was. An attachment whose content is missing or damaged is named on a line like those of \
      check, its document is saved without it, and the exit code is 1. restore brings each saved state back. The backup of an encrypted store is \
      encrypted, with the same key.

      With the URL of a database, DIRECTORY/mirror has a store that the database is first replicated to.

      --verify takes DIRECTORY alone, reads the whole backup, prints the states that it has, and what is damaged; the \
      exit code is 1 if anything is.

      EXAMPLE
        $ cdtquery backup people/contacts saved
        {"sequence":2,"time":"…","documents":2,"revisions":2,…}
        $ cdtquery backup --verify saved
        {"sequence":2,"time":"…"}
      """)

  @Argument(help: "The store, or the URL of a database; with --verify, the directory of a backup.")
  var source: String
  @Argument(help: "The directory of the backup.") var directory: String?
  @OptionGroup var key: KeyOptions
  @Flag(help: "Go on with new changes until the program is ended.") var follow = false
  @Flag(help: "Read the whole backup, and list what is damaged.") var verify = false
  @OptionGroup var server: ServerOptions
  @Flag(help: "Show no progress.") var quiet = false

  func validate() throws {
    if verify, directory != nil { throw ValidationError("--verify takes the directory of a backup alone") }
    if verify, follow { throw ValidationError("use either --verify or --follow") }
    if !verify, directory == nil { throw ValidationError("name the directory of the backup after the store") }
  }

  func run() throws {
    guard let directory else { return try verifyBackup() }
    guard !DatabaseArgument.isURL(source) else { return try backUpMirror(in: directory) }
    guard server.isEmpty else { throw ServerOptions.storeNeedsNone }
    let store = try StoreArgument(orURL: source).open()
    let report = try backUp(store, to: directory)
    guard follow else { return try Self.check(report) }
    let following = Task { try await Self.follow(store, to: directory, after: report.increment.sequence) }
    OutputWatch.whenClosed { following.cancel() }
    try waiting { try await following.value }
    if !following.isCancelled {
      throw ToolError(.missing, "the store \(source) was deleted, which ends its backup")
    }
  }

  /// Backs up what has changed, and prints what was saved.
  @discardableResult
  private func backUp(_ store: Datastore, to directory: String) throws -> BackupReport {
    let progress = ProgressBar(noun: "documents", isQuiet: quiet)
    defer { progress.clear() }
    let report = try store.backup(to: directory) { progress.show($0, of: $1) }
    progress.clear()
    try Self.write(report)
    return report
  }

  /// Backs up each change, at most once in a second.
  private static func follow(_ store: Datastore, to directory: String, after sequence: Int64) async throws {
    for try await _ in store.liveChanges(since: sequence) {
      let report = try await store.backup(to: directory)
      if report.bytes > 0 { try write(report) }
      try await Task.sleep(for: .seconds(1))
    }
  }

  private static func write(_ report: BackupReport) throws {
    var json = json(report.increment)
    json["documents"] = .int(Int64(report.documents))
    json["revisions"] = .int(Int64(report.revisions))
    json["attachments"] = .int(Int64(report.attachments))
    json["bytes"] = .int(report.bytes)
    try Output.standard.line(json.text)
    for loss in report.losses { try CheckCommand.write(loss, isRepaired: false) }
    try Output.standard.flush()
  }

  private static func check(_ report: BackupReport) throws {
    if !report.losses.isEmpty { throw ExitStatus.findings }
  }

  static func json(_ increment: Backup.Increment) -> JSONObject {
    ["sequence": .int(increment.sequence), "time": .string(ISO8601.text(of: increment.time) ?? "")]
  }

  private func verifyBackup() throws {
    guard server.isEmpty else { throw ServerOptions.storeNeedsNone }
    let backup = try Backup(directory: source, encryption: KeyOptions.storeOptions().encryption)
    let progress = ProgressBar(noun: "documents", isQuiet: quiet)
    defer { progress.clear() }
    let findings = try backup.verify { progress.show($0, of: $1) }
    progress.clear()
    for increment in try backup.increments() { try Output.standard.line(Self.json(increment).text) }
    for finding in findings { try CheckCommand.write(finding, isRepaired: false) }
    if !findings.isEmpty {
      try Output.standard.flush()
      throw ExitStatus.findings
    }
  }

  #if Replication
    /// Notes in a mirror which database it is of, or throws if it is of another one.
    private static func checkSource(of mirror: Datastore, is url: String) throws {
      let id = "backup-source"
      let known = try mirror.read { try $0.localDocument(withID: id)?["url"]?.stringValue }
      guard let known else {
        return try mirror.write { try $0.setLocalDocument(["url": .string(url)], withID: id) }
      }
      guard known.hasSameBytes(as: url) else {
        throw ToolError(
          .data, "the backup is of \(known); begin the backup of another database in a new directory")
      }
    }

    /// Backs up a store that the database is replicated to.
    private func backUpMirror(in directory: String) throws {
      let database = try server.database(source)
      let (store, undo) = try StoreArgument(directory: directory, name: Backup.mirror).createUndoably()
      let pull = DatabasePull(from: database, to: store, isQuiet: quiet)
      do {
        try Self.checkSource(of: store, is: database.url)
        try waiting { try await pull.run() }
      } catch {
        undo()
        throw error
      }
      let report = try backUp(store, to: directory)
      guard follow else { return try Self.check(report) }
      let following = Task {
        try await withThrowingTaskGroup { group in
          group.addTask { try await pull.run(isContinuous: true) }
          group.addTask { try await Self.follow(store, to: directory, after: report.increment.sequence) }
          try await group.next()
          group.cancelAll()
        }
      }
      OutputWatch.whenClosed { following.cancel() }
      try waiting { try await following.value }
    }
  #else
    private func backUpMirror(in directory: String) throws {
      throw ToolError.needsFullBuild("the URL of a database")
    }
  #endif
}
