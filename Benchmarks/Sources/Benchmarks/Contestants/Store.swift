/// The stores that are measured, in the order of their turns.
enum Store: String, CaseIterable, Codable {
  case ours
  case yardstick
  /// The yardstick's file, not mapped into memory.
  case unmapped

  /// The stores that are loaded, indexed and changed; the other one reads the yardstick's file.
  static let changing: [Store] = [.ours, .yardstick]

  func directory(in parent: String) -> String {
    "\(parent)/\(self == .ours ? "ours" : "yardstick")"
  }

  /// Opens the store in its directory, which is there.
  func open(in parent: String) throws -> any Contestant {
    switch self {
    case .ours: try Ours(directory: directory(in: parent))
    case .yardstick: try Yardstick(directory: directory(in: parent), mapsFile: true)
    case .unmapped: try Yardstick(directory: directory(in: parent), mapsFile: false)
    }
  }

  /// Opens a new store; what was in its directory is gone.
  func openEmpty(in scratch: Scratch) throws -> any Contestant {
    try scratch.empty(directory(in: scratch.path))
    return try open(in: scratch.path)
  }
}
