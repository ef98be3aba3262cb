package import CDTPlatform

/// An error of the command line itself.
package struct ToolError: ReportedError, CustomStringConvertible {
  package let exitStatus: ExitStatus
  package let description: String

  package init(_ status: ExitStatus, _ description: String) {
    exitStatus = status
    self.description = description
  }

  package static func unreadable(_ name: String, _ reason: SystemError) -> ToolError {
    ToolError(.io, "can't read \(name): \(reason); check the path")
  }

  /// Makes a system call, such as one to "replace" a file.
  package static func perform<R>(
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
