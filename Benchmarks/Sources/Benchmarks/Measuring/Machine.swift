import CSQLiteYardstick
import FoundationEssentials
import Glibc

/// The machine on which the figures were taken.
struct Machine: Codable {
  let processor: String
  let cores: Int
  let memoryBytes: Int
  let kernel: String
  let swift: String
  let sqlite: String
  /// The median of writing 4 KiB and waiting for the disk, in nanoseconds, which bounds every durable write.
  let syncNanoseconds: Int

  /// - Parameter directory: A directory on the disk to be used.
  init(directory: String) throws {
    processor = Self.processorName() ?? "unknown"
    cores = Int(sysconf(Int32(_SC_NPROCESSORS_ONLN)))
    memoryBytes = Int(sysconf(Int32(_SC_PHYS_PAGES))) * Int(sysconf(Int32(_SC_PAGESIZE)))
    kernel = Self.text("/proc/sys/kernel/osrelease") ?? "unknown"
    swift = Self.swiftVersion() ?? "unknown"
    sqlite = String(cString: sqlite3_libversion())
    syncNanoseconds = try Self.syncTime(directory)
  }

  var summary: String {
    """
    \(processor), \(cores) cores, \(memoryBytes >> 30) GiB; Linux \(kernel); Swift \(swift); SQLite \(sqlite); \
    4 KiB written and synced in \(Double(syncNanoseconds / 1_000) / 1_000) ms
    """
  }

  private static func processorName() -> String? {
    let lines = text("/proc/cpuinfo")?.split(separator: "\n") ?? []
    let line = lines.first { $0.hasPrefix("model name") }
    return line?.split(separator: ":", maxSplits: 1).last.map { trimmed($0) }
  }

  static func text(_ path: String) -> String? {
    // Files of the kernel have no size, so they are read to their end.
    guard let file = fopen(path, "r") else { return nil }
    defer { fclose(file) }
    return trimmed(contents(file)[...])
  }

  /// The version of Swift, from the toolchain that was just used to build.
  private static func swiftVersion() -> String? {
    guard let pipe = popen("swift --version 2>/dev/null", "r") else { return nil }
    defer { pclose(pipe) }
    let words = contents(pipe).split(whereSeparator: \.isWhitespace)
    return words.firstIndex(of: "version").flatMap { $0 + 1 < words.count ? String(words[$0 + 1]) : nil }
  }

  private static func contents(_ file: UnsafeMutablePointer<FILE>) -> String {
    var bytes: [UInt8] = []
    while case let byte = getc(file), byte != EOF { bytes.append(UInt8(truncatingIfNeeded: byte)) }
    return String(decoding: bytes, as: UTF8.self)
  }

  private static func trimmed(_ text: Substring) -> String {
    String(text.drop(while: \.isWhitespace).reversed().drop(while: \.isWhitespace).reversed())
  }

  private static func syncTime(_ directory: String) throws -> Int {
    let disk = try DiskProbe(directory: directory)
    var timing = Timing()
    timing.measure(50, .process) { _ in disk.sync() }
    return Percentiles(timing.walls).p50
  }
}
