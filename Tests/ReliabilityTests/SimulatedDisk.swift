import CDTTestSupport
import Foundation

/// A disk with a cache, which loses its power: what was synced stays, and of the rest anything may be there.
///
/// Files and directories are objects, and a directory's entries refer to them. Each has what is on the disk for certain, and
/// the changes since. A synced file keeps its content, but its name is kept by syncing the directory.
final class SimulatedDisk {
  struct Unexpected: Error {
    let change: FileChange
  }

  private let root = Directory()

  /// A disk with what is in a directory.
  init(_ path: String) throws {
    try Self.load(path, into: root)
    root.synchronize()
  }

  private static func load(_ path: String, into directory: Directory) throws {
    for name in try FileManager.default.contentsOfDirectory(atPath: path) {
      var isDirectory: ObjCBool = false
      guard FileManager.default.fileExists(atPath: "\(path)/\(name)", isDirectory: &isDirectory) else {
        continue
      }
      if isDirectory.boolValue {
        let made = Directory()
        try load("\(path)/\(name)", into: made)
        made.synchronize()
        directory.set([name: .directory(made)])
      } else {
        let content = [UInt8](try Data(contentsOf: URL(filePath: "\(path)/\(name)")))
        directory.set([name: .file(File(content))])
      }
    }
  }

  // MARK: Changes

  func apply(_ change: FileChange) throws {
    switch change {
    case .create(let path): try directory(of: path, change).set([Self.name(path): .file(File([]))])
    case .write(let path, let offset, let bytes): try file(path, change).write(bytes, at: offset)
    case .truncate(let path, let size): try file(path, change).truncate(size)
    case .sync(let path):
      if let node = node(path) { node.synchronize() } else { throw Unexpected(change: change) }
    case .remove(let path), .removeDirectory(let path):
      try directory(of: path, change).set([Self.name(path): .none])
    case .rename(let path, let other):
      // Within one directory, so that it is one change.
      guard Self.parent(path) == Self.parent(other), let node = node(path) else {
        throw Unexpected(change: change)
      }
      try directory(of: path, change).set([Self.name(path): .none, Self.name(other): node])
    case .makeDirectory(let path):
      try directory(of: path, change).set([Self.name(path): .directory(Directory())])
    case .mark: break
    }
  }

  private static func name(_ path: String) -> String { String(path.split(separator: "/").last ?? "") }

  private static func parent(_ path: String) -> String {
    path.split(separator: "/").dropLast().joined(separator: "/")
  }

  private func node(_ path: String) -> Node? {
    path.split(separator: "/").reduce(.directory(root)) { node, name in
      guard case .directory(let directory)? = node else { return nil }
      return directory.current[String(name)]
    }
  }

  private func directory(of path: String, _ change: FileChange) throws -> Directory {
    guard case .directory(let directory)? = node(Self.parent(path)) else { throw Unexpected(change: change) }
    return directory
  }

  private func file(_ path: String, _ change: FileChange) throws -> File {
    guard case .file(let file)? = node(path) else { throw Unexpected(change: change) }
    return file
  }

  // MARK: Power failures

  /// What is left of the changes that were not synced.
  enum Loss: CaseIterable {
    /// They are lost.
    case all
    /// They are there, as after a crash of the process.
    case none
    /// Each is there or not, whatever the order; writes are torn into sectors.
    case some
    /// As `some`, but entries of directories change in order, as in a file system with a journal.
    case someInOrder
  }

  /// Writes what is on the disk after a power failure to a directory.
  func write(to path: String, losing loss: Loss, _ random: inout SeededGenerator) throws {
    // Few changes, or most, or half of them are there.
    let share = [0.1, 0.5, 0.9].randomElement(using: &random) ?? 0.5
    try root.write(to: path, Rest(loss: loss, share: share), &random)
  }

  /// The content of every file now, by path.
  var contents: [String: [UInt8]] {
    var contents: [String: [UInt8]] = [:]
    root.collect("", &contents)
    return contents
  }
}

/// Which changes are there after a power failure.
private struct Rest {
  let loss: SimulatedDisk.Loss
  /// Of those that are drawn.
  let share: Double

  func keeps(_ random: inout SeededGenerator) -> Bool {
    switch loss {
    case .all: false
    case .none: true
    case .some, .someInOrder: Double.random(in: 0..<1, using: &random) < share
    }
  }
}

private enum Node {
  case file(File), directory(Directory)

  func synchronize() {
    switch self {
    case .file(let file): file.synchronize()
    case .directory(let directory): directory.synchronize()
    }
  }
}

private final class File {
  /// What is on the disk for certain.
  private var durable: [UInt8]
  private var pending: [Change] = []
  /// What a reader sees.
  private(set) var current: [UInt8]

  private enum Change {
    case write([UInt8], offset: Int)
    case truncate(Int)
  }

  static let sector = 512

  init(_ content: [UInt8]) {
    durable = content
    current = content
  }

  func write(_ bytes: [UInt8], at offset: Int) {
    pending.append(.write(bytes, offset: offset))
    Self.write(bytes[...], at: offset, to: &current, filler: 0)
  }

  func truncate(_ size: Int) {
    pending.append(.truncate(size))
    Self.truncate(size, &current)
  }

  func synchronize() {
    durable = current
    pending = []
  }

  private static func truncate(_ size: Int, _ content: inout [UInt8]) {
    if size < content.count {
      content.removeLast(content.count - size)
    } else {
      content += [UInt8](repeating: 0, count: size - content.count)
    }
  }

  private static func write(
    _ bytes: ArraySlice<UInt8>, at offset: Int, to content: inout [UInt8], filler: UInt8
  ) {
    let end = offset + bytes.count
    if end > content.count { content += [UInt8](repeating: filler, count: end - content.count) }
    content.replaceSubrange(offset..<end, with: bytes)
  }

  /// The content after a power failure.
  func content(_ rest: Rest, _ random: inout SeededGenerator) -> [UInt8] {
    if rest.loss == .none { return current }
    var content = durable
    // A sector that the file has grown by and that was not written has zeros, or whatever was there.
    let filler: UInt8 = Bool.random(using: &random) ? 0 : 0xE5
    for change in pending {
      switch change {
      case .truncate(let size): if rest.keeps(&random) { Self.truncate(size, &content) }
      case .write(let bytes, let offset):
        guard rest.loss != .all, Int.random(in: 0..<3, using: &random) == 0 else {
          if rest.keeps(&random) { Self.write(bytes[...], at: offset, to: &content, filler: filler) }
          continue
        }
        // A torn one: each of its sectors is there or not.
        var start = 0
        while start < bytes.count {
          let end = min(bytes.count, (offset + start) / Self.sector * Self.sector + Self.sector - offset)
          if rest.keeps(&random) {
            Self.write(bytes[start..<end], at: offset + start, to: &content, filler: filler)
          }
          start = end
        }
      }
    }
    return content
  }
}

private final class Directory {
  private var durable: [String: Node] = [:]
  /// Each is there as a whole or not at all: a rename removes one name and adds another.
  private var pending: [[String: Node?]] = []
  private(set) var current: [String: Node] = [:]

  func set(_ entries: [String: Node?]) {
    pending.append(entries)
    for (name, node) in entries { current[name] = node }
  }

  func synchronize() {
    durable = current
    pending = []
  }

  func write(to path: String, _ rest: Rest, _ random: inout SeededGenerator) throws {
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    var entries = durable
    let kept =
      rest.loss == .someInOrder
      ? Array(pending.prefix(.random(in: 0...pending.count, using: &random)))
      : pending.filter { _ in rest.keeps(&random) }
    for change in kept {
      for (name, node) in change { entries[name] = node }
    }
    for (name, node) in entries.sorted(by: { $0.key < $1.key }) {
      switch node {
      case .directory(let directory): try directory.write(to: "\(path)/\(name)", rest, &random)
      case .file(let file):
        try Data(file.content(rest, &random)).write(to: URL(filePath: "\(path)/\(name)"))
      }
    }
  }

  func collect(_ path: String, _ contents: inout [String: [UInt8]]) {
    for (name, node) in current {
      switch node {
      case .directory(let directory): directory.collect("\(path)\(name)/", &contents)
      case .file(let file): contents["\(path)\(name)"] = file.current
      }
    }
  }
}
