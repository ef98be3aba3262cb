import CDTCLibrary
import CDTCPlatform

/// The current process.
package enum CurrentProcess {
  /// The arguments, the first of which is the program. `CommandLine` has none where `/proc` is not mounted, as in a `chroot`.
  package static let arguments = unvalidatedArguments.map { String(cString: $0) }

  /// The position of the first argument that is not UTF-8. Its invalid bytes are replaced in ``arguments``.
  package static var misencodedArgument: Int? {
    unvalidatedArguments.firstIndex { String(validatingCString: $0) == nil }
  }

  private static var unvalidatedArguments: [UnsafeMutablePointer<CChar>] {
    var count: Int32 = 0
    if let values = cdt_arguments(&count) { return (0..<Int(count)).compactMap { values[$0] } }
    return (0..<Int(CommandLine.argc)).compactMap { CommandLine.unsafeArgv[$0] }
  }

  /// Makes writes fail instead of ending the process: to a closed pipe, and beyond the limit of a file's size.
  package static func ignoreSignalsOfWrites() {
    cdt_ignore_signals_of_writes()
  }

  /// The number of files that the process can have open.
  package static var maximumDescriptors: Int {
    let limit = descriptorLimits.now
    return limit == 0 ? 1_024 : Int(clamping: limit)
  }

  /// Whether the process could open some more files now.
  package static func canOpen(files count: Int) -> Bool {
    guard let directory = opendir("/dev/fd") else { return errno == ENOENT }
    defer { closedir(directory) }
    // Includes the open directory itself and its entries `.` and `..`, which are not files.
    var entries = 0
    while readdir(directory) != nil { entries += 1 }
    return entries - 3 + count <= maximumDescriptors
  }

  /// Lets the process have as many files open as an administrator allows. Systems start programs with a lower limit, for
  /// those that use `select`.
  package static func raiseMaximumDescriptors() {
    let limits = descriptorLimits
    if limits.most > limits.now { _ = cdt_set_descriptor_limit(limits.most) }
  }

  private static var descriptorLimits: (now: UInt64, most: UInt64) {
    var (now, most): (UInt64, UInt64) = (0, 0)
    cdt_descriptor_limits(&now, &most)
    return (now, most)
  }

  /// Limits how many heaps the threads of the process allocate from, where the C library has more than one.
  package static func limitHeaps(to count: Int) {
    cdt_limit_heaps(Int32(clamping: count))
  }

  /// Starts a program of the PATH with one argument and does not wait for it; it keeps running when this process is interrupted.
  ///
  /// - Returns: Whether it was started.
  package static func launch(_ program: String, _ argument: String) -> Bool {
    cdt_launch(program, argument) == 0
  }

  package static func exit(_ status: Int32) -> Never {
    endProcess(status)
  }
}

/// `exit` of the C library, which the method hides.
private func endProcess(_ status: Int32) -> Never { exit(status) }
