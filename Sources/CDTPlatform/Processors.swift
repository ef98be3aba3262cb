import Glibc

/// The processors of the machine.
package enum Processors {
  /// How many are in use, at least one.
  package static let count = max(1, sysconf(Int32(_SC_NPROCESSORS_ONLN)))
}
