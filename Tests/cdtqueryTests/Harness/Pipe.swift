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
