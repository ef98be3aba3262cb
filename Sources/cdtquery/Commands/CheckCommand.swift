import ArgumentParser
import CDTCommandLine
import CDTDatastore
import CDTJSON
import CDTQuery

struct CheckCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "check",
    abstract: "Check the integrity of a store, and print the problems found.",
    discussion: """
      Checks SQLite's structures, the revision tree and body of every document, the content of every attachment, \
      and every index against the documents. Each finding is one line: its kind, the document's id if it has one, \
      and what was found. The exit code is 1 if there are findings, including those that --repair fixed.

      EXAMPLE
        $ cdtquery index create people/contacts age
        age
        $ cdtquery check people/contacts
        cdtquery: no problems found
      """)

  @Argument(help: "The store, DIRECTORY/NAME.") var store: StoreArgument
  @Flag(help: "Rebuild damaged indexes; nothing else is changed.") var repair = false
  @Flag(help: "Print only findings, without progress.") var quiet = false

  func run() throws {
    let datastore = try store.open()
    let progress = ProgressBar(noun: "documents", isQuiet: quiet)
    defer { progress.clear() }
    let findings = try datastore.checkIntegrity { progress.show($0, of: $1) }
    progress.clear()
    // Indexes can only be checked if the documents are readable.
    let isReadable = !findings.contains { $0.kind == .database }
    let indexes = isReadable ? try datastore.checkIndexes(repair: repair) { progress.show($0, of: $1) } : []
    progress.clear()
    for finding in findings + indexes {
      try Self.write(finding, isRepaired: repair && finding.kind == .index)
    }
    try Output.standard.flush()
    if !quiet { Message.write("cdtquery: " + summary(findings.count, indexes.count)) }
    if !findings.isEmpty || !indexes.isEmpty { throw ExitStatus.findings }
  }

  static func write(_ finding: IntegrityFinding, isRepaired: Bool) throws {
    var json: JSONObject = ["kind": .string(finding.kind.rawValue)]
    if let id = finding.documentID { json["id"] = .string(id) }
    json["finding"] = .string(finding.message)
    if isRepaired { json["repaired"] = true }
    try Output.standard.line(json.text)
  }

  private func summary(_ others: Int, _ indexes: Int) -> String {
    let count = others + indexes
    if count == 0 { return "no problems found" }
    let found = "\(count) \(count == 1 ? "finding" : "findings")"
    if indexes == 0 { return found }
    return repair ? found + ", \(indexes) repaired" : found + "; --repair rebuilds the indexes"
  }
}
