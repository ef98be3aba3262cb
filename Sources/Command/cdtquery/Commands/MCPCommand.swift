import ArgumentParser
import CDTJSON
import CDTPlatform
import Synchronization

struct MCPCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "mcp",
    abstract: "Let an assistant use the stores of directories, by the Model Context Protocol.",
    discussion: """
      An assistant starts the command, and sends its messages to standard input. It can read the stores of the directories and nothing \
      else; with --write it can also change documents and create indexes. An answer has at most --rows results and --bytes \
      of them, and says how to ask for the others. docs/mcp.md shows the lines that an assistant's configuration needs.

      EXAMPLE
        $ echo '{"jsonrpc":"2.0","id":1,"method":"ping"}' | cdtquery mcp people
        {"jsonrpc":"2.0","id":1,"result":{}}
      """)

  @Argument(help: "The directories of the stores.") var directories: [String]
  @Flag(help: "Let the assistant change documents and create indexes.") var write = false
  @Option(help: "The maximum number of results in an answer.") var rows = 100
  @Option(help: "The maximum number of bytes of the results in an answer.") var bytes = 100_000
  @Option(help: "The time limit of a query in seconds.") var queryTime = 60.0
  @OptionGroup var key: KeyOptions
  @OptionGroup var user: UserOptions

  private static let maximumRows = 1_000_000
  private static let maximumBytes = 1_000_000_000

  func validate() throws {
    try refuse([
      "--rows must be a whole number from 1 to \(Self.maximumRows)": !(1...Self.maximumRows).contains(rows),
      "--bytes must be a whole number from 1 to \(Self.maximumBytes)": !(1...Self.maximumBytes).contains(
        bytes),
      "--query-time must be a number of seconds, more than 0 and at most 86400": !(0.001...86_400).contains(
        queryTime),
    ])
  }

  /// The directories, each once, without slashes at the end, which the names of stores would have, too.
  private var distinctDirectories: [String] {
    directories.reduce(into: []) { all, path in
      var path = path
      while path.utf8.count > 1, path.hasSuffix("/") { path.removeLast() }
      if !all.contains(path) { all.append(path) }
    }
  }

  func run() throws {
    for directory in directories {
      guard try Stores.isDirectory(directory) else {
        throw ToolError(.missing, "there is no directory \(directory); check the path")
      }
      try Stores.checkIsNoStore(directory)
    }
    let limits = AnswerLimits(rows: rows, bytes: bytes, time: .seconds(queryTime))
    let hasUser = user.context != nil
    let stores = ServedStores(
      directories: distinctDirectories, limits: limits, isWritable: write, hasUser: hasUser)
    // An index would reveal documents that a user does not see.
    let writing = Tool.writing.filter { !hasUser || $0.name != "create_index" }
    CurrentProcess.raiseMaximumDescriptors()
    let failure = Mutex<(any Error)?>(nil)
    let session = AssistantSession(Tool.reading + (write ? writing : []), of: stores) { message in
      failure.withLock { failure in
        guard failure == nil else { return }
        do {
          try message.utf8Text.withUnsafeBytes { try Output.standard.line($0) }
          try Output.standard.flush()
        } catch {
          failure = error
        }
      }
    }
    // Tasks that can't be waited for are not begun.
    try waiting {}
    var lines = LineReader(.standardInput, longest: AssistantSession.longestMessage)
    while let line = try lines.next() {
      if lines.isTooLong {
        session.refuseLongMessage()
      } else if line.contains(where: { $0 > UInt8(ascii: " ") }) {
        session.receive(line)
      }
      if let error = failure.withLock({ $0 }) { throw error }
    }
    try waiting { await session.finish() }
    if let error = failure.withLock({ $0 }) { throw error }
  }
}
