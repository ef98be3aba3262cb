import ArgumentParser
import CDTDatastore

struct ListCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "list",
    abstract: "Print the names of the stores in a directory.",
    discussion: """
      EXAMPLE
        $ cdtquery list people
        contacts
      """)

  @Argument(help: "The directory.") var directory: String
  @OptionGroup var key: KeyOptions

  func run() throws {
    guard try Stores.isDirectory(directory) else {
      throw ToolError(.missing, "there is no directory \(directory); check the path")
    }
    try Stores.checkIsNoStore(directory)
    let manager = try Stores.manager(of: directory)
    for name in try manager.databaseNames() { try Output.standard.line(name.directoryName) }
    try Output.standard.flush()
    try Stores.tellUnencryptedFiles(in: manager)
  }
}
