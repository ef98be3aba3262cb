import ArgumentParser
import CDTDatastore
import CDTQuery
import JSON

struct CheckCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "check",
    abstract: "Look through everything that is stored, and print what is not as it should be.",
    discussion: """
      SQLite's own structures, the tree of revisions and the body of every document, the content of every attachment, \
      and every index against the documents. Each finding is a line: its kind, the document's id where there is one, \
      and what was found. Exit code 1 tells of findings, also of those that --repair has repaired.

      EXAMPLE
        $ cdtquery index create people/contacts age
        age
        $ cdtquery check people/contacts
        cdtquery: all is well
      """)

  @Argument(help: "The store, DIRECTORY/NAME.") var store: StoreArgument
  @Flag(help: "Make indexes anew that are not as they should be; nothing else is changed.") var repair = false
  @Flag(help: "Show no progress, and say nothing but findings.") var quiet = false

  func run() throws {
    let datastore = try store.open()
    let progress = ProgressBar(noun: "documents", isQuiet: quiet)
    defer { progress.clear() }
    let findings = try datastore.checkIntegrity { progress.show($0, of: $1) }
    progress.clear()
    // Where the documents can't be read, there is nothing to compare the indexes with.
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

  private static func write(_ finding: IntegrityFinding, isRepaired: Bool) throws {
    var json: JSONObject = ["kind": .string(finding.kind.rawValue)]
    if let id = finding.documentID { json["id"] = .string(id) }
    json["finding"] = .string(finding.message)
    if isRepaired { json["repaired"] = true }
    try Output.standard.line(json.text)
  }

  private func summary(_ others: Int, _ indexes: Int) -> String {
    let count = others + indexes
    if count == 0 { return "all is well" }
    let found = "\(count) \(count == 1 ? "finding" : "findings")"
    if indexes == 0 { return found }
    return repair ? found + ", \(indexes) repaired" : found + "; --repair makes the indexes anew"
  }
}
