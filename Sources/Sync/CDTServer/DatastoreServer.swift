public import CDTDatastore
import CDTPlatform
import CouchDB
import Hummingbird
import HummingbirdCore
import HummingbirdTLS
public import Logging
import NIOCore
import NIOSSL
public import ServiceLifecycle
import Synchronization

/// A server that exposes the datastores of a manager over CouchDB's HTTP API.
///
/// ```swift
/// let manager = try DatastoreManager(directory: "/data/people")
/// let server = try DatastoreServer(manager)
/// try await ServiceGroup(services: [server], gracefulShutdownSignals: [.sigterm], logger: logger).run()
/// ```
///
/// On a graceful shutdown it accepts no more requests, finishes those that are under way within
/// ``ServerConfiguration/grace``, and lets go of the manager and its datastores. See <doc:ServingStores>.
public final class DatastoreServer: Service {
  private let state: ServerState
  private let rules: RequestRules
  private let boundPort = Mutex<Int?>(nil)
  private let onRunning: @Sendable (Int) -> Void

  /// Creates a server.
  ///
  /// - Parameters:
  ///   - manager: The manager of the datastores.
  ///   - configuration: The settings, such as the address.
  ///   - logger: The log of failures; at the level `notice` also of failed logins and slow queries, at `info` of each request
  ///     and the end.
  ///   - onRunning: Called with the port when the server accepts connections.
  /// - Throws: ``ServerError`` if the configuration would expose the datastores to everyone or has an invalid setting,
  ///   or the file of users can't be used.
  public init(
    _ manager: DatastoreManager, configuration: ServerConfiguration = ServerConfiguration(),
    logger: Logger = Logger(label: "CDTServer"),
    onRunning: @escaping @Sendable (_ port: Int) -> Void = { _ in }
  ) throws {
    self.onRunning = onRunning
    let settings = try ServerSettings(configuration)
    rules = try RequestRules(configuration, settings)
    let clock = configuration.clock
    if let secret = configuration.secret, secret.count < SessionCookie.minimumSecretLength {
      throw ServerError.shortSecret(secret.count, minimum: SessionCookie.minimumSecretLength)
    }
    let users = try Self.users(configuration, at: clock)
    let authenticator = Authenticator(
      users: users,
      cookie: SessionCookie(
        secret: configuration.secret,
        sameSite: settings.current.origins.sameSite(isSecure: configuration.tls != nil),
        isSecure: configuration.tls != nil),
      clock: clock
    ) { logger.error("no users are known", metadata: ["error": "\($0)"]) }
    state = try ServerState(
      configuration: configuration, settings: settings,
      databases: Databases(manager, limit: configuration.limits.openDatastores),
      authenticator: authenticator, logger: logger)
  }

  private static func users(
    _ configuration: ServerConfiguration, at clock: ServerClock
  ) throws(ServerError) -> UserDirectory? {
    guard let path = configuration.usersFile else { return nil }
    do throws(UserFileError) {
      return try UserDirectory(UserFile(path), at: clock.uptime())
    } catch {
      throw .users(error)
    }
  }

  /// Serves until the task is cancelled or the service group shuts down. If the task is cancelled, requests under way are
  /// not finished.
  ///
  /// - Throws: ``ServerError`` if it can't listen at its address, or can't use the certificate.
  public func run() async throws {
    let (configuration, state) = (state.configuration, state)
    // Dispatch opens files for timers when the first one is needed, and ends the process if the system has no more.
    try await Task.sleep(for: .milliseconds(1))
    DeadlineTimer(.now) {}.cancel()
    let limits = configuration.limits
    let connections = ConnectionLimit(limits.connections)
    let http = HTTPServerBuilder { responder in
      ClientChannel(responder: responder, limits: limits, connections: connections)
    }
    let application = Application(
      responder: Responder(state, rules),
      server: try configuration.secureTLS.map { try .tls(http, tlsConfiguration: $0) } ?? http,
      configuration: ApplicationConfiguration(
        address: .hostname(configuration.host, port: configuration.port),
        serverName: "CDTServer/\(Version.current)",
        availableConnectionsDelegate: MaximumAvailableConnections(
          connections.maximum + ConnectionLimit.refused)),
      onServerRunning: { [self] channel in
        let port = channel.localAddress?.port ?? configuration.port
        boundPort.withLock { $0 = port }
        state.listen(at: port)
        onRunning(port)
        if let warning = DatastoreManager.libraryWarning { state.logger.warning("\(warning)") }
        for name in state.settings.overridden {
          state.logger.warning(
            "a kept setting is not used, as the server was started with another value",
            metadata: ["setting": "\(name)", "file": "\(configuration.settingsFile ?? "")"])
        }
        if state.authenticator.lacksAdmin {
          state.logger.warning(
            "no user is an admin of the server",
            metadata: ["remedy": "cdtquery user add FILE NAME --role _admin"])
        }
        state.background.add { [state] in await Self.logUnenforced(state) }
      }, logger: state.logger)
    try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask {
        try await withGracefulShutdownHandler {
          do {
            try await state.withReplications { try await application.run() }
          } catch  where self.port == nil {
            throw self.startFailure(error)
          }
        } onGracefulShutdown: {
          state.logger.info(
            "ending", metadata: ["grace": .stringConvertible(configuration.grace / .seconds(1))])
          state.beginShutdown()
        }
        await state.background.wait()
      }
      if let interval = configuration.compactionInterval, !configuration.isReadOnly {
        group.addTask { await SelfCompaction(state: state, interval: interval).run() }
      }
      group.addTask {
        await state.shutdown.wait()
        try await Task.sleep(for: configuration.grace)
      }
      defer { group.cancelAll() }
      try await group.next()
    }
  }

  /// Logs each design document with functions or rules that an app may rely on in vain.
  private static func logUnenforced(_ state: ServerState) async {
    let databases = state.databases
    for name in (try? await databases.names()) ?? [] where !state.shutdown.hasHappened {
      let wasOpen = databases.openNames.contains(name)
      // The first request for a database that can't be opened says why.
      for finding in (try? await databases.database(named: name).store.checkProtections()) ?? [] {
        state.logger.warning(
          "a design document is not enforced",
          metadata: [
            "database": "\(name)", "document": "\(finding.documentID ?? "")", "reason": "\(finding.message)",
          ])
      }
      if !wasOpen { await databases.closeIfIdle(name) }
    }
  }

  private func startFailure(_ error: any Error) -> any Error {
    let (host, port) = (state.configuration.host, state.configuration.port)
    let address = host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)"
    return switch error {
    case let error as IOError where SystemError(error.errnoCode).isAddressInUse:
      ServerError.addressInUse(address)
    case let error as IOError: ServerError.address(address, SystemError(error.errnoCode).description)
    case is SocketAddressError, is SocketAddressError.UnknownHost:
      ServerError.address(address, "the name is unknown")
    case is NIOSSLError, is BoringSSLError: ServerError.certificate("\(error)")
    default: error
    }
  }

  /// The port that the server listens at; `nil` before it runs.
  public var port: Int? { boundPort.withLock { $0 } }
}

extension ServerConfiguration {
  /// Without the protocols that RFC 8996 forbids.
  fileprivate var secureTLS: TLSConfiguration? {
    var tls = tls
    if let oldest = tls?.minimumTLSVersion, [.tlsv1, .tlsv11].contains(oldest) {
      tls?.minimumTLSVersion = .tlsv12
    }
    return tls
  }
}
