import ArgumentParser
import CDTDatastore
import CDTQuery
import Synchronization

/// The options of commands that read or write documents, for which a store's rules can be enforced.
struct UserOptions: ParsableArguments {
  /// The user of this run.
  private static let user = Mutex<UserContext?>(nil)

  @Option(name: .customLong("as"), help: "Read and write as this user, by the store's rules.") var name:
    String?
  @Option(help: "The roles of the user, separated by commas.") var roles: String?

  var context: UserContext? {
    name.map {
      UserContext(name: $0.isEmpty ? nil : $0, roles: roles?.split(separator: ",").map(String.init) ?? [])
    }
  }

  func validate() throws {
    guard roles == nil || name != nil else {
      throw ValidationError("--roles needs a user; give --as NAME, or --as \"\" for one without a name")
    }
    if let context { Self.user.withLock { $0 = context } }
  }

  /// Enforces the rules of the stores of this run, if there is a user.
  static func enforceRules(in options: inout DatastoreOptions) {
    guard let user = user.withLock({ $0 }) else { return }
    options.rules = .enforced(as: user)
  }

  /// Throws for a database at a server, where the user is that of the URL.
  static func checkIsNone() throws(ToolError) {
    guard user.withLock({ $0 == nil }) else {
      throw ToolError(.usage, "--as is for stores; at a server, the user is the one in the URL")
    }
  }
}
