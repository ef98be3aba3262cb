import Glibc

/// A pseudo-terminal: what a program takes for the terminal of a person.
package struct Terminal: Sendable {
  /// The person's end.
  package let person: Int32
  /// The program's end.
  package let program: Int32
  /// The path of the program's end.
  package let path: String

  // TIOCSPTLCK and TIOCGPTN, which are macros that Swift does not see.
  private static let setLock: UInt = 0x4004_5431
  private static let getNumber: UInt = 0x8004_5430

  package init() throws {
    person = open("/dev/ptmx", O_RDWR | O_NOCTTY | O_CLOEXEC)
    var locked: Int32 = 0
    var number: Int32 = 0
    guard person >= 0, ioctl(person, Self.setLock, &locked) == 0, ioctl(person, Self.getNumber, &number) == 0
    else { throw SpawnedProcess.Failure(description: "no pseudo-terminal") }
    path = "/dev/pts/\(number)"
    program = open(path, O_RDWR | O_NOCTTY | O_CLOEXEC)
    guard program >= 0 else { throw SpawnedProcess.Failure(description: "no pseudo-terminal") }
  }
}
