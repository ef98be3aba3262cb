import CDTDatastore
import CDTImport
import Glibc
import Synchronization

/// Requests and replies of many megabytes: how long they take, and how much memory the server needs for them.
///
/// Each is measured with a server that has just started.
struct Streaming {
  private let program: Program
  private let directory: String
  private let documents: Int
  private let attachment: Int

  private static let store = "bench"
  private static let attachmentPath = "/bench/large/data"

  /// Fills a store with documents.
  ///
  /// - Parameter attachment: The bytes of an attachment.
  init(_ program: Program, scratch: Scratch, documents: Int, attachment: Int) throws {
    self.program = program
    self.documents = documents
    self.attachment = attachment
    directory = "\(scratch.path)/streaming"
    let file = "\(scratch.path)/docs.jsonl"
    try DataFiles.writeDocuments(documents, to: file)
    let manager = try DatastoreManager(directory: directory)
    let report = try DocumentImporter(into: manager.datastore(named: Self.store)).run([file])
    guard report.imported == documents else { throw BenchError("\(report.imported) were imported") }
    try manager.closeDatastore(named: Self.store)
    unlink(file)
  }

  func run() throws -> [ServerReport.Stream] {
    [
      try measure("attachment, up", upload),
      try measure("attachment, down", download),
      try measure("_changes?include_docs=true", changes),
      try measure("the same beside a slow reader", changesBesideSlowReader),
      try measure("_all_docs?include_docs=true", allDocuments),
      try measure("_bulk_docs", bulk),
    ]
  }

  /// - Parameter body: Returns how many bytes it has sent or received.
  private func measure(_ name: String, _ body: (ServerAddress) throws -> Int) throws -> ServerReport.Stream {
    try ServerProcess.run(program, directory: directory) { server in
      try HTTPConnection.exchange(server.address, "GET", "/\(Self.store)")
      let idle = try server.residentBytes()
      let start = Clock.monotonic.now
      let bytes = try body(server.address)
      let time = Int(Clock.monotonic.now - start)
      return ServerReport.Stream(
        name: name, bytes: bytes, nanoseconds: time, idleBytes: idle, peakBytes: try server.peakBytes())
    }
  }

  // MARK: Attachments

  /// An attachment is this again and again, and then a part of it.
  private static let block: [UInt8] = {
    var random = LCG(seed: 3)
    return (0..<1 << 20).map { _ in UInt8(random.below(256)) }
  }()

  private func upload(_ address: ServerAddress) throws -> Int {
    let connection = try HTTPConnection(address)
    try connection.send("PUT", Self.attachmentPath, type: "application/octet-stream", length: attachment)
    for start in stride(from: 0, to: attachment, by: Self.block.count) {
      try connection.send(Array(Self.block.prefix(attachment - start)))
    }
    guard try connection.receive({ _ in }).isSuccess else { throw BenchError("the attachment is refused") }
    return attachment
  }

  private func download(_ address: ServerAddress) throws -> Int {
    let connection = try HTTPConnection(address)
    try connection.send("GET", Self.attachmentPath)
    var (received, isEqual) = (0, true)
    let head = try connection.receive { piece in
      var piece = piece[...]
      while !piece.isEmpty {
        let part = piece.prefix(Self.block.count - received % Self.block.count)
        isEqual =
          isEqual && part.elementsEqual(Self.block[(received % Self.block.count)...].prefix(part.count))
        received += part.count
        piece = piece.dropFirst(part.count)
      }
    }
    guard head.isSuccess, isEqual, received == attachment else {
      throw BenchError("the attachment is another one")
    }
    return received
  }

  // MARK: Lists

  private func changes(_ address: ServerAddress) throws -> Int {
    // The document with the attachment has a row, too.
    try read(Self.changesPath, address, rows: documents + 1)
  }

  private static let changesPath = "/\(store)/_changes?include_docs=true"

  /// A slow reader takes 64 KiB twenty times a second, which fills the buffers between it and the server at once.
  private func changesBesideSlowReader(_ address: ServerAddress) throws -> Int {
    let slow = try HTTPConnection(address)
    try slow.send("GET", Self.changesPath)
    let socket = slow.socket
    let isOver = Atomic(false)
    return try withExtendedLifetime(slow) {
      let counts = try Threads.run(2) { number in
        if number == 0 {
          defer { isOver.store(true, ordering: .relaxed) }
          return try changes(address)
        }
        var buffer = [UInt8](repeating: 0, count: 64 * 1_024)
        while !isOver.load(ordering: .relaxed) {
          guard recv(socket, &buffer, buffer.count, 0) > 0 else {
            throw BenchError("the slow reader is through")
          }
          Clock.monotonic.sleep(until: Clock.monotonic.now + 50_000_000)
        }
        return 0
      }
      return counts.reduce(0, +)
    }
  }

  private func allDocuments(_ address: ServerAddress) throws -> Int {
    try read("/\(Self.store)/_all_docs?include_docs=true", address, rows: documents + 1)
  }

  /// Reads a list whose rows are lines, with a line before and one or two after them.
  private func read(_ path: String, _ address: ServerAddress, rows: Int) throws -> Int {
    let connection = try HTTPConnection(address)
    try connection.send("GET", path)
    var (received, lines) = (0, 0)
    let head = try connection.receive { piece in
      received += piece.count
      for byte in piece where byte == UInt8(ascii: "\n") { lines += 1 }
    }
    guard head.isSuccess, (rows + 2...rows + 3).contains(lines) else {
      throw BenchError("\(path) has \(lines) lines")
    }
    return received
  }

  // MARK: Documents

  /// As many documents as a request can have.
  private func bulk(_ address: ServerAddress) throws -> Int {
    let limit = 64_000_000
    var body = Array(#"{"docs":["#.utf8)
    body.reserveCapacity(limit)
    let vocabulary = Vocabulary()
    var (random, number) = (LCG(seed: 9), documents)
    while true {
      number += 1
      let text = BenchDocument(number: number, vocabulary, from: &random).json.utf8
      guard body.count + text.count + 3 <= limit else { break }
      if number > documents + 1 { body.append(UInt8(ascii: ",")) }
      body += text
    }
    body += "]}".utf8
    try HTTPConnection.exchange(address, "POST", "/\(Self.store)/_bulk_docs", body)
    return body.count
  }
}
