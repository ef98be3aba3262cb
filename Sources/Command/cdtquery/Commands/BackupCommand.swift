import ArgumentParser
import CDTBackup
import CDTDatastore
import CDTJSON
import CDTPlatform
import Synchronization

struct BackupCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "backup",
    abstract: "Back up what has changed since the last backup, and print what was saved.",
    discussion: """
      Saves one state of the store while others read and write it: all documents with conflicts, histories and \
      attachments the first time, and later what has changed. DIRECTORY and the directory that it is in are created if \
      they do not exist. A run that is interrupted leaves the backup as it was. An attachment whose content is missing or \
      damaged is named on a line like those of check, its document is saved without it, and the exit code is 1. restore \
      brings each saved state back. The backup of an encrypted store is encrypted, with the same key.

      --all takes a directory of stores, and backs up each in a directory of its name. With --follow, stores that appear \
      later are backed up too, and one that can't be is named and tried again after a minute.

      With the URL of a database, DIRECTORY/mirror has a store that the database is first replicated to.

      --verify takes DIRECTORY alone, reads the whole backup, prints the states that it has, and what is damaged; the \
      exit code is 1 if anything is.

      EXAMPLE
        $ cdtquery backup people/contacts saved
        {"sequence":2,"time":"…","documents":2,"revisions":2,…}
        $ cdtquery backup --verify saved
        {"sequence":2,"time":"…"}
      """)

  @Argument(
    help:
      "The store, or the URL of a database; with --all, a directory of stores; with --verify, the directory of a backup."
  )
  var source: String
  @Argument(help: "The directory of the backup.") var directory: String?
  @OptionGroup var key: KeyOptions
  @Flag(help: "Back up every store of a directory.") var all = false
  @Flag(help: "Go on with new changes until the program is ended.") var follow = false
  @Flag(help: "Read the whole backup, and list what is damaged.") var verify = false
  @OptionGroup var server: ServerOptions
  @Flag(help: "Show no progress.") var quiet = false

  func validate() throws {
    try refuse([
      "--verify takes the directory of a backup alone": verify && directory != nil,
      "use either --verify or --all": verify && all,
      "--all takes a directory of stores, not a URL": all && DatabaseArgument.isURL(source),
      "use either --verify or --follow": verify && follow,
      "name the directory of the backup after the store": !verify && directory == nil,
    ])
  }

  func run() throws {
    guard let directory else { return try verifyBackup() }
    if all {
      guard server.isEmpty else { throw ServerOptions.storeNeedsNone }
      return try backUpAll(in: directory)
    }
    guard !DatabaseArgument.isURL(source) else { return try backUpMirror(in: directory) }
    guard server.isEmpty else { throw ServerOptions.storeNeedsNone }
    let store = try StoreArgument(orURL: source).open()
    try Self.makeParent(of: directory)
    let report = try backUp(store, to: directory)
    guard follow else { return try Self.check(report) }
    let following = Task { try await Self.follow(store, to: directory, after: report.increment.sequence) }
    OutputWatch.whenClosed { following.cancel() }
    try waiting { try await following.value }
    if !following.isCancelled {
      throw ToolError(.missing, "the store \(source) was deleted, which ends its backup")
    }
  }

  /// Creates the directory that the backup is in, as an import does for its store.
  private static func makeParent(of directory: String) throws {
    if let parent = StoreArgument(argument: directory)?.directory { try FileSystem.makeDirectory(parent) }
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
  private static func follow(
    _ store: Datastore, to directory: String, after sequence: Int64, _ name: DatabaseName? = nil
  ) async throws {
    for try await _ in store.liveChanges(since: sequence) {
      let report = try await store.backup(to: directory)
      if report.bytes > 0 { try write(report, of: name) }
      try await Task.sleep(for: .seconds(1))
    }
  }

  // MARK: All stores of a directory

  private func backUpAll(in target: String) throws {
    guard try Stores.isDirectory(source) else {
      throw ToolError(.missing, "there is no directory \(source); check the path")
    }
    let manager = try Stores.manager(of: source)
    try Self.makeParent(of: target)
    try FileSystem.makeDirectory(target)
    if follow {
      let following = Task { try await Self.followAll(manager, to: target) }
      OutputWatch.whenClosed { following.cancel() }
      return try waiting { try await following.value }
    }
    var failure: (any Error)?
    for name in try manager.databaseNames() {
      do {
        let store = try manager.existingDatastore(named: name)
        try Self.write(try store.backup(to: Self.path(of: name, in: target)), of: name)
      } catch {
        // One that can't be saved must not hide the others.
        Self.report(error, name)
        failure = error
      }
    }
    if let failure { throw failure }
  }

  private static func path(of name: DatabaseName, in target: String) -> String {
    "\(target)/\(name.directoryName)"
  }

  private static func report(_ error: any Error, _ name: DatabaseName) {
    Message.write("cdtquery: \(name): \(error)")
  }

  /// The stores that are followed.
  private final class Followed: Sendable {
    private let names = Mutex<Set<DatabaseName>>([])

    func begin(_ name: DatabaseName) -> Bool { names.withLock { $0.insert(name).inserted } }

    func end(_ name: DatabaseName) { names.withLock { _ = $0.remove(name) } }
  }

  /// Follows every store of a directory, also those that appear later.
  private static func followAll(_ manager: DatastoreManager, to target: String) async throws {
    let followed = Followed()
    try await withThrowingDiscardingTaskGroup { group in
      while true {
        for name in try await Datastore.useFiles({ try manager.databaseNames() })
        where followed.begin(name) {
          group.addTask {
            try await follow(name, manager, to: path(of: name, in: target))
            followed.end(name)
          }
        }
        try await Task.sleep(for: .seconds(1))
      }
    }
  }

  /// Follows a store until it is deleted, or for the time after which it is tried again.
  private static func follow(_ name: DatabaseName, _ manager: DatastoreManager, to directory: String)
    async throws
  {
    do {
      let store = try await Datastore.useFiles { try manager.existingDatastore(named: name) }
      let report = try await store.backup(to: directory)
      try write(report, of: name)
      try await follow(store, to: directory, after: report.increment.sequence, name)
    } catch let error as CancellationError {
      throw error
    } catch let error as DatastoreError where [.closed, .notFound].contains(error.code) {
      return
    } catch {
      Self.report(error, name)
      try await Task.sleep(for: .seconds(60))
    }
  }

  private static func write(_ report: BackupReport, of name: DatabaseName? = nil) throws {
    var json: JSONObject = name.map { ["store": .string($0.description)] } ?? [:]
    for (member, value) in Self.json(report.increment) { json[member] = value }
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
    /// Notes in a mirror which database it is of, or throws if it is of another database.
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
      try Self.makeParent(of: directory)
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
