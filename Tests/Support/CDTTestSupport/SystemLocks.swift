import Foundation

/// The locks that this process has on files, by the device and the number of the file, such as `fe:00:1234`: the lines of `/proc/locks`
/// without their numbers.
package func systemLocks() throws -> [String: Set<String>] {
  var locks: [String: Set<String>] = [:]
  // The system gives the list in pieces, and leaves lines out if locks before them are released meanwhile.
  for _ in 0..<4 {
    for line in try String(contentsOfFile: "/proc/locks", encoding: .utf8).split(separator: "\n") {
      let words = line.split(separator: " ").dropFirst()
      guard let mine = words.firstIndex(of: "\(getpid())"), mine + 1 < words.endIndex else { continue }
      locks[String(words[mine + 1]), default: []].insert(words.joined(separator: " "))
    }
  }
  return locks
}
