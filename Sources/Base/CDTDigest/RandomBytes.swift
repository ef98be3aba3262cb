/// Bytes of the system's random number generator, which nobody can guess.
package enum RandomBytes {
  package static func make(_ count: Int) -> [UInt8] {
    var generator = SystemRandomNumberGenerator()
    var bytes: [UInt8] = []
    while bytes.count < count { withUnsafeBytes(of: generator.next()) { bytes += $0 } }
    return Array(bytes.prefix(max(0, count)))
  }
}
