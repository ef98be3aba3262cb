import CDTDatastore
import CDTJSON
import FoundationEssentials
import Glibc

/// Saves and reads a large attachment, and measures the memory.
struct Streaming {
  let directory: String
  let megabytes: Int

  private struct Unwritten: Error {
    let path: String
  }

  /// - Returns: The bytes that were read, and by how many KiB the peak grew.
  func run() throws -> JSONObject {
    let source = "\(directory)/source"
    let manager = try DatastoreManager(directory: directory)
    try writeSource(source)
    let (store, other) = (try manager.datastore(named: "store"), try manager.datastore(named: "other"))
    let small = DocumentAttachment(data: Data("small".utf8), name: "x", contentType: "text/plain")
    let first = try store.createDocument(from: DocumentDraft(body: [:], attachments: [small]))
    _ = try first.attachments["x"]?.data()
    let before = try peak()

    let saved = try store.createDocument(
      from: DocumentDraft(id: "a", body: [:], attachments: [attachment(source)]))
    guard let large = saved.attachments["x"] else { return [:] }
    var count = 0
    try large.forEachChunk { count += $0.count }
    try large.write(toFile: "\(directory)/target")
    _ = try other.createDocument(from: DocumentDraft(body: [:], attachments: [large]))
    _ = try store.write { try $0.updateDocument(withID: "a") { $0.attachments["x"] = attachment(source) } }
    return ["read": .int(Int64(count)), "grown": .int(Int64(try peak() - before))]
  }

  private func attachment(_ path: String) -> DocumentAttachment {
    DocumentAttachment(file: path, name: "x", contentType: "application/octet-stream")
  }

  private func writeSource(_ path: String) throws {
    let descriptor = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
    defer { close(descriptor) }
    var state: UInt64 = 88_172_645_463_325_252
    var words = [UInt64](repeating: 0, count: 131_072)
    for _ in 0..<megabytes {
      for position in words.indices {
        state ^= state << 13
        state ^= state >> 7
        state ^= state << 17
        words[position] = state
      }
      let written = words.withUnsafeBytes { write(descriptor, $0.baseAddress, $0.count) }
      guard written == 1_048_576 else { throw Unwritten(path: path) }
    }
  }

  /// The most memory that the process has had, in KiB.
  private func peak() throws -> Int {
    let status = try String(contentsOfFile: "/proc/self/status", encoding: .utf8)
    let line = status.split(separator: "\n").first { $0.hasPrefix("VmHWM:") } ?? ""
    return Int(String(line.filter(\.isNumber))) ?? 0
  }
}
