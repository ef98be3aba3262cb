import ArgumentParser

#if Server
  import CDTDatastore
  import CDTPlatform
  import CDTServer
  import CoreMetrics
  import Logging
  import ServiceLifecycle
  import UnixSignals
#endif

struct ServeCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "serve",
    abstract: "Serve the stores of a directory over CouchDB's HTTP API.",
    discussion: """
      Clients of CouchDB, PouchDB and CouchDB's replicator can use the stores; docs/server.md lists what is supported. \
      Without --users every client may do everything, so the server then listens on this machine alone. It ends at \
      SIGTERM or SIGINT when the requests under way are answered, or after --grace.

      EXAMPLE
        $ cdtquery serve people --port 5989 2> log & echo $! > pid
        $ curl -s --retry 9 --retry-connrefused http://127.0.0.1:5989/contacts/zoe
        {"_id":"zoe","_rev":"1-6becd5b6af2701a6fe53470157b9e47d","age":12}
        $ kill $(cat pid); cat log
        cdtquery: serving people at http://127.0.0.1:5989
        …
      """)

  @Argument(help: "The directory of the stores; it is created if it does not exist.") var directory: String
  @OptionGroup var key: KeyOptions
  @Option(
    help:
      "A file of these options by their long names, one on a line, as in \"port = 5984\"; the command line comes first."
  )
  var config: String?
  @Option(help: "The address and port to listen at; port 0 is any that is free.") var bind = "127.0.0.1:5984"
  @Option(help: "The port to listen at, instead of that in --bind.") var port: UInt16?
  @Option(help: "The certificate chain, a PEM file.") var tlsCert: String?
  @Option(help: "The private key of the certificate, a PEM file.") var tlsKey: String?
  @Option(help: "The file of users; see cdtquery user.") var users: String?
  @Option(help: "Other defaults, for clients that need them: livesync, for the notes of Obsidian.")
  var profile: String?
  @Option(help: "An origin whose pages may use the server, or *; can be given several times.") var cors:
    [String] = []
  @Option(help: "A name under which clients reach the server; can be given several times.") var host:
    [String] = []
  @Option(help: "A host that replications by the server may connect to; can be given several times.")
  var replicationHost: [String] = []
  @Option(help: "The time limit of a query in seconds.") var queryTime = 60.0
  @Option(help: "The time in seconds that requests may continue after SIGTERM.") var grace = 10.0
  @Option(
    help:
      "The log level: debug, info (each request), notice (logins that fail, slow queries), warning or error.")
  var logLevel = "notice"
  @Option(help: "The format of the log: text or json.") var logFormat = "text"
  @Option(help: "Log queries that take longer, such as 200ms or 2s, with their plan.") var slowQuery: String?
  @Option(help: "The megabytes that must be free on the disk for /_up to answer 200.") var minFreeMegabytes:
    UInt32 = 64
  @Flag(help: "Refuse every change.") var readOnly = false
  @Flag(help: "Refuse design documents with functions, which are never run.") var strictDesign = false
  @Flag(help: "Serve other machines without users or without TLS.") var insecure = false
  @Flag(help: "Compact databases only when that is asked for.") var noCompaction = false
}

#if Server
  extension ServeCommand {
    func validate() throws {
      _ = try LogLines.logger(level: logLevel, format: logFormat)
      _ = try Self.seconds(grace, "--grace")
      _ = try Self.seconds(queryTime, "--query-time")
      _ = try slowQuery.map { try Self.duration($0, "--slow-query") }
      _ = try profile.map(Self.profile)
    }

    func run() throws {
      guard let config else { return try waiting { try await serve() } }
      let command = try Self.reading(config)
      try waiting { try await command.serve() }
    }

    /// The command with the options of a file.
    fileprivate static func reading(_ config: String) throws -> Self {
      // The command itself is before them.
      let given = Array(CurrentProcess.arguments.dropFirst(2))
      let options = try OptionFile(config).arguments(
        of: Self.self, repeatable: ["cors", "host", "replication-host"], besides: given)
      return try parse(options + given)
    }

    private func serve() async throws {
      CurrentProcess.raiseMaximumDescriptors()
      try Stores.checkIsNoStore(directory)
      let manager = try DatastoreManager(directory: directory, options: KeyOptions.storeOptions())
      try Stores.tellUnencryptedFiles(in: manager)
      let certificate = try certificate()
      let configuration = try configuration(certificate)
      let threshold = LogLines.Threshold(try LogLines.level(logLevel))
      let logger = try logger(threshold)
      MetricsSystem.bootstrap(PrometheusMetrics())
      let (scheme, shown) = (configuration.tls == nil ? "http" : "https", configuration.host)
      let directory = directory
      let server = try DatastoreServer(manager, configuration: configuration, logger: logger) { port in
        let host = shown.contains(":") ? "[\(shown)]" : shown
        Message.write("cdtquery: serving \(directory) at \(scheme)://\(host):\(port)")
        ServiceManager.tell(.ready)
      }
      // Without anything to read again, it ends the process, as when a terminal is closed.
      let isReloadable = certificate != nil || config != nil || ServiceManager.isListening
      let signals = isReloadable ? await UnixSignalsSequence(trapping: .sighup) : nil
      let group = ServiceGroup(
        configuration: .init(
          services: [
            server,
            Reloading(
              signals: signals, certificate: certificate, config: config, threshold: threshold, logger: logger
            ),
          ],
          gracefulShutdownSignals: [.sigterm, .sigint], logger: logger))
      try await group.run()
    }

    /// Reads the certificate and the level of the log again at SIGHUP, and tells the service manager that it does so, and when the server ends.
    private struct Reloading: Service {
      let signals: UnixSignalsSequence?
      let certificate: Certificate?
      /// The file of options; `nil` without one.
      let config: String?
      let threshold: LogLines.Threshold
      let logger: Logger

      func run() async throws {
        if let signals {
          for await _ in signals.cancelOnGracefulShutdown() {
            try await Datastore.useFiles { reload() }
          }
        } else {
          try? await gracefulShutdown()
        }
        ServiceManager.tell(.stopping)
      }

      private func reload() {
        ServiceManager.tell(.reloading)
        defer { ServiceManager.tell(.ready) }
        if let config { reloadLevel(config) }
        guard let certificate else { return }
        do {
          try certificate.reload()
          logger.notice("certificate read")
        } catch {
          logger.error("certificate kept", metadata: ["error": "\(error)"])
        }
      }

      private func reloadLevel(_ config: String) {
        do {
          let level = try LogLines.level(ServeCommand.reading(config).logLevel)
          guard level != threshold.level else { return }
          threshold.level = level
          logger.notice("log level read", metadata: ["log-level": "\(level)"])
        } catch {
          logger.error("log level kept", metadata: ["error": "\(ServeCommand.message(for: error))"])
        }
      }
    }

    private func logger(_ threshold: LogLines.Threshold) throws -> Logger {
      let logger = try LogLines.logger(threshold, format: logFormat)
      let handler = logger.handler
      LoggingSystem.bootstrap { _ in handler }
      return logger
    }

    /// A time such as `200ms` or `2s`.
    private static func duration(_ text: String, _ option: String) throws -> Duration {
      let (digits, unit) = (text.prefix { $0.isNumber || $0 == "." }, text.drop { $0.isNumber || $0 == "." })
      guard let number = Double(digits), number <= 86_400_000,
        let scale = ["ms": 1.0, "s": 1_000][String(unit)]
      else {
        throw ValidationError("\(option) needs a time such as 200ms or 2s")
      }
      return .milliseconds(number * scale)
    }

    private static func profile(_ name: String) throws -> ServerConfiguration.Profile {
      guard let profile = ServerConfiguration.Profile(rawValue: name) else {
        let known = ServerConfiguration.Profile.allCases.map(\.rawValue).joined(separator: ", ")
        throw ValidationError("--profile has no \(name); there is \(known)")
      }
      return profile
    }

    private func configuration(_ certificate: Certificate?) throws -> ServerConfiguration {
      var configuration = ServerConfiguration(profile: try profile.map(Self.profile))
      let (address, boundPort) = Self.split(bind)
      guard let port = port ?? boundPort else {
        throw ValidationError(
          "--bind needs an address and a port, such as 127.0.0.1:5984, or --port beside the address")
      }
      configuration.host =
        address.hasPrefix("[") && address.hasSuffix("]")
        ? String(address.dropFirst().dropLast()) : address
      configuration.port = Int(port)
      configuration.usersFile = users
      configuration.settingsFile = "\(directory)/_config.json"
      configuration.origins.formUnion(cors)
      configuration.hostNames = Set(host)
      if !replicationHost.isEmpty { configuration.replicationHosts = Set(replicationHost) }
      configuration.isReadOnly = readOnly
      if noCompaction { configuration.compactionInterval = nil }
      configuration.isInsecure = insecure
      configuration.grace = try Self.seconds(grace, "--grace")
      configuration.limits.queryTime = try Self.seconds(queryTime, "--query-time")
      configuration.slowQuery = try slowQuery.map { try Self.duration($0, "--slow-query") }
      configuration.isStrictAboutDesign = strictDesign
      // Connections can have half of the files, and a datastore with indexes and some readers has about twenty.
      configuration.limits.openDatastores = max(10, CurrentProcess.maximumDescriptors / 2 / 20)
      configuration.minimumFreeBytes = Int64(minFreeMegabytes) * 1_000_000
      configuration.tls = certificate?.configuration
      return configuration
    }

    /// Splits `127.0.0.1:5984`; an address of version 6 has brackets if a port follows.
    private static func split(_ bind: String) -> (address: String, port: UInt16?) {
      guard let colon = bind.lastIndex(of: ":"), let port = UInt16(bind[bind.index(after: colon)...]),
        bind.hasPrefix("[") || bind.firstIndex(of: ":") == colon
      else { return (bind, nil) }
      return (String(bind[..<colon]), port)
    }

    private static func seconds(_ number: Double, _ option: String) throws -> Duration {
      guard number >= 0, number <= 86_400 else {
        throw ValidationError("\(option) needs a number of seconds, at most 86400")
      }
      return .seconds(number)
    }

    private func certificate() throws -> Certificate? {
      guard (tlsCert == nil) == (tlsKey == nil) else {
        throw ValidationError("--tls-cert and --tls-key belong together")
      }
      guard let tlsCert, let tlsKey else { return nil }
      return try Certificate(chain: tlsCert, key: tlsKey)
    }
  }
#else
  extension ServeCommand {
    func run() throws {
      throw ToolError.needsFullBuild("serve")
    }
  }
#endif
