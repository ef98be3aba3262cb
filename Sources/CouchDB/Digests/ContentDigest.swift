import CDTGzip
import Crypto
import FoundationEssentials

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

  private enum Hash: Sendable {
    case md5(Insecure.MD5)
    case sha1(Insecure.SHA1)
  }

  package let kind: Kind
  private var hash: Hash

  /// Begins with no bytes.
  package init(_ kind: Kind) {
    self.kind = kind
    switch kind {
    case .md5: hash = .md5(Insecure.MD5())
    case .sha1: hash = .sha1(Insecure.SHA1())
    }
  }

  /// Adds the next bytes.
  package mutating func update(_ bytes: UnsafeRawBufferPointer) {
    switch hash {
    case .md5(var md5):
      md5.update(bufferPointer: bytes)
      hash = .md5(md5)
    case .sha1(var sha1):
      sha1.update(bufferPointer: bytes)
      hash = .sha1(sha1)
    }
  }

  /// Adds the next bytes.
  package mutating func update(_ bytes: some RandomAccessCollection<UInt8>) {
    bytes.withBytes { update($0) }
  }

  /// The digest of the bytes so far.
  package var text: String {
    let bytes =
      switch hash {
      case .md5(let md5): Data(md5.finalize())
      case .sha1(let sha1): Data(sha1.finalize())
      }
    return "\(kind.rawValue)-\(bytes.base64EncodedString())"
  }
}
