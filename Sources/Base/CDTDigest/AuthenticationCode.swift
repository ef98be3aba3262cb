#if canImport(CryptoKit)
  import CDTCLibrary
  import CryptoKit
#else
  import CDTCCrypto
#endif

/// HMAC with SHA-256 (RFC 2104): shows that somebody who has the key has seen these bytes.
package enum AuthenticationCode {
  /// The code of bytes under a key.
  package static func hmacSHA256(_ bytes: [UInt8], key: [UInt8]) -> [UInt8] {
    #if canImport(CryptoKit)
      return Array(HMAC<SHA256>.authenticationCode(for: bytes, using: SymmetricKey(data: key)))
    #else
      var code = [UInt8](repeating: 0, count: Digest.Function.sha256.byteCount)
      let isComputed = code.withUnsafeMutableBufferPointer { code in
        HMAC(EVP_sha256(), key, Int32(clamping: key.count), bytes, bytes.count, code.baseAddress, nil) != nil
      }
      Libcrypto.check(isComputed ? 1 : 0)
      return code
    #endif
  }

  /// Whether two secrets are equal, in a time that does not depend on where they differ.
  package static func areEqual(_ left: [UInt8], _ right: [UInt8]) -> Bool {
    guard left.count == right.count else { return false }
    #if canImport(CryptoKit)
      return timingsafe_bcmp(left, right, left.count) == 0
    #else
      return CRYPTO_memcmp(left, right, left.count) == 0
    #endif
  }
}
