/// The time and the memory of replications.
struct ReplicationReport: Measured {
  let machine: Machine
  let documents: Int
  let files: Int
  /// The bytes of each attachment.
  let fileSize: Int
  /// The version of the CouchDB beside it.
  var couchdb: String?
  /// The times of ``AttachmentBound``, without and with digests.
  var bound: Int?
  var hashedBound: Int?
  var lines: [Line] = []
  var delays: [Delay] = []

  /// The content that is replicated.
  enum Content: String, Codable {
    case documents, files, nothing
  }

  /// The two ends of a replication.
  enum Ends: String, Codable, CaseIterable {
    case push, pull
    case pushToCouchDB, pullFromCouchDB
    case withinCouchDB
    case pullToPouchDB, pushFromPouchDB

    var title: String {
      switch self {
      case .push: "push to our server"
      case .pull: "pull from our server"
      case .pushToCouchDB: "push to CouchDB"
      case .pullFromCouchDB: "pull from CouchDB"
      case .withinCouchDB: "CouchDB's replicator, between two of its databases"
      case .pullToPouchDB: "PouchDB in Chromium, pull from our server"
      case .pushFromPouchDB: "PouchDB in Chromium, push to our server"
      }
    }
  }

  struct Line: Codable {
    let content: Content
    let ends: Ends
    /// The added round-trip time, in milliseconds.
    let latency: Int
    let wall: Int
    /// The replicator's time on a processor, and its memory.
    let processor: Int?
    let peakBytes: Int?
  }

  /// The delay until a server has a document that a process other than the replicator saves.
  struct Delay: Codable {
    let ends: Ends
    let times: Percentiles
  }

  var tables: [MarkdownTable] {
    [
      table("\(Spelling.count(documents)) documents", .documents) { line in
        Spelling.count(Int(Double(documents) * 1e9 / Double(max(1, line.wall)))) + " /s"
      },
      table("\(Spelling.count(files)) attachments of \(Spelling.size(fileSize))", .files) { line in
        "\(Spelling.number(Double(files * fileSize) * 1e3 / Double(max(1, line.wall)))) MB/s"
      },
      table("Nothing to do", .nothing) { _ in "" },
      waiting,
    ]
  }

  private var waiting: MarkdownTable {
    var table = MarkdownTable(
      "A write of another process, until a listener at the server has it", columns: ["", "p50", "p99", "max"])
    for delay in delays {
      table.append(
        [delay.ends.title]
          + [delay.times.p50, delay.times.p99, delay.times.greatest].map(Spelling.time))
    }
    return table
  }

  private func table(_ title: String, _ content: Content, _ rate: (Line) -> String) -> MarkdownTable {
    var table = MarkdownTable(title, columns: ["", "round trip", "time", "rate", "cpu", "memory"])
    for line in lines where line.content == content {
      table.append([
        line.ends.title, line.latency == 0 ? "loopback" : "+ \(line.latency) ms", Spelling.time(line.wall),
        rate(line), line.processor.map(Spelling.time) ?? "", line.peakBytes.map(Spelling.size) ?? "",
      ])
    }
    if content == .files {
      let bounds = [
        ("sockets and synced files alone", bound), ("the same with digests", hashedBound),
      ]
      for case (let title, let time?) in bounds {
        let rate = Spelling.number(Double(files * fileSize) * 1e3 / Double(max(1, time)))
        table.append([title, "loopback", Spelling.time(time), "\(rate) MB/s", "", ""])
      }
    }
    return table
  }
}
