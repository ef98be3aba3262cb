#if canImport(CryptoKit)
  import CryptoKit
#else
  import CDTCCrypto
#endif

/// The digest of bytes that arrive in pieces. A copy goes on independently.
///
/// ```swift
/// var digest = Digest(.sha1)
/// digest.update(bytes)
/// digest.finalize()  // 20 bytes
/// ```
///
/// MD5 and SHA-1 are what CDTDatastore and CouchDB identify content with. They don't protect it against somebody who can choose it.
package struct Digest: Sendable {
  /// A hash function.
  package enum Function: Sendable, Hashable {
    case md5
    case sha1
    case sha256

    /// The length of a digest in bytes.
    package var byteCount: Int {
      switch self {
      case .md5: 16
      case .sha1: 20
      case .sha256: 32
      }
    }
  }

  /// Adds the next bytes.
  package mutating func update(_ bytes: some Collection<UInt8>) {
    if bytes.withContiguousStorageIfAvailable({ update(UnsafeRawBufferPointer($0)) }) == nil {
      Array(bytes).withUnsafeBytes { update($0) }
    }
  }

  /// The digest of the bytes so far.
  package consuming func finalize() -> [UInt8] {
    withFinalBytes { Array($0) }
  }

  /// The digest of bytes.
  package static func hash(_ bytes: some Collection<UInt8>, _ function: Function) -> [UInt8] {
    var digest = Digest(function)
    digest.update(bytes)
    return digest.finalize()
  }

  #if canImport(CryptoKit)
    private enum State: Sendable {
      case md5(Insecure.MD5)
      case sha1(Insecure.SHA1)
      case sha256(SHA256)
    }

    private var state: State

    /// Begins with no bytes.
    package init(_ function: Function) {
      state =
        switch function {
        case .md5: .md5(Insecure.MD5())
        case .sha1: .sha1(Insecure.SHA1())
        case .sha256: .sha256(SHA256())
        }
    }

    /// Adds the next bytes.
    package mutating func update(_ bytes: UnsafeRawBufferPointer) {
      switch state {
      case .md5(var hash):
        hash.update(bufferPointer: bytes)
        state = .md5(hash)
      case .sha1(var hash):
        hash.update(bufferPointer: bytes)
        state = .sha1(hash)
      case .sha256(var hash):
        hash.update(bufferPointer: bytes)
        state = .sha256(hash)
      }
    }

    /// Calls a closure with the digest of the bytes so far.
    package consuming func withFinalBytes<Result>(
      _ body: (UnsafeRawBufferPointer) throws -> Result
    ) rethrows -> Result {
      switch state {
      case .md5(let hash): try hash.finalize().withUnsafeBytes(body)
      case .sha1(let hash): try hash.finalize().withUnsafeBytes(body)
      case .sha256(let hash): try hash.finalize().withUnsafeBytes(body)
      }
    }
  #else
    private var context: DigestContext

    /// Begins with no bytes.
    package init(_ function: Function) {
      context = DigestContext(function)
    }

    /// Adds the next bytes.
    package mutating func update(_ bytes: UnsafeRawBufferPointer) {
      if !isKnownUniquelyReferenced(&context) { context = DigestContext(copying: context) }
      context.update(bytes)
    }

    /// Calls a closure with the digest of the bytes so far.
    package consuming func withFinalBytes<Result>(
      _ body: (UnsafeRawBufferPointer) throws -> Result
    ) rethrows -> Result {
      if !isKnownUniquelyReferenced(&context) { context = DigestContext(copying: context) }
      return try context.withFinalBytes(body)
    }
  #endif
}
