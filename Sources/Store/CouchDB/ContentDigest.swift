import CDTDigest
import CDTGzip
import CDTJSON
import CDTPlatform

/// The digest of content that arrives in pieces, as CouchDB writes it: `md5-` or `sha1-`, and the hash in base64.
///
/// ```swift
/// let expected = "md5-XrY7u+Ae7tCTyyK7j1rNww=="
/// if let kind = ContentDigest.Kind(of: expected) {
///   var digest = ContentDigest(kind)
///   digest.update(bytes)
///   digest.text == expected
/// }
/// ```
package struct ContentDigest: Sendable {
  /// The hash function.
  package enum Kind: String, Sendable, Hashable, CaseIterable {
    case md5
    case sha1

    /// The kind of a digest; `nil` for one that can't be computed here.
    package init?(of digest: String) {
      guard let kind = Self.allCases.first(where: { digest.utf8.starts(with: "\($0.rawValue)-".utf8) }) else {
        return nil
      }
      self = kind
    }
  }

  /// The 20 bytes of a digest `sha1-…`; `nil` for another digest.
  package static func sha1(_ digest: String) -> [UInt8]? {
    guard let base64 = digest.afterBytePrefix("sha1-"), let bytes = Base64.decode(base64), bytes.count == 20
    else { return nil }
    return Array(bytes)
  }

  package let kind: Kind
  private var hash: Digest

  /// Begins with no bytes.
  package init(_ kind: Kind) {
    self.kind = kind
    hash = Digest(kind == .md5 ? .md5 : .sha1)
  }

  /// Adds the next bytes.
  package mutating func update(_ bytes: UnsafeRawBufferPointer) {
    hash.update(bytes)
  }

  /// Adds the next bytes.
  package mutating func update(_ bytes: some RandomAccessCollection<UInt8>) {
    bytes.withBytes { update($0) }
  }

  /// The digest of the bytes so far.
  package var text: String {
    "\(kind.rawValue)-\(Data(hash.finalize()).base64EncodedString())"
  }
}
