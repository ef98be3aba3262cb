import ArgumentParser

#if Server
  import CDTDatastore
  import CDTPlatform
  import CDTServer
  import Logging
  import ServiceLifecycle
#endif

struct LookCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "look",
    abstract: "Show the stores of a directory in a browser.",
    discussion: """
      Prints the address of a page with the stores, their documents, queries with their plans, indexes, revisions and changes, and \
      opens it where there is a desktop; docs/look.md shows it. The address works once, in one browser, and only on this machine. \
      It ends at SIGINT (Ctrl-C) or SIGTERM.

      EXAMPLE
        $ cdtquery look people --no-open > address 2>&1 & echo $! > pid
        $ until grep -s token address; do sleep 0.1; done
        http://127.0.0.1:…/_utils/?token=…
        $ kill $(cat pid)
      """)

  @Argument(help: "The directory of the stores.") var directory: String
  @OptionGroup var key: KeyOptions
  @Option(help: "The port to listen at; 0 is any that is free.") var port: UInt16 = 0
  @Flag(help: "Refuse every change.") var readOnly = false
  @Flag(help: "Only print the address.") var noOpen = false
}

#if Server
  extension LookCommand {
    func run() throws {
      guard try Stores.isDirectory(directory) else {
        throw ToolError(.missing, "there is no directory \(directory); check the path")
      }
      try Stores.checkIsNoStore(directory)
      try waiting { try await look() }
    }

    private func look() async throws {
      CurrentProcess.raiseMaximumDescriptors()
      let manager = try DatastoreManager(directory: directory, options: KeyOptions.storeOptions())
      try Stores.tellUnencryptedFiles(in: manager)
      let logger = try LogLines.logger(level: "warning", format: "text")
      let handler = logger.handler
      LoggingSystem.bootstrap { _ in handler }
      let token = RandomID.digits() + RandomID.digits()
      let noOpen = noOpen
      let server = try DatastoreServer(manager, configuration: configuration(token), logger: logger) { port in
        let address = "http://127.0.0.1:\(port)/_utils/?token=\(token)"
        do {
          try Output.standard.line(address)
          try Output.standard.flush()
        } catch {
          Message.write("cdtquery: can't print the address: \(error)")
        }
        if !noOpen { Self.open(address) }
      }
      let group = ServiceGroup(
        configuration: .init(
          services: [server], gracefulShutdownSignals: [.sigterm, .sigint], logger: logger))
      try await group.run()
    }

    private func configuration(_ token: String) -> ServerConfiguration {
      var configuration = ServerConfiguration()
      configuration.port = Int(port)
      configuration.addressToken = token
      configuration.isReadOnly = readOnly
      // Who looks changes nothing by that.
      configuration.compactionInterval = nil
      configuration.grace = .seconds(1)
      configuration.limits.openDatastores = max(10, CurrentProcess.maximumDescriptors / 2 / 20)
      return configuration
    }

    /// Opens the address in the browser of the desktop, if the command was given there.
    private static func open(_ address: String) {
      guard Terminal.isShown else { return }
      #if os(macOS)
        _ = CurrentProcess.launch("open", address)
      #else
        let environment = ProcessInfo.processInfo.environment
        let hasDesktop = ["DISPLAY", "WAYLAND_DISPLAY"].contains { !environment[$0, default: ""].isEmpty }
        if hasDesktop { _ = CurrentProcess.launch("xdg-open", address) }
      #endif
    }
  }
#else
  extension LookCommand {
    func run() throws {
      throw ToolError.needsFullBuild("look")
    }
  }
#endif
