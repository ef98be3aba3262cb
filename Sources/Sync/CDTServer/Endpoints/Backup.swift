import CDTDatastore
import CDTPlatform
import CouchDB
import HTTPTypes
import Hummingbird
import NIOCore

/// A backup of a database as one file.
extension RequestContext {
  func backUp() async throws -> Response {
    try security().checkAdmin(identity)
    guard CrossOrigin.isOwn(request.headers[.secFetchSite]) else { throw CouchError.crossSiteBackup }
    let database = try database
    // Of the characters that names can have, only the slash can't be in that of a file. The cut is for the fields of the archive.
    let name = "\(database.name.replacing("/", with: "_").prefix(140))-backup"
    let headers: HTTPFields = [
      .contentType: "application/x-tar", .contentDisposition: "attachment; filename=\"\(name).tar\"",
    ]
    // Its length is known only when it is made.
    if method == .head { return Response(status: .ok, headers: headers, body: ResponseBody { _ in }) }
    let place = try server.backups.enter()
    let parent = FileManager.default.temporaryDirectory.path
    let directory = try await Datastore.useFiles {
      try FileSystem.perform("write", parent, TemporaryDirectory(in: parent, named: "cdt-backup-"))
    }
    // The directory itself is locked.
    let backup = "\(directory.path)/backup"
    try await database.backUp(to: backup)
    let archive = try await Datastore.useFiles { try TarArchive(of: backup, as: name) }
    return Response(
      status: .ok, headers: headers,
      body: ResponseBody(contentLength: Int(archive.length)) { writer in
        // It is removed with the last reference, and the backup has ended.
        defer { withExtendedLifetime((directory, place)) {} }
        for entry in archive.entries {
          try await writer.send(ByteBuffer(bytes: TarArchive.header(entry.name, entry.length)))
          let file = try await Datastore.useFiles { try OpenFile(entry.path, for: .reading) }
          var rest = entry.length
          while rest > 0 {
            let most = Int(min(rest, TarArchive.chunk))
            let bytes = try await Datastore.useFiles { try file.read(upTo: most) }
            if bytes.isEmpty {
              throw CouchError(500, "internal_server_error", "A file of the backup was cut off.")
            }
            rest -= Int64(bytes.count)
            try await writer.send(ByteBuffer(bytes: bytes))
          }
          try await writer.send(ByteBuffer(bytes: TarArchive.padding(after: entry.length)))
        }
        try await writer.send(ByteBuffer(repeating: 0, count: 2 * TarArchive.block))
        try await writer.finish(nil)
      })
  }
}

/// The files of a directory and of those in it as a tar archive.
///
/// Source: POSIX.1-2017, pax, "ustar Interchange Format"; lengths from 8 GiB on as GNU tar writes them.
struct TarArchive: Sendable {
  struct Entry: Sendable {
    let path: String
    /// The path in the archive.
    let name: String
    let length: Int64
  }

  private(set) var entries: [Entry] = []

  static let block = 512
  static let chunk: Int64 = 256 * 1024

  init(of directory: String, as name: String) throws {
    for file in try Files.names(in: directory).sorted() {
      let (path, name) = ("\(directory)/\(file)", "\(name)/\(file)")
      if try Files.kind(of: path) == .directory {
        entries += try TarArchive(of: path, as: name).entries
      } else {
        let length = try Files.length(of: path) ?? 0
        entries.append(Entry(path: path, name: name, length: length))
      }
    }
  }

  /// The number of bytes of the archive.
  var length: Int64 {
    entries.reduce(Int64(2 * Self.block)) {
      $0 + Int64(Self.block + Self.padding(after: $1.length).count) + $1.length
    }
  }

  static func padding(after length: Int64) -> [UInt8] {
    [UInt8](repeating: 0, count: Int(-length & Int64(block - 1)))
  }

  static func header(_ name: String, _ length: Int64) -> [UInt8] {
    var header = [UInt8](repeating: 0, count: block)
    func put(_ text: some Collection<UInt8>, at offset: Int) {
      header.replaceSubrange(offset..<offset + text.count, with: text)
    }
    func octal(_ number: Int64, _ digits: Int) -> [UInt8] {
      let text = String(number, radix: 8)
      return Array(String(repeating: "0", count: max(0, digits - text.count)).utf8) + text.utf8
    }
    // The first part of a path that is too long for its field has one of its own.
    let parts = Array(name.utf8).split(separator: UInt8(ascii: "/"), maxSplits: 1)
    put(name.utf8.count > 100 ? Array(parts[1]) : Array(name.utf8), at: 0)
    if name.utf8.count > 100 { put(parts[0], at: 345) }
    put(octal(0o600, 7), at: 100)
    put(octal(0, 7), at: 108)
    put(octal(0, 7), at: 116)
    if length < 1 << 33 {
      put(octal(length, 11), at: 124)
    } else {
      put([0x80, 0, 0, 0] + withUnsafeBytes(of: length.bigEndian) { Array($0) }, at: 124)
    }
    put(octal(Int64(Date.now.timeIntervalSince1970), 11), at: 136)
    put([UInt8](repeating: UInt8(ascii: " "), count: 8), at: 148)
    put("0".utf8, at: 156)
    put("ustar\u{0}00".utf8, at: 257)
    put(octal(header.reduce(0) { $0 + Int64($1) }, 6) + [0], at: 148)
    return header
  }
}
