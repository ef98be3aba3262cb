import ArgumentParser
import CDTQuery
import Foundation

/// A library of tools that neighbours lend, for the terminal.
@main
struct Borrow: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "borrow",
    abstract: "Lend tools to neighbours.",
    subcommands: [
      Join.self, Offer.self, List.self, Search.self, Take.self, Return.self, Remark.self, Sync.self,
      Rules.self,
    ])
}

/// The options of every command.
struct DeviceOptions: ParsableArguments {
  @Option(help: "The directory of this device's library.")
  var directory = ".borrow"

  @Option(help: "The neighbour whose device this is.")
  var user: String

  /// Opens the library. A program for a phone keeps the passphrase in the system's key store.
  func library() async throws -> ToolLibrary {
    let passphrase = ProcessInfo.processInfo.environment["BORROW_PASSPHRASE"] ?? "a passphrase for tests"
    return try await ToolLibrary(directory: directory, user: user, passphrase: passphrase)
  }
}

extension ToolLibrary {
  /// The tool with a name.
  fileprivate func tool(named name: String) async throws -> Tool {
    guard let tool = try await store.first(Tool.self, where: { $0.kind == .tool && $0.name == name }) else {
      throw LibraryError.unknown(name)
    }
    return tool
  }

  /// The loan of a tool that is lent.
  fileprivate func openLoan(of name: String) async throws -> Loan {
    guard let open = try await openLoans().first(where: { $0.tool?.name == name }) else {
      throw LibraryError.notLent(name)
    }
    return open.loan
  }
}

extension Borrow {
  struct Join: AsyncParsableCommand {
    static let configuration = CommandConfiguration(abstract: "Say who you are.")
    @OptionGroup var device: DeviceOptions
    @Argument(help: "Your name.") var name: String

    func run() async throws {
      try await device.library().join(as: name)
    }
  }

  struct Offer: AsyncParsableCommand {
    static let configuration = CommandConfiguration(abstract: "Offer a tool.")
    @OptionGroup var device: DeviceOptions
    @Argument(help: "The tool.") var tool: String
    @Option(help: "What a neighbour should know.") var notes = ""

    func run() async throws {
      try await device.library().offer(tool, notes: notes)
    }
  }

  struct List: AsyncParsableCommand {
    static let configuration = CommandConfiguration(abstract: "List the tools, and who has them.")
    @OptionGroup var device: DeviceOptions
    @Flag(help: "List the tools again after every change, until interrupted.") var watch = false

    func run() async throws {
      let library = try await device.library()
      for try await update in try library.tools() {
        let loans = try await library.openLoans()
        for tool in update.results {
          let open = loans.first { $0.loan.tool.id == tool.id }
          let place = open.map { "with \($0.borrower?.name ?? $0.loan.borrower.id)" } ?? "free"
          print(([tool.name, place] + [open?.loan.remark].compactMap(\.self)).joined(separator: ", "))
        }
        guard watch else { return }
        print("--")
        fflush(nil)
      }
    }
  }

  struct Search: AsyncParsableCommand {
    static let configuration = CommandConfiguration(abstract: "Find tools by words of their names and notes.")
    @OptionGroup var device: DeviceOptions
    @Argument(help: "The words.") var words: String

    func run() async throws {
      for tool in try await device.library().search(words) { print("\(tool.name): \(tool.notes)") }
    }
  }

  struct Take: AsyncParsableCommand {
    static let configuration = CommandConfiguration(abstract: "Borrow a tool.")
    @OptionGroup var device: DeviceOptions
    @Argument(help: "The tool.") var tool: String

    func run() async throws {
      let library = try await device.library()
      try await library.borrow(library.tool(named: tool))
    }
  }

  struct Return: AsyncParsableCommand {
    static let configuration = CommandConfiguration(abstract: "Give a tool back.")
    @OptionGroup var device: DeviceOptions
    @Argument(help: "The tool.") var tool: String

    func run() async throws {
      let library = try await device.library()
      try await library.giveBack(library.openLoan(of: tool))
    }
  }

  struct Remark: AsyncParsableCommand {
    static let configuration = CommandConfiguration(abstract: "Note a remark on a tool that is lent.")
    @OptionGroup var device: DeviceOptions
    @Argument(help: "The tool.") var tool: String
    @Argument(help: "The remark.") var text: String

    func run() async throws {
      let library = try await device.library()
      try await library.remark(text, on: library.openLoan(of: tool))
    }
  }

  struct Sync: AsyncParsableCommand {
    static let configuration = CommandConfiguration(abstract: "Exchange changes with the server.")
    @OptionGroup var device: DeviceOptions
    @Argument(help: "The URL of the library's database.") var url: String
    @Option(help: "The file with your password at the server.") var passwordFile: String

    func run() async throws {
      let password = try String(contentsOfFile: passwordFile, encoding: .utf8)
      try await device.library().sync(with: url, password: password.trimmingCharacters(in: .newlines))
    }
  }

  struct Rules: ParsableCommand {
    static let configuration = CommandConfiguration(abstract: "Print the rules, for the server's admin.")

    func run() {
      print(ToolLibrary.rules.text)
    }
  }
}
