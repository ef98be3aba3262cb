import Crypto
import JSON

/// Makes the ids of revisions as CDTDatastore does, so that the same edit made apart gives the same revision.
///
/// The digest is MD5 over: the length of the parent's id in one byte, that id, one byte 1 for a deletion or else 0, the
/// SHA-1 of each attachment in the order of their names, the canonical text of the body.
///
/// Source: `docs/file-format.md`, Digests.
enum RevisionDigest {
  static func revision(
    after parent: RevisionID?, isDeleted: Bool, attachments: [[UInt8]] = [], canonicalBody: [UInt8]
  ) throws -> RevisionID {
    let generation = try parent?.childGeneration() ?? 1
    var head: [UInt8] = [0]
    if let parent { head += parent.description.utf8 }
    head[0] = UInt8(truncatingIfNeeded: head.count - 1)
    head.append(isDeleted ? 1 : 0)
    for digest in attachments { head += digest }
    // One message alone is done sooner by what takes one at a time.
    var hash = Insecure.MD5()
    head.withUnsafeBytes { hash.update(bufferPointer: $0) }
    canonicalBody.withUnsafeBytes { hash.update(bufferPointer: $0) }
    return RevisionID(generation: generation, suffix: hex(hash.finalize()))
  }

  /// What holds the place of a first revision's id until ``Batch/write(to:)``.
  static let blank = Array("1-00000000000000000000000000000000".utf8)

  /// The first revisions of many documents, whose digests are made together, which costs a fraction.
  struct Batch {
    private var messages: [UInt8] = []
    private var ranges: [Range<Int>] = []
    private var places: [Int] = []

    /// Adds a revision whose id is to be written where ``RevisionDigest/blank`` begins.
    ///
    /// - Parameter canonicalBody: The canonical text; that of a body without members counts as nothing.
    mutating func append(canonicalBody: [UInt8], revisionAt place: Int) {
      let start = messages.count
      // Neither a parent nor a deletion.
      messages.append(0)
      messages.append(0)
      if canonicalBody.count > 2 { messages += canonicalBody }
      MD5.pad(&messages, from: start)
      ranges.append(start..<messages.count)
      places.append(place)
    }

    /// Forgets every revision, but keeps the memory that they took.
    mutating func removeAll() {
      messages.removeAll(keepingCapacity: true)
      ranges.removeAll(keepingCapacity: true)
      places.removeAll(keepingCapacity: true)
    }

    /// Writes the digests into their places.
    func write(to bytes: inout [UInt8]) {
      bytes.withUnsafeMutableBytes { bytes in
        MD5.forEachDigest(of: ranges, in: messages) { number, digest in
          // Bounds are looked at once for the digest, not for each of its digits.
          let start = places[number] + 2
          let digits = UnsafeMutableRawBufferPointer(rebasing: bytes[start..<start + 32])
          var place = 0
          digest.forEachByte { byte in
            digits[place] = RevisionDigest.digit(byte >> 4)
            digits[place + 1] = RevisionDigest.digit(byte & 15)
            place += 2
          }
        }
      }
    }
  }

  static func hex(_ digest: some Sequence<UInt8>) -> String {
    String(unsafeUninitializedCapacity: 64) { buffer in
      var count = 0
      for byte in digest where count + 2 <= buffer.count {
        buffer[count] = digit(byte >> 4)
        buffer[count + 1] = digit(byte & 15)
        count += 2
      }
      return count
    }
  }

  fileprivate static func digit(_ value: UInt8) -> UInt8 {
    value < 10 ? 0x30 + value : 0x61 + value - 10
  }
}

extension RevisionID {
  /// The generation of the revisions that come from this one.
  ///
  /// - Throws: ``DatastoreError`` with the code `.invalidRevision` at the highest generation there is.
  func childGeneration() throws(DatastoreError) -> Int {
    let (next, overflow) = generation.addingReportingOverflow(1)
    guard !overflow else { throw .generationTooHigh(self) }
    return next
  }
}
