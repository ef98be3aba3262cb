import CCryptoYardstick
import FoundationEssentials
import Glibc

/// The bound that the machine sets to a replication of attachments: files sent over loopback connections to threads that create, write
/// and sync a file for each, with nothing else between.
///
/// The files are as many as in a replication. With one that is sent again and again, and one that is overwritten, the
/// content would stay in the caches of the processor. The bound is measured before each replication on loopback: both
/// depend on the memory and the files that were released before.
struct AttachmentBound {
  private var times: [Double] = []
  private var timesWithDigests: [Double] = []

  private let scratch: Scratch
  private let directory: String
  private let files: Int
  private let size: Int

  /// As many as a replication has by default.
  private static let connections = 4
  private static let piece = 64 * 1_024

  /// Writes the files that are sent.
  init(_ scratch: Scratch, files: Int, size: Int) throws {
    self.scratch = scratch
    directory = "\(scratch.path)/bound"
    (self.files, self.size) = (files, size)
    try scratch.empty(directory)
    var random = LCG(seed: 6)
    var bytes = (0..<size).map { _ in UInt8(random.below(256)) }
    for file in 0..<files {
      for shift in 0..<min(8, size) { bytes[shift] = UInt8(truncatingIfNeeded: file >> (8 * shift)) }
      try Data(bytes).write(to: URL(filePath: source(file)))
    }
  }

  private func source(_ file: Int) -> String { "\(directory)/source\(file)" }

  /// The median time, in nanoseconds; `nil` before the first measurement.
  var median: Int? { Self.median(times) }
  /// The median with the SHA-1 of each file computed at both ends, as a replication does.
  var medianWithDigests: Int? { Self.median(timesWithDigests) }

  private static func median(_ times: [Double]) -> Int? {
    times.isEmpty ? nil : Figures.Spread(times).median
  }

  mutating func measure() throws {
    times.append(try measure(hashes: false))
    timesWithDigests.append(try measure(hashes: true))
  }

  private func measure(hashes: Bool) throws -> Double {
    let pairs = try (0..<Self.connections).map { _ in try Self.connectedSockets() }
    defer { for pair in pairs { [pair.sender, pair.receiver].forEach { close($0) } } }
    let targets = "\(directory)/targets"
    try scratch.empty(targets)
    let start = Clock.monotonic.now
    _ = try Threads.run(2 * pairs.count) { number in
      let (pair, first) = (pairs[number / 2], number / 2)
      for file in stride(from: first, to: files, by: Self.connections) {
        if number % 2 == 0 {
          try copy(from: open(source(file), O_RDONLY | O_CLOEXEC), to: pair.sender, closing: true, hashes)
        } else {
          let target = open("\(targets)/\(file)", O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
          defer { close(target) }
          try copy(from: pair.receiver, to: target, closing: false, hashes)
          fdatasync(target)
        }
      }
    }
    return Double(Clock.monotonic.now - start)
  }

  /// Copies as many bytes as a file has.
  private func copy(from source: Int32, to target: Int32, closing: Bool, _ hashes: Bool) throws {
    defer { if closing { close(source) } }
    var buffer = [UInt8](repeating: 0, count: Self.piece)
    let hash = EVP_MD_CTX_new()
    defer { EVP_MD_CTX_free(hash) }
    guard EVP_DigestInit_ex(hash, EVP_sha1(), nil) == 1 else { throw BenchError("SHA-1 can't be computed") }
    var rest = size
    while rest > 0 {
      let count = read(source, &buffer, min(rest, buffer.count))
      guard count > 0 else { throw BenchError("\(directory) can't be copied") }
      if hashes { EVP_DigestUpdate(hash, buffer, count) }
      var written = 0
      while written < count {
        let more = buffer.withUnsafeBytes {
          write(target, $0.baseAddress?.advanced(by: written), count - written)
        }
        guard more > 0 else { throw BenchError("\(directory) can't be written") }
        written += more
      }
      rest -= count
    }
    if hashes {
      var digest = [UInt8](repeating: 0, count: Int(EVP_MAX_MD_SIZE))
      EVP_DigestFinal_ex(hash, &digest, nil)
    }
  }

  /// Two ends of a connection over loopback.
  private static func connectedSockets() throws -> (sender: Int32, receiver: Int32) {
    let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
    let sender = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
    defer { close(listener) }
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = UInt32(INADDR_LOOPBACK).bigEndian
    var length = socklen_t(MemoryLayout<sockaddr_in>.size)
    let isConnected = withUnsafeMutablePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        bind(listener, $0, length) == 0 && listen(listener, 1) == 0 && getsockname(listener, $0, &length) == 0
          && connect(sender, $0, length) == 0
      }
    }
    let receiver = accept(listener, nil, nil)
    guard isConnected, receiver >= 0 else { throw BenchError("no connection over loopback") }
    return (sender, receiver)
  }
}
