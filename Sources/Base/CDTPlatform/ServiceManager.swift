import CDTCLibrary
import CDTCPlatform

/// The program that has started this process and waits to hear what it does, such as systemd; see sd_notify(3).
package enum ServiceManager {
  /// A notification to the service manager.
  package enum State: Sendable {
    case ready, reloading, stopping

    fileprivate var text: String {
      switch self {
      case .ready: "READY=1"
      case .stopping: "STOPPING=1"
      case .reloading: "RELOADING=1\nMONOTONIC_USEC=\(cdt_monotonic_nanoseconds() / 1_000)"
      }
    }
  }

  /// The address of the socket at which it listens: a path, or an abstract address that begins with `@`; `nil` without one.
  private static var socket: String? { getenv("NOTIFY_SOCKET").map { String(cString: $0) } }

  /// Whether there is one.
  package static var isListening: Bool { socket != nil }

  /// Tells it something, if there is one. It waits for at most a second, and a failure is ignored: the service manager itself
  /// notices that nothing comes.
  package static func tell(_ state: State) {
    guard let socket else { return }
    _ = cdt_send_datagram(socket, state.text)
  }
}
