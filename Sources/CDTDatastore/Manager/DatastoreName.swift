/// The rules for datastore names: `^[a-zA-Z]+[a-zA-Z0-9_]*$`, so that a name is always a single path component.
enum DatastoreName {
  /// The maximum length of a name, supported by every file system.
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
