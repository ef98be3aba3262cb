import CDTPlatform

/// An error of the command line itself.
struct ToolError: ReportedError, CustomStringConvertible {
  let exitStatus: ExitStatus
  let description: String

  init(_ status: ExitStatus, _ description: String) {
    exitStatus = status
    self.description = description
  }

  static func unreadable(_ name: String, _ reason: SystemError) -> ToolError {
    ToolError(.io, "can't read \(name): \(reason); check the path")
  }

  /// The error of what a build without the package's traits leaves out.
  static func needsFullBuild(_ what: String) -> ToolError {
    ToolError(.missing, "\(what) needs a cdtquery with the server and replication; build it with make server")
  }

  /// Makes a system call, such as one to "replace" a file.
  static func perform<R>(
    _ action: String, _ path: String, _ call: () throws(SystemError) -> R
  ) throws(ToolError) -> R {
    do {
      return try call()
    } catch {
      throw ToolError(
        .cantCreate, "can't \(action) \(path): \(error); check the path and its permissions")
    }
  }
}
