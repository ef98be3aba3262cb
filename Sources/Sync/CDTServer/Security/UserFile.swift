import CDTJSON
import CDTPlatform

/// A file of users, with their roles and the hashes of their passwords.
///
/// The file has the mode 0600. It is not used if others have access to it. Changes replace it as a whole, and changes by
/// several processes are made one after another.
///
/// ```swift
/// let file = UserFile("users.json")
/// try file.change { users in users.set(try User(name: "mike", password: PasswordHash("secret"), roles: [])) }
/// try file.read().users["mike"]?.roles  // []
/// ```
package struct UserFile: Sendable {
  package let path: String

  static let maximumSize = 16 << 20

  package init(_ path: String) {
    self.path = path
  }

  /// The users, and the version of the file they were read from.
  package struct Content: Sendable {
    package let users: Users
    let version: PrivateFile.Version
  }

  /// Reads the file, which must exist.
  package func read() throws(UserFileError) -> Content {
    guard let content = try read(unless: nil) else { throw .missing(path) }
    return content
  }

  /// Reads the file; `nil` if it has the known version.
  func read(unless known: PrivateFile.Version?) throws(UserFileError) -> Content? {
    let file: PrivateFile?
    do throws(PrivateFile.Refusal) {
      file = try PrivateFile.read(path, limit: Self.maximumSize, unless: known)
    } catch {
      throw refusal(error)
    }
    guard let file else { return nil }
    do {
      return Content(users: try Users(json: JSONObject(parsing: file.content)), version: file.version)
    } catch {
      throw .invalid(path, (error as? Users.ContentError)?.reason ?? "\(error)")
    }
  }

  private func refusal(_ refusal: PrivateFile.Refusal) -> UserFileError {
    switch refusal {
    case .system(let error): error.isMissing ? .missing(path) : .unreadable(path, error.description)
    case .notRegular: .notRegular(path)
    case .ownedByAnother: .ownedByAnother(path)
    case .sharedAccess: .sharedAccess(path)
    case .tooLarge: .tooLarge(path, limit: Self.maximumSize)
    }
  }

  /// Changes the users. A missing file is created.
  ///
  /// After an error the file is unchanged. The change is on disk when the call returns.
  package func change<R>(
    waitingUpTo patience: Duration = .seconds(5), _ change: (inout Users) throws -> R
  ) throws -> R {
    // A symbolic link stays, and the file that it leads to is replaced.
    let target = URL(filePath: path).resolvingSymlinksInPath().path
    let deadline = ContinuousClock.now + patience
    let lock: FileLock?
    do {
      lock = try FileLock.take(target + ".lock", isDirectory: false) { ContinuousClock.now < deadline }
    } catch {
      throw UserFileError.unwritable(path, "\(error)")
    }
    guard let lock else { throw UserFileError.busy(path) }
    defer { _ = lock }
    var users = try existing()
    let result = try change(&users)
    let text = users.json.prettyText + "\n"
    guard text.utf8.count <= Self.maximumSize else {
      throw UserFileError.tooLarge(path, limit: Self.maximumSize)
    }
    try replace(target, with: Array(text.utf8))
    return result
  }

  private func existing() throws(UserFileError) -> Users {
    do throws(UserFileError) {
      return try read().users
    } catch {
      guard error.code == .missing else { throw error }
      return Users()
    }
  }

  private func replace(_ target: String, with content: [UInt8]) throws(UserFileError) {
    do throws(SystemError) {
      try Files.replace(target, with: content)
    } catch {
      throw .unwritable(path, error.description)
    }
  }

  /// Removes a user.
  package func remove(_ name: String) throws {
    // Without a file there is nothing to lock.
    _ = try read()
    try change { users in
      guard users.remove(name) else { throw UserFileError.noSuchUser(name, in: path) }
    }
  }

  /// Adds a user, or changes the password of one.
  ///
  /// - Parameter roles: `nil` for those that the user has, or none.
  /// - Returns: Whether the user is new.
  package func setPassword(
    _ password: String, of name: String, roles: [String]? = nil, function: PasswordHash.Function = .standard
  ) throws -> Bool {
    // Before the lock file is made.
    try User.check(name: name, roles: roles ?? [])
    try User.checkPassword(password)
    let hash: PasswordHash
    do {
      hash = try PasswordHash(password, function: function)
    } catch {
      throw UserFileError.noMemory("\(error)")
    }
    return try change { users in
      let before = users[name]
      users.set(try User(name: name, password: hash, roles: roles ?? before?.roles ?? []))
      return before == nil
    }
  }
}

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
  /// The reason and the remedy, for people.
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
    UserFileError(.invalid, "\(path) is not a file of users: \(reason); fix it, or create a new one")
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
        + "underscore at the beginning, except in \(Identity.adminRole) and \(Identity.metricsRole)")
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
