import CDTDatastore
import CDTImport
import CDTJSON
import FoundationEssentials
import Glibc

/// The replications that are measured: each is a run of `cdtquery replicate`, a process of its own.
struct Replications {
  private let program: Program
  private let scratch: Scratch
  private let documents: Int
  private let files: Int
  private let fileSize: Int

  private static let block: [UInt8] = {
    var random = LCG(seed: 5)
    return (0..<1 << 20).map { _ in UInt8(random.below(256)) }
  }()

  /// Fills the stores that are pushed.
  init(_ program: Program, scratch: Scratch, documents: Int, files: Int, fileSize: Int) throws {
    (self.program, self.scratch) = (program, scratch)
    (self.documents, self.files, self.fileSize) = (documents, files, fileSize)
    let lines = "\(scratch.path)/docs.jsonl"
    try DataFiles.writeDocuments(documents, to: lines)
    let manager = try DatastoreManager(directory: source)
    let report = try DocumentImporter(into: manager.datastore(named: Content.documents.store)).run([lines])
    guard report.imported == documents else { throw BenchError("\(report.imported) were imported") }
    unlink(lines)
    let store = try manager.datastore(named: Content.files.store)
    for number in 0..<files {
      var draft = DocumentDraft(id: "file\(number)", body: ["number": .int(Int64(number))])
      draft.attachments["data"] = DocumentAttachment(
        data: Data(Self.file(number, fileSize)), name: "data", contentType: "application/octet-stream")
      _ = try store.createDocument(from: draft)
    }
    for content in [Content.documents, .files] { try manager.closeDatastore(named: content.store) }
  }

  private typealias Content = ReplicationReport.Content

  private var source: String { "\(scratch.path)/source" }

  private static func file(_ number: Int, _ size: Int) -> [UInt8] {
    var bytes = (0..<(size / block.count + 1)).flatMap { _ in block }
    bytes.removeLast(bytes.count - size)
    for shift in 0..<min(8, size) { bytes[shift] = UInt8(truncatingIfNeeded: number >> (8 * shift)) }
    return bytes
  }

  // MARK: With a server

  /// Pushes and pulls everything.
  ///
  /// - Parameters:
  ///   - isCouchDB: Whether the server is a CouchDB.
  ///   - bound: Is measured before each replication of attachments on loopback.
  ///   - pouchdb: If given, it pulls and pushes, too, unless the server is a CouchDB.
  func run(
    with server: ServerAddress, isCouchDB: Bool, latency: Int, bound: inout AttachmentBound,
    pouchdb: PouchDB? = nil
  ) throws -> [ReplicationReport.Line] {
    let (push, pull): (ReplicationReport.Ends, ReplicationReport.Ends) =
      isCouchDB ? (.pushToCouchDB, .pullFromCouchDB) : (.push, .pull)
    let peer = Peer(server)
    let target = "\(scratch.path)/target"
    var lines: [ReplicationReport.Line] = []
    for content in [Content.documents, .files] {
      let here = "\(source)/\(content.store)"
      let there = try peer.url(content.database, latency: latency)
      let back = "\(target)/\(content.store)"
      lines.append(
        try median(of: content, latency, &bound) {
          try peer.remove(content.database)
          return try replicate(here, there, content, push, latency)
        })
      if content == .documents { lines.append(try replicate(here, there, .nothing, push, latency)) }
      lines.append(
        try median(of: content, latency, &bound) {
          try scratch.empty(target)
          return try replicate(there, back, content, pull, latency)
        })
      if content == .documents { lines.append(try replicate(there, back, .nothing, pull, latency)) }
      if isCouchDB {
        lines += try replicateWithin(server, content, latency: latency, from: there)
      }
      if let pouchdb, !isCouchDB {
        lines += try replicate(pouchdb, server, content, latency, from: there)
      }
      peer.close()
      try peer.remove(content.database)
    }
    return lines
  }

  /// The middle one of three runs with attachments on loopback: on a virtual machine, memory that was not used before is slow,
  /// and files are created slowly after others were deleted. Otherwise one run.
  private func median(
    of content: Content, _ latency: Int, _ bound: inout AttachmentBound,
    _ run: () throws -> ReplicationReport.Line
  ) throws -> ReplicationReport.Line {
    guard content == .files, latency == 0 else { return try run() }
    var lines: [ReplicationReport.Line] = []
    for _ in 0..<3 {
      try bound.measure()
      lines.append(try run())
    }
    return lines.sorted { $0.wall < $1.wall }[1]
  }

  /// A server, and the proxies to it.
  private final class Peer {
    private let server: ServerAddress
    private var proxy: LatencyProxy?

    init(_ server: ServerAddress) {
      self.server = server
    }

    func url(_ database: String, latency: Int) throws -> String {
      proxy = latency > 0 ? try LatencyProxy(to: server, roundTrip: latency) : nil
      let address = proxy?.address ?? server
      return "http://\(address.user.map { "\($0)@" } ?? "")\(address.host):\(address.port)/\(database)"
    }

    func close() {
      proxy?.close()
      proxy = nil
    }

    func remove(_ database: String) throws {
      let names =
        try JSONValue(parsing: HTTPConnection.exchange(server, "GET", "/_all_dbs")).arrayValue ?? []
      if names.contains(.string(database)) { try HTTPConnection.exchange(server, "DELETE", "/\(database)") }
    }
  }

  private func replicate(
    _ source: String, _ target: String, _ content: Content, _ ends: ReplicationReport.Ends, _ latency: Int
  ) throws -> ReplicationReport.Line {
    let output = "\(scratch.path)/output"
    let cost = try program.run(["replicate", source, target, "--create", "--quiet"], output: output)
    let counts = try JSONObject(parsing: Machine.text(output) ?? "")
    let isPush = [.push, .pushToCouchDB].contains(ends)
    let written = counts[isPush ? "pushed" : "pulled"]?["written"]?.intValue
    guard written == wanted(content) else {
      throw BenchError("\(ends.title): \(written ?? -1) revisions were written")
    }
    return ReplicationReport.Line(
      content: content, ends: ends, latency: latency, wall: cost.wall, processor: cost.processor,
      peakBytes: cost.peakBytes)
  }

  private func wanted(_ content: Content) -> Int {
    switch content {
    case .documents: documents
    case .files: files
    case .nothing: 0
    }
  }

  private func replicate(
    _ pouchdb: PouchDB, _ server: ServerAddress, _ content: Content, _ latency: Int, from source: String
  ) throws -> [ReplicationReport.Line] {
    let copy = "\(content.database)_copy"
    let peer = Peer(server)
    defer {
      peer.close()
      try? peer.remove(copy)
    }
    let target = try peer.url(copy, latency: latency)
    // Its default is 100; with the files, that is more than a request may have.
    let batch = content == .files ? 20 : 100
    let outcome = try pouchdb.run(
      from: source, to: target, batch: batch, output: "\(scratch.path)/output")
    guard [outcome.pull.written, outcome.push.written] == [wanted(content), wanted(content)] else {
      throw BenchError("PouchDB has written \(outcome.pull.written) and \(outcome.push.written) documents")
    }
    var runs: [(Content, ReplicationReport.Ends, PouchDB.Run)] = [
      (content, .pullToPouchDB, outcome.pull), (content, .pushFromPouchDB, outcome.push),
    ]
    if content == .documents { runs.append((.nothing, .pullToPouchDB, outcome.nothing)) }
    return runs.map { content, ends, run in
      ReplicationReport.Line(
        content: content, ends: ends, latency: latency, wall: run.nanoseconds, processor: nil, peakBytes: nil)
    }
  }

  /// Lets CouchDB copy a database that was pushed, and find out that there is nothing more to do.
  private func replicateWithin(
    _ server: ServerAddress, _ content: Content, latency: Int, from source: String
  ) throws -> [ReplicationReport.Line] {
    let copy = "\(content.database)_copy"
    let peer = Peer(server)
    try peer.remove(copy)
    defer { try? peer.remove(copy) }
    let target = try peer.url(copy, latency: 0)
    let request: JSONObject = [
      "source": .string(source), "target": .string(target), "create_target": true,
    ]
    let contents = content == .documents ? [content, .nothing] : [content]
    return try contents.map { content in
      let start = Clock.monotonic.now
      let reply = try JSONObject(
        parsing: HTTPConnection.exchange(server, "POST", "/_replicate", Array(request.text.utf8)))
      let wall = Int(Clock.monotonic.now - start)
      guard reply["ok"] == true else { throw BenchError("CouchDB's replicator: \(reply.text)") }
      return ReplicationReport.Line(
        content: content, ends: .withinCouchDB, latency: latency, wall: wall, processor: nil, peakBytes: nil)
    }
  }

  // MARK: Continuously

  /// Measures the delay until a server has what a process other than the replicator writes.
  func delays(to server: ServerAddress, writes: Int) throws -> Percentiles {
    let peer = Peer(server)
    try peer.remove(Self.live)
    let manager = try DatastoreManager(directory: source)
    let store = try manager.datastore(named: Self.live)
    let (here, there) = ("\(source)/\(Self.live)", try peer.url(Self.live, latency: 0))
    let output = "\(scratch.path)/output"
    _ = try program.run(["replicate", here, there, "--create", "--quiet"], output: output)
    let listener = try Listeners(server, database: Self.live, count: 1)
    func save(_ id: String) throws -> () throws -> Void {
      _ = try store.createDocument(from: DocumentDraft(id: id, body: ["text": "Buy milk"]))
      return {}
    }
    let times = try program.run(["replicate", here, there, "--continuous", "--quiet"], output: output) {
      // Until the replicator is there.
      _ = try listener.times(of: 1, save)
      return try listener.times(of: writes, save)
    }
    try manager.deleteDatastore(named: Self.live)
    try peer.remove(Self.live)
    return times
  }

  private static let live = "cdt_bench_live"
}

extension ReplicationReport.Content {
  /// The name of the store that is pushed.
  fileprivate var store: String { rawValue }
  /// The name of the database that it is pushed to.
  fileprivate var database: String { "cdt_bench_\(rawValue)" }
}
