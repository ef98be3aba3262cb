import CDTJSON

/// An error of a file of users.
package struct UserFileError: Error, Hashable, Sendable, CustomStringConvertible {
  package enum Code: Sendable {
    /// There is no file.
    case missing
    /// Others have access to the file, or it is not a file.
    case exposed
    /// The content can't be used.
    case invalid
    /// A name or role is not allowed.
    case invalidUser
    case invalidPassword
    case noSuchUser
    /// Another process changes the file.
    case busy
    /// The system can't read the file.
    case unreadable
    /// The system can't write the file.
    case unwritable
  }

  package let code: Code
  /// What is wrong and how to fix it, for people.
  package let description: String

  private init(_ code: Code, _ description: String) {
    self.code = code
    self.description = description
  }
}

// All messages. Each says what is wrong and ends with the remedy.
extension UserFileError {
  package static func missing(_ path: String) -> UserFileError {
    UserFileError(
      .missing, "there is no file of users \(path); check the path, or create it with \"cdtquery user add\"")
  }

  package static func notRegular(_ path: String) -> UserFileError {
    UserFileError(.exposed, "\(path) is not a regular file; give the path of a file of users")
  }

  package static func ownedByAnother(_ path: String) -> UserFileError {
    UserFileError(
      .exposed, "\(path) belongs to another user of the system, who can change it; change its owner")
  }

  package static func sharedAccess(_ path: String) -> UserFileError {
    UserFileError(
      .exposed, "\(path) holds password hashes, but others can read or write it; run \"chmod 600 \(path)\"")
  }

  package static func tooLarge(_ path: String, limit: Int) -> UserFileError {
    UserFileError(.invalid, "\(path) has more than \(limit) bytes; check the path, or remove users")
  }

  package static func invalid(_ path: String, _ reason: String) -> UserFileError {
    UserFileError(.invalid, "\(path) is not a file of users: \(reason); fix it, or create it anew")
  }

  package static func invalidName(_ name: String) -> UserFileError {
    UserFileError(
      .invalidUser,
      "\(shown(name)) can't be a user's name; use 1 to \(User.maximumLength) bytes without a colon or control "
        + "characters, and no underscore at the beginning")
  }

  package static func invalidRole(_ role: String) -> UserFileError {
    UserFileError(
      .invalidUser,
      "\(shown(role)) can't be a role; use 1 to \(User.maximumLength) bytes without control characters, and no "
        + "underscore at the beginning, except in \(Identity.adminRole)")
  }

  package static func tooManyRoles(_ name: String) -> UserFileError {
    UserFileError(
      .invalidUser, "\(shown(name)) has more than \(User.maximumRoles) roles; use fewer")
  }

  package static let invalidPassword = UserFileError(
    .invalidPassword,
    "the password can't be used; use 1 to \(User.maximumPasswordLength) bytes without control characters")

  package static func noSuchUser(_ name: String, in path: String) -> UserFileError {
    UserFileError(
      .noSuchUser, "there is no user \(shown(name)) in \(path); \"cdtquery user list\" shows the names")
  }

  package static func busy(_ path: String) -> UserFileError {
    UserFileError(.busy, "another process is changing \(path); try again later")
  }

  package static func unreadable(_ path: String, _ reason: String) -> UserFileError {
    UserFileError(.unreadable, "can't read \(path): \(reason); check the path and its permissions")
  }

  package static func unwritable(_ path: String, _ reason: String) -> UserFileError {
    UserFileError(.unwritable, "can't write \(path): \(reason); check the path and its permissions")
  }

  package static func noMemory(_ reason: String) -> UserFileError {
    UserFileError(.unwritable, "can't derive the password hash: \(reason); free some memory and try again")
  }

  /// A text that can be shown on one line.
  private static func shown(_ text: String) -> String { JSONValue.string(String(text.prefix(100))).text }
}
