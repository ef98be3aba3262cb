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
    var input: [UInt8] = []
    input.reserveCapacity(canonicalBody.count + 40)
    let parentText = Array((parent?.description ?? "").utf8)
    input.append(UInt8(truncatingIfNeeded: parentText.count))
    input += parentText
    input.append(isDeleted ? 1 : 0)
    for digest in attachments { input += digest }
    input += canonicalBody
    return RevisionID(generation: generation, suffix: hex(Insecure.MD5.hash(data: input)))
  }

  static func hex(_ digest: some Sequence<UInt8>) -> String {
    let digits = Array("0123456789abcdef".utf8)
    return String(unsafeUninitializedCapacity: 64) { buffer in
      var count = 0
      for byte in digest where count + 2 <= buffer.count {
        buffer[count] = digits[Int(byte >> 4)]
        buffer[count + 1] = digits[Int(byte & 15)]
        count += 2
      }
      return count
    }
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
