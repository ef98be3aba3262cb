import CDTCPlatform

/// The state of sockets, as the system reports it.
package enum Sockets {
  /// The bytes that were written to a socket and that the other end has not received; `nil` if that is not known.
  package static func unsentBytes(_ socket: Int32) -> Int? {
    let count = cdt_unsent_bytes(socket)
    return count < 0 ? nil : Int(count)
  }
}
