import ArgumentParser

#if Replication
  import CDTRemote
  import CDTReplication
  import NIOSSL
#endif

/// The options of commands that send requests to a server.
struct ServerOptions: ParsableArguments {
  @Option(help: "The name of the user at the server.") var user: String?
  @Option(help: "The file whose first line is the password.") var passwordFile: String?
  @Option(help: "A PEM file with the certificates of the authorities to trust.") var ca: String?

  var isEmpty: Bool { user == nil && passwordFile == nil && ca == nil }

  /// The error if the options are given for a store.
  static let storeNeedsNone = ValidationError("--user, --password-file and --ca are for URLs")
}

#if Replication
  extension ServerOptions {
    /// The database at a URL; its password is read here.
    ///
    /// - Parameter isArgument: Whether the URL is an argument of the program.
    func database(_ url: String, isArgument: Bool = true) throws -> RemoteDatabase {
      let name = name(in: url)
      if name == nil, passwordFile != nil {
        throw ValidationError("--password-file needs --user, or a name in the URL")
      }
      // Before a password is asked for, the URL is checked.
      var database = try RemoteDatabase(url, credentials: name.map { .session($0, "") })
      if isArgument, URLUser(url)?.password != nil {
        Message.write(
          "cdtquery: warning: other users of this machine can see a password in an argument; use --user")
      }
      if let name {
        database.credentials = .session(
          name, try PasswordSource(file: passwordFile).read(for: name, isNew: false))
      }
      if let ca {
        _ = try PasswordSource.opened(ca)
        var tls = TLSConfiguration.makeClientConfiguration()
        tls.trustRoots = .file(ca)
        database.tls = tls
      }
      return database
    }

    /// The user whose password has to be read: of the option, or of the URL if it has no password.
    private func name(in url: String) -> String? {
      if let user { return user }
      guard let found = URLUser(url), found.password == nil else { return nil }
      return found.name
    }

    /// - Parameter file: The file that the command reads; standard input can't also have the password.
    func datastore(_ url: String, reading file: String? = nil) throws -> RemoteDatastore {
      if file == "-", name(in: url) != nil, PasswordSource(file: passwordFile).isStandardInput {
        throw ToolError(
          .usage,
          "standard input can't be both the input and the password; give the password with --password-file or in \(PasswordSource.variable)"
        )
      }
      return RemoteDatastore(try database(url))
    }
  }
#endif
