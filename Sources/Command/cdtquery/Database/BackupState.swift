import CDTBackup
import CDTDatastore
import CDTJSON

// A state of a backup in place of a store: `saved@2026-11-26T12:00:00Z`.
extension StoreArgument {
  /// The directory of the backup and the time of the state; `nil` for a store, whose name has no `@`.
  var state: (backup: String, time: String)? {
    guard let at = name.utf8.lastIndex(of: UInt8(ascii: "@")) else { return nil }
    let backup = String(name[..<at])
    return (
      backup.isEmpty ? directory : StoreArgument(directory: directory, name: backup).path,
      String(name[name.utf8.index(after: at)...])
    )
  }

  /// Throws for the state of a backup, which is read and has no sequences and times.
  func checkIsStore() throws(ToolError) {
    guard let state else { return }
    throw ToolError(
      .usage,
      "\(path) is the state of a backup, which this command does not take; restore it in a new store: "
        + "cdtquery restore \(state.backup) STORE --at \(state.time)")
  }

  /// Restores a state for this run.
  static func restore(_ state: (backup: String, time: String)) throws -> Datastore {
    let backup = try Backup(directory: state.backup, encryption: KeyOptions.storeOptions().encryption)
    guard let point = Backup.Point(argument: state.time) else { throw try missing(state, of: backup) }
    var options = DatastoreOptions()
    UserOptions.enforceRules(in: &options)
    let progress = ProgressBar(noun: "documents")
    defer { progress.clear() }
    let (datastore, report) = try backup.datastore(at: point, options: options) { progress.show($0, of: $1) }
    progress.clear()
    for loss in report.losses { Message.write("cdtquery: \(loss)") }
    return datastore
  }

  /// The error for a text that is not a time, with the newest states that there are.
  private static func missing(_ state: (backup: String, time: String), of backup: Backup) throws -> ToolError
  {
    let states = try backup.increments()
    guard !states.isEmpty else {
      return ToolError(.missing, "there is no backup in \(state.backup); check the path")
    }
    let list = states.suffix(10).map { "\(ISO8601.text(of: $0.time) ?? "") (sequence \($0.sequence))" }
    return ToolError(
      .usage,
      "write the time or the sequence of a state after \(state.backup)@; the newest are \(list.joined(separator: ", ")), "
        + "and \"cdtquery backup --verify \(state.backup)\" lists all")
  }
}

extension Backup.Point {
  /// The state that a sequence or a time names; `nil` if the text is neither.
  init?(argument text: String) {
    if let sequence = Int64(text), sequence >= 0 {
      self = .sequence(sequence)
    } else if let time = ISO8601.date(text) {
      self = .time(time)
    } else {
      return nil
    }
  }
}
