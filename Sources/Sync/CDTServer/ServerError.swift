import CDTJSON

/// The reason why a server does not start.
///
/// ```swift
/// do {
///   try await DatastoreServer(manager, configuration: configuration).run()
/// } catch let error as ServerError where error.code == .addressInUse {
///   print(error.message)
/// }
/// ```
public struct ServerError: Error, Hashable, Sendable {
  /// The kind of error, for programs. New codes may be added.
  public struct Code: Hashable, Sendable, CustomStringConvertible {
    /// The code's name.
    public let description: String

    package init(_ name: String) { description = name }

    /// Everyone could read and change the datastores.
    public static let exposed = Code("exposed")
    /// A name of ``ServerConfiguration/hostNames`` is not a host name.
    public static let invalidHostName = Code("invalidHostName")
    /// An element of ``ServerConfiguration/origins`` is not an origin.
    public static let invalidOrigin = Code("invalidOrigin")
    /// ``ServerConfiguration/secret`` is too short.
    public static let invalidSecret = Code("invalidSecret")
    /// The file of users can't be used.
    public static let users = Code("users")
    /// The file of settings, ``ServerConfiguration/settingsFile``, can't be used.
    public static let settings = Code("settings")
    /// The certificate or its key can't be used.
    public static let certificate = Code("certificate")
    /// Another process listens at the address.
    public static let addressInUse = Code("addressInUse")
    /// The system can't listen at the address.
    public static let address = Code("address")
  }

  /// The kind of error.
  public let code: Code
  /// The reason and the remedy, for people.
  public let message: String
  /// The error of the file of users.
  package let cause: UserFileError?

  private init(_ code: Code, _ message: String, cause: UserFileError? = nil) {
    self.code = code
    self.message = message
    self.cause = cause
  }
}

// All messages.
extension ServerError {
  package static func exposed(_ address: String, missing: String, remedy: String) -> ServerError {
    ServerError(
      .exposed,
      "\(address) can be reached from other machines, but the server has \(missing); \(remedy), listen on 127.0.0.1, or use "
        + "--insecure")
  }

  package static let anyOriginWithoutUsers = ServerError(
    .exposed,
    "with the CORS origin * and no users, every web page that is open on this machine can read and change everything; list "
      + "the origins, add users (--users), or use --insecure")

  package static func invalidHostName(_ text: String) -> ServerError {
    ServerError(
      .invalidHostName,
      "\(JSONValue.string(text).text) is not a host name or address; write it without scheme and port, as in db.example.com"
    )
  }

  package static func invalidOrigin(_ text: String) -> ServerError {
    ServerError(
      .invalidOrigin,
      "\(JSONValue.string(text).text) is not an origin; write scheme, host and port without a path, as in "
        + "https://app.example.com or http://localhost:3000")
  }

  package static func shortSecret(_ count: Int, minimum: Int) -> ServerError {
    ServerError(
      .invalidSecret,
      "the secret of the session cookies has \(count) bytes and could be guessed; use \(minimum) random bytes or more"
    )
  }

  package static func users(_ error: UserFileError) -> ServerError {
    ServerError(.users, error.description, cause: error)
  }

  /// - Parameter reason: The problem and the remedy.
  package static func settings(_ path: String, _ reason: String) -> ServerError {
    ServerError(.settings, "the settings in \(path) can't be used: \(reason)")
  }

  package static let noUserToRequire = ServerError(
    .exposed,
    "every request needs a user (require_valid_user, or --profile livesync), but the server has none; add users (--users)"
  )

  package static func certificate(_ reason: String) -> ServerError {
    ServerError(
      .certificate,
      "the certificate and its key can't be used: \(reason); check that both are PEM files and belong together"
    )
  }

  package static func addressInUse(_ address: String) -> ServerError {
    ServerError(
      .addressInUse, "another process listens at \(address); stop it, or choose another port (--bind)")
  }

  package static func address(_ address: String, _ reason: String) -> ServerError {
    ServerError(
      .address, "can't listen at \(address): \(reason); choose an address of this machine and a port (--bind)"
    )
  }
}

extension ServerError: CustomStringConvertible {
  /// The message.
  public var description: String { message }
}
