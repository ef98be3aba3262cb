import CDTDatastore
import CDTSQLite
import FoundationEssentials

/// The files of a store, as they were while it was open and after it was closed.
struct StoreImage {
  let documents: [String: [DocumentRevision]]
  /// The directory of the closed store.
  let directory: String
  let database: [UInt8]
  /// `db.sync` and its log before the log was written back.
  let open: (database: [UInt8], log: [UInt8])
  /// The nonces of the pages of an encrypted `db.sync`, likewise.
  let openSeals: [UInt8]?
  /// The end of the log's name.
  let logSuffix: String

  static let name = "db.sync"

  init(of sample: Sample) throws {
    directory = "\(sample.directory)/\(sample.store.name)"
    var documents: [String: [DocumentRevision]] = [:]
    for id in try sample.store.changes(since: 0).documents.map(\.id) { documents[id] = [] }
    for document in try sample.store.read({ try $0.allDocuments() }) { documents[document.id] = [document] }
    self.documents = documents
    let path = "\(directory)/\(Self.name)"
    logSuffix = String(LogFile.path(of: path).dropFirst(path.count))
    open = (try bytes(of: path), try bytes(of: path + logSuffix))
    openSeals = try? bytes(of: path + LogFile.sealsSuffix)
    try sample.manager.closeDatastore(named: sample.store.name)
    database = try bytes(of: "\(directory)/\(Self.name)")
  }

  /// Copies the files except the database into a new directory.
  func copy(to target: String) throws {
    let files = FileManager.default
    try? files.removeItem(atPath: target)
    try files.copyItem(atPath: directory, toPath: target)
    for suffix in ["", "-wal", "-log", "-shm"] {
      try? files.removeItem(atPath: "\(target)/\(Self.name)\(suffix)")
    }
  }
}

func bytes(of path: String) throws -> [UInt8] { Array(try Data(contentsOf: URL(filePath: path))) }

func write(_ bytes: [UInt8], to path: String) throws { try Data(bytes).write(to: URL(filePath: path)) }

/// Changes of a file, written as whole numbers: flags, then pairs of an offset and a byte.
///
/// ```
/// 1 100 255 101 0
/// ```
struct Patches {
  /// Whether the checksums of the pages are those of the changed pages, as in a file made by an attacker.
  let areStamped: Bool
  /// Whether the log is changed.
  let areInLog: Bool
  /// Whether the file ends at the first offset.
  let isCut: Bool
  /// Whether the file of nonces is changed, or that of the key.
  let areInSeals, areInKey: Bool
  private let numbers: [Int]

  init(_ input: [UInt8]) {
    let numbers = input.split { !(0x30...0x39 ~= $0) }.map { digits in
      digits.reduce(0) { ($0 &* 10 &+ Int($1 - 0x30)) & 0xFFFF_FFFF }
    }
    let flags = numbers.first ?? 0
    areStamped = flags & 1 != 0
    areInLog = flags & 2 != 0
    isCut = flags & 4 != 0
    areInSeals = flags & 8 != 0
    areInKey = flags & 16 != 0
    self.numbers = Array(numbers.dropFirst())
  }

  func apply(to file: [UInt8]) -> [UInt8] {
    var file = file
    guard !file.isEmpty else { return file }
    var rest = numbers[...]
    if isCut, let length = rest.popFirst() { file.removeLast(file.count - length % file.count) }
    while rest.count > 1, !file.isEmpty {
      let offset = rest.removeFirst()
      file[offset % file.count] = UInt8(truncatingIfNeeded: rest.removeFirst())
    }
    if areStamped, !areInLog { Self.stamp(&file) }
    return file
  }

  private static func stamp(_ file: inout [UInt8]) {
    let size = 4096
    file.withUnsafeMutableBytes { bytes in
      for number in 0..<bytes.count / size {
        PageChecksum.store(
          in: UnsafeMutableRawBufferPointer(rebasing: bytes[number * size..<(number + 1) * size]),
          number: Int64(number + 1))
      }
    }
  }
}
