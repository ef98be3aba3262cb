import CDTDatastore
import CDTPlatform
import CouchDB
import Logging

/// What all requests of a server share.
final class ServerState: Sendable {
  let configuration: ServerConfiguration
  let databases: Databases
  let authenticator: Authenticator
  let logger: Logger
  let tasks = ActiveTasks()
  /// The server accepts no more requests.
  let shutdown = OneTimeEvent()
  let background = BackgroundTasks()
  let metrics = Metrics()
  /// Of this run. Replicators use it to recognize a server.
  let uuid = RandomID.digits()

  init(
    configuration: ServerConfiguration, databases: Databases, authenticator: Authenticator, logger: Logger
  ) {
    self.configuration = configuration
    self.databases = databases
    self.authenticator = authenticator
    self.logger = logger
  }

  /// Whether there are users. Without them, whoever can reach the server may do everything.
  var hasUsers: Bool { configuration.usersFile != nil }
}
