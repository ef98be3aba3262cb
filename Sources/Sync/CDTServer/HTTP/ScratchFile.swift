import CDTDatastore
import CDTDigest
import CDTPlatform

/// A temporary file of pieces. It is encrypted with a key that nobody keeps, has no name, and goes with the last reference.
struct ScratchFile: Sendable {
  private let file: OpenFile
  private let key = RandomBytes.make(AuthenticatedCipher.keyLength)
  /// The ends of the pieces in the file.
  private var ends: [Int64] = []

  static var directory: String { FileManager.default.temporaryDirectory.path }

  init() throws(SystemError) { file = try OpenFile.scratch(in: Self.directory) }

  var count: Int { ends.count }

  mutating func append(_ bytes: [UInt8]) throws(SystemError) {
    let piece = AuthenticatedCipher(key: key).seal(bytes, with: [])
    try piece.withUnsafeBufferPointer { bytes throws(SystemError) in
      try file.write(UnsafeRawBufferPointer(bytes))
    }
    ends.append((ends.last ?? 0) + Int64(piece.count))
  }

  func piece(_ number: Int) throws(DatastoreError) -> [UInt8] {
    let start = number == 0 ? 0 : ends[number - 1]
    let sealed = try FileSystem.perform(
      "read", Self.directory, file.bytes(at: start, count: Int(ends[number] - start)))
    guard let bytes = AuthenticatedCipher(key: key).open(sealed, with: []) else {
      throw DatastoreError(.io, "A temporary file was changed or cut off.")
    }
    return bytes
  }
}
