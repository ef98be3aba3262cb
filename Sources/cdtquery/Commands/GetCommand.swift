import ArgumentParser
import CDTCommandLine
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

  @Argument(help: "The store, DIRECTORY/NAME.") var store: StoreArgument
  @Argument(help: "The documents' ids.") var ids: [String]
  @Option(name: .customLong("rev"), help: "The revision to print, of one document.") var revision: String?

  init() {}

  /// Parses arguments without options directly, as the argument parser takes longer than reading the documents.
  ///
  /// - Returns: `nil` for any other arguments, which are left to the parser.
  init?(plain arguments: ArraySlice<String>) {
    guard arguments.count >= 3, arguments.first == "get",
      !arguments.contains(where: { $0.utf8.first == UInt8(ascii: "-") }),
      let store = StoreArgument(argument: arguments[arguments.startIndex + 1])
    else { return nil }
    self.store = store
    ids = Array(arguments.dropFirst(2))
    revision = nil
  }

  func validate() throws {
    guard revision == nil || ids.count == 1 else {
      throw ValidationError("--rev needs exactly one id; give one")
    }
  }

  func run() throws {
    let datastore = try store.open()
    let wanted = try revision.map(RevisionArgument.read)
    var isComplete = true
    for id in ids {
      do {
        let document =
          try wanted.map { revision in
            try datastore.read { try $0.document(withID: id, revisionID: revision) }
          }
          ?? datastore.document(withID: id)
        try Output.standard.line(document.json.text)
      } catch let error as DatastoreError where error.code == .notFound {
        try Output.standard.flush()
        Message.write("cdtquery: \(error)")
        isComplete = false
      }
    }
    if !isComplete { throw ExitStatus.missing }
  }
}
