import ArgumentParser
import CDTDatastore
import CDTJSON
import CDTQuery
import CDTSQLite

struct CheckCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "check",
    abstract: "Check the integrity of a store, and print the problems found.",
    discussion: """
      Checks SQLite's structures, the revision tree and body of every document, the content of every attachment, \
      and every index against the documents. Each finding is one line: its kind, the document's id if it has one, \
      and what was found. The exit code is 1 if there are findings, including those that --repair fixed. A finding of \
      the kind checksum is about pages that another program, such as sqlite3, has copied from the log into the file: \
      they are used once the whole file was verified, and --repair writes their checksums. Functions of design \
      documents, which are stored and never run, and indexes of design documents that can't be made are listed with \
      the kind design, and documents with the same key in a unique index with the kind unique; these lines are not problems. A store that is too damaged to be opened has one finding, of the kind database.

      EXAMPLE
        $ cdtquery index create people/contacts age
        age
        $ cdtquery check people/contacts
        cdtquery: no problems found…
      """)

  @Argument(help: "The store, DIRECTORY/NAME.") var store: StoreArgument
  @OptionGroup var key: KeyOptions
  @Flag(help: "Rebuild damaged indexes, and write missing checksums; nothing else is changed.") var repair =
    false
  @Flag(help: "Also print the documents that break a rule, see rules check.") var rules = false
  @Flag(help: "Print only findings, without progress.") var quiet = false

  func run() throws {
    CopiedPageMessage.disable()
    let datastore: Datastore
    do {
      datastore = try store.open()
    } catch let error as DatastoreError where error.code == .corrupt && isDatastore {
      // Damage that the opening finds, such as that of a log, from which nothing can be read.
      try report([IntegrityFinding(.database, error.message)])
      throw ExitStatus.findings
    }
    let progress = ProgressBar(noun: "documents", isQuiet: quiet)
    defer { progress.clear() }
    let check = try datastore.check(repair: repair) { progress.show($0, of: $1) }
    progress.clear()
    let broken = rules ? try documentsThatBreakRules(of: datastore) : []
    try report(check.problems + broken, indexes: check.indexes, notes: check.notes)
    if !broken.isEmpty || !check.problems.isEmpty || !check.indexes.isEmpty { throw ExitStatus.findings }
  }

  private func documentsThatBreakRules(of datastore: Datastore) throws -> [IntegrityFinding] {
    var findings: [IntegrityFinding] = []
    try datastore.read { transaction in
      try transaction.forEachViolation { violation in
        findings.append(IntegrityFinding(.rule, documentID: violation.documentID, violation.reason))
      }
    }
    return findings
  }

  /// Whether a datastore has written the file, damaged or not.
  private var isDatastore: Bool { (try? FileOwner.check("\(store.path)/\(DatabaseFile.name)")) != nil }

  private func report(
    _ findings: [IntegrityFinding], indexes: [IntegrityFinding] = [], notes: [IntegrityFinding] = []
  ) throws {
    for finding in findings + indexes {
      try Self.write(finding, isRepaired: repair && canBeRepaired(finding, of: findings))
    }
    for note in notes { try Self.write(note, isRepaired: false) }
    try Output.standard.flush()
    if !quiet {
      let warning = SQLiteLibrary.warning.map { "; \($0)" } ?? ""
      Message.write("cdtquery: " + summary(findings, indexes) + warning)
    }
  }

  static func write(_ finding: IntegrityFinding, isRepaired: Bool) throws {
    var json: JSONObject = ["kind": .string(finding.kind.rawValue)]
    if let id = finding.documentID { json["id"] = .string(id) }
    json["finding"] = .string(finding.message)
    if isRepaired { json["repaired"] = true }
    try Output.standard.line(json.text)
  }

  /// Checksums are not written over damage.
  private func canBeRepaired(_ finding: IntegrityFinding, of findings: [IntegrityFinding]) -> Bool {
    finding.kind == .index
      || finding.kind == .checksum && !findings.contains { [.tree, .body].contains($0.kind) }
  }

  private func summary(_ findings: [IntegrityFinding], _ indexes: [IntegrityFinding]) -> String {
    let count = findings.count + indexes.count
    if count == 0 { return "no problems found" }
    let found = "\(count) \(count == 1 ? "finding" : "findings")"
    let checksums = findings.count { $0.kind == .checksum && canBeRepaired($0, of: findings) }
    if checksums + indexes.count == 0 { return found }
    if repair { return found + ", \(checksums + indexes.count) repaired" }
    let remedies = [
      checksums > 0 ? "writes the checksums" : nil, indexes.isEmpty ? nil : "rebuilds the indexes",
    ]
    return found + "; --repair " + remedies.compactMap { $0 }.joined(separator: " and ")
  }
}
