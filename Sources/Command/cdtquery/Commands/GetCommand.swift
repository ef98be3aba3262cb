import ArgumentParser
import CDTDatastore
import CDTQuery

struct GetCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "get",
    abstract: "Print documents by id, one per line.",
    discussion: """
      If an id has no document, an error is printed to standard error, the other documents are printed, and the exit code \
      is 66.

      EXAMPLE
        $ cdtquery get people/contacts mike zoe
        {"_id":"mike","_rev":"1-dc7c404fb82b5e0160f925a3aaa9534b","age":36}
        {"_id":"zoe","_rev":"1-6becd5b6af2701a6fe53470157b9e47d","age":12}
      """)

  @Argument(help: DatabaseArgument.help) var database: DatabaseArgument
  @OptionGroup var key: KeyOptions
  @OptionGroup var user: UserOptions
  @Argument(help: SharedArgument.ids.option) var ids: [String]
  @OptionGroup var server: ServerOptions
  @Option(name: .customLong("rev"), help: "The revision to print, of one document.") var revision: String?
  @Flag(help: "Print JSON over several lines, with indentation.") var pretty = false
  @Flag(help: "Leave out _rev.") var noRev = false

  func validate() throws {
    try refuse(["--rev needs exactly one id; give one": revision != nil && ids.count != 1])
  }

  func run() throws {
    let database = try database.open(server)
    let wanted = try revision.map(RevisionArgument.read)
    var isComplete = true
    for id in ids {
      do {
        var json = try database.document(withID: id, revisionID: wanted).json
        if noRev { json["_rev"] = nil }
        try Output.standard.json(json, isPretty: pretty)
      } catch let error as DatastoreError where error.code == .notFound {
        try Output.standard.flush()
        Message.write(
          "cdtquery: \(error)" + SelectorArgument.hint(aboutID: id, "find it with \"cdtquery find\""))
        isComplete = false
      }
    }
    if !isComplete { throw ExitStatus.missing }
  }
}
