import ArgumentParser
import CDTBackup
import CDTDatastore
import CDTJSON

struct DiffCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "diff",
    abstract: "Print what was created, changed and deleted between two stores or states of a backup.",
    discussion: """
      Prints a row for each field in which a document of SECOND differs from the one of FIRST: its path, its old and its new value. \
      Objects are compared member by member, arrays as a whole; of a conflict, the winner. verify compares all leaves. BACKUP@TIME is \
      the state of a backup, at a time or a sequence as of restore --at.

      The exit code is 0 if nothing differs, 1 if a document differs, and 64 or more after an error.

      EXAMPLE
        $ cdtquery backup people/contacts saved > result
        $ cdtquery update people/contacts '{"_id":"mike"}' --set age=37 --yes
        1 updated
        $ cdtquery diff saved@2 people/contacts; echo "exit code $?"
        {"id":"mike","change":"changed","path":"age","old":36,"new":37}
        exit code 1
      """)

  @Argument(help: "The older store or state.") var first: StoreArgument
  @Argument(help: "The store or state to compare it with.") var second: StoreArgument
  @OptionGroup var key: KeyOptions
  @OptionGroup var output: OutputOptions
  @Flag(help: "Show no progress.") var quiet = false

  func run() throws {
    let (older, newer) = try (first.open(worksInBackground: false), second.open(worksInBackground: false))
    let progress = ProgressBar(noun: "documents", isQuiet: quiet)
    defer { progress.clear() }
    let count = try ResultWriter(output, ownFields: []).write(
      RowResults { body in
        var last: String?
        try older.compare(with: newer, progress: { progress.show($0, of: $1) }) { difference in
          let (id, fields) = (difference.documentID, difference.fields)
          let change =
            difference.first == nil ? "created" : difference.second == nil ? "deleted" : "changed"
          let isSame = (difference.first == nil) == (difference.second == nil) && fields.isEmpty
          // A document may differ in several leaves.
          guard !isSame, last?.hasSameBytes(as: id) != true else { return }
          last = id
          progress.clear()
          try JSONObject(["id": id, "change": change]).rows(fields).forEach(body)
        }
      })
    if count > 0 { throw ExitStatus.findings }
  }
}
