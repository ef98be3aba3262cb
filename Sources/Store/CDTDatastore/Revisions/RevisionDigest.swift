import CDTDigest
import CDTPlatform

/// Computes revision ids as CDTDatastore does, so that the same edit made on two devices gets the same id.
///
/// The digest is the MD5 of: the length of the parent's id as one byte, that id, a byte 1 for a deletion or else 0,
/// the SHA-1 of each attachment in the order of their names, the canonical text of the body.
///
/// See <doc:FilesOfADatastore#Digests>.
package enum RevisionDigest {
  package static func revision(
    after parent: RevisionID?, isDeleted: Bool, attachments: [[UInt8]] = [], canonicalBody: [UInt8]
  ) throws -> RevisionID {
    let generation = try parent?.childGeneration() ?? 1
    var head: [UInt8] = [0]
    if let parent { head += parent.description.utf8 }
    head[0] = UInt8(truncatingIfNeeded: head.count - 1)
    head.append(isDeleted ? 1 : 0)
    for digest in attachments { head += digest }
    var hash = Digest(.md5)
    head.withUnsafeBytes { hash.update($0) }
    canonicalBody.withUnsafeBytes { hash.update($0) }
    return RevisionID(generation: generation, suffix: hash.withFinalBytes { Hexadecimal.text($0) })
  }

  /// Adds the digest of a document's first revision to a batch, and appends the id to text, with zeros in place of the digest.
  ///
  /// - Parameter canonicalBody: The canonical text; empty for a body without members.
  static func appendFirstRevision(
    canonicalBody: [UInt8], to batch: inout DigestBatch, _ text: inout [UInt8]
  ) {
    batch.append { message in
      // No parent, not deleted.
      message.append(0)
      message.append(0)
      if canonicalBody.count > 2 { message += canonicalBody }
    }
    text.append(UInt8(ascii: "1"))
    text.append(UInt8(ascii: "-"))
    text.append(contentsOf: repeatElement(UInt8(ascii: "0"), count: digitCount))
  }

  /// The number of digits of a digest.
  static let digitCount = 2 * DigestBatch.digestLength
}

extension RevisionID {
  /// The generation of this revision's children.
  ///
  /// - Throws: ``DatastoreError`` with the code `.invalidRevision` at the highest possible generation.
  func childGeneration() throws(DatastoreError) -> Int {
    let (next, overflow) = generation.addingReportingOverflow(1)
    guard !overflow else { throw DatastoreError(.generationTooHigh(self)) }
    return next
  }
}
