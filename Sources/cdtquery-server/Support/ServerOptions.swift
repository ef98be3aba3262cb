import ArgumentParser
import CDTCommandLine
import CDTReplication
import NIOSSL

/// The options of commands that send requests to a server.
struct ServerOptions: ParsableArguments {
  @Option(help: "The name of the user at the server.") var user: String?
  @Option(help: "The file whose first line is the password.") var passwordFile: String?
  @Option(help: "A PEM file with the certificates of the authorities to trust.") var ca: String?

  var isEmpty: Bool { user == nil && ca == nil }

  func validate() throws {
    if user == nil, passwordFile != nil { throw ValidationError("--password-file needs --user") }
  }

  func database(_ url: String) throws -> RemoteDatabase {
    var database = try RemoteDatabase(url)
    if database.credentials != nil {
      Message.write(
        "cdtquery: warning: other users of this machine can see a password in an argument; use --user")
    }
    if let user {
      database.credentials = .session(
        user, try PasswordSource(file: passwordFile).read(for: user, isNew: false))
    }
    if let ca {
      _ = try PasswordSource.opened(ca)
      var tls = TLSConfiguration.makeClientConfiguration()
      tls.trustRoots = .file(ca)
      database.tls = tls
    }
    return database
  }

  /// - Parameter file: What the command reads; the password can't come from standard input, too.
  func datastore(_ url: String, reading file: String? = nil) throws -> RemoteDatastore {
    if file == "-", user != nil, PasswordSource(file: passwordFile).isStandardInput {
      throw ToolError(
        .usage,
        "standard input can't be both the input and the password; give the password with --password-file or in \(PasswordSource.variable)"
      )
    }
    return RemoteDatastore(try database(url))
  }
}
