/// The names of datastores: `^[a-zA-Z]+[a-zA-Z0-9_]*$`, so that a name is always a directory of its own.
enum DatastoreName {
  /// The longest name, which every file system takes.
  static let maximumLength = 200

  static func check(_ name: String) throws(DatastoreError) {
    let bytes = name.utf8
    guard let first = bytes.first, bytes.count <= maximumLength, isLetter(first),
      bytes.allSatisfy({ isLetter($0) || 0x30...0x39 ~= $0 || $0 == UInt8(ascii: "_") })
    else { throw .invalidName(name) }
  }

  static func isValid(_ name: String) -> Bool {
    (try? check(name)) != nil
  }

  private static func isLetter(_ byte: UInt8) -> Bool {
    0x61...0x7A ~= byte | 0x20
  }
}
