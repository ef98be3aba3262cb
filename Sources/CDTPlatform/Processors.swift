import CDTCPlatform

/// The processors of the machine.
package enum Processors {
  /// How many are in use, at least one.
  package static let count = Int(cdt_processors())
}
