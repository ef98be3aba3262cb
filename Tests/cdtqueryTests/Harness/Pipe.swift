import CDTTestSupport
import Glibc

/// A pipe between a test and the program it runs.
struct Pipe {
  let reading: Int32
  let writing: Int32

  init() throws {
    var ends: [Int32] = [0, 0]
    guard pipe(&ends) == 0 else { throw SpawnedProcess.Failure(description: "no pipe") }
    reading = ends[0]
    writing = ends[1]
  }
}

/// A pseudo-terminal: what a program takes for the terminal of a person.
struct Terminal {
  /// The person's end.
  let person: Int32
  /// The program's end.
  let program: Int32

  // TIOCSPTLCK and TIOCGPTN, which are macros that Swift does not see.
  private static let setLock: UInt = 0x4004_5431
  private static let getNumber: UInt = 0x8004_5430

  init() throws {
    person = open("/dev/ptmx", O_RDWR | O_NOCTTY | O_CLOEXEC)
    var locked: Int32 = 0
    var number: Int32 = 0
    guard person >= 0, ioctl(person, Self.setLock, &locked) == 0, ioctl(person, Self.getNumber, &number) == 0
    else { throw SpawnedProcess.Failure(description: "no pseudo-terminal") }
    program = open("/dev/pts/\(number)", O_RDWR | O_NOCTTY | O_CLOEXEC)
    guard program >= 0 else { throw SpawnedProcess.Failure(description: "no pseudo-terminal") }
  }
}

/// Reading and writing with a person's patience: a program that says nothing for a minute is stuck.
enum Descriptor {
  static func write(_ text: String, to descriptor: Int32) throws {
    var bytes = Array(text.utf8)[...]
    while !bytes.isEmpty {
      let count = bytes.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
      guard count > 0 else { throw SpawnedProcess.Failure(description: String(cString: strerror(errno))) }
      bytes = bytes.dropFirst(count)
    }
  }

  /// What can be read until `isEnough`, or to the end.
  static func read(from descriptor: Int32, until isEnough: (String) -> Bool = { _ in false }) throws -> String
  {
    var bytes: [UInt8] = []
    while true {
      let text = String(decoding: bytes, as: UTF8.self)
      if isEnough(text) { return text }
      var wait = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
      guard poll(&wait, 1, 60_000) > 0 else {
        throw SpawnedProcess.Failure(description: "nothing more came after: \(text)")
      }
      var chunk = [UInt8](repeating: 0, count: 4096)
      let count = chunk.withUnsafeMutableBytes { Glibc.read(descriptor, $0.baseAddress, $0.count) }
      // A terminal ends in EIO when nobody has its other side open any more.
      guard count > 0 else { return text }
      bytes += chunk[..<count]
    }
  }

  static func line(from descriptor: Int32) throws -> String {
    try read(from: descriptor) { $0.hasSuffix("\n") }
  }
}
