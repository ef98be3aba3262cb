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

  /// Appends the id of a document's first revision to text.
  ///
  /// - Parameters:
  ///   - canonicalBody: The canonical text; empty for a body without members.
  ///   - hash: An MD5 without bytes, whose memory is used.
  static func appendFirstRevision(canonicalBody: [UInt8], with hash: inout Digest, to text: inout [UInt8]) {
    // No parent, not deleted.
    withUnsafeBytes(of: (UInt8(0), UInt8(0))) { hash.update($0) }
    if canonicalBody.count > 2 { canonicalBody.withUnsafeBytes { hash.update($0) } }
    text.append(UInt8(ascii: "1"))
    text.append(UInt8(ascii: "-"))
    hash.withFinalBytesAndRestart { Hexadecimal.append($0, to: &text) }
  }
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
