import Glibc

/// The process that is running.
package enum CurrentProcess {
  /// Has a write to a pipe that nobody reads fail, which otherwise ends the process.
  package static func ignoreBrokenPipes() {
    signal(SIGPIPE, SIG_IGN)
  }

  package static func exit(_ status: Int32) -> Never {
    Glibc.exit(status)
  }
}
