package import Logging

extension Logger {
  /// Writes nothing.
  package static var silent: Logger { Logger(label: "test") { _ in SwiftLogNoOpLogHandler() } }
}
