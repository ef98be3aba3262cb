import CDTPlatform
import CouchDB

/// A part of a reply that is gathered in one transaction, and sent after it: how fast the client reads must not decide how
/// long the transaction lasts. A long one is gathered in a temporary file, so that it needs no memory.
struct ReplySpool {
  private var memory: [UInt8] = []
  private var file: OpenFile?
  private var fileLength: Int64 = 0

  /// The number of bytes in memory.
  private static let longest = 1 << 20

  mutating func append(_ bytes: some Sequence<UInt8>) throws(CouchError) {
    memory += bytes
    if memory.count >= Self.longest { try spill() }
  }

  private mutating func spill() throws(CouchError) {
    let directory = FileManager.default.temporaryDirectory.path
    do throws(SystemError) {
      let file = if let file { file } else { try OpenFile.scratch(in: directory) }
      self.file = file
      try memory.withUnsafeBufferPointer { bytes throws(SystemError) in
        try file.write(UnsafeRawBufferPointer(bytes))
      }
    } catch {
      throw CouchError(
        error.isFull ? 507 : 500, error.isFull ? "insufficient_storage" : "internal_server_error",
        "A result of more than \(Self.longest) bytes can't be written to \(directory): \(error)")
    }
    fileLength += Int64(memory.count)
    memory.removeAll(keepingCapacity: true)
  }

  /// What was gathered, if it is in memory.
  var bytes: [UInt8]? { file == nil ? memory : nil }

  /// Sends what was gathered.
  func write(to out: inout ReplyStream) async throws {
    var offset: Int64 = 0
    while let file, offset < fileLength {
      let bytes = try file.bytes(at: offset, count: Int(min(Int64(Self.longest) / 4, fileLength - offset)))
      guard !bytes.isEmpty else {
        throw CouchError(500, "internal_server_error", "A temporary file was cut off.")
      }
      try await out.write(bytes)
      offset += Int64(bytes.count)
    }
    try await out.write(memory)
  }
}
