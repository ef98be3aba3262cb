#if canImport(CommonCrypto)
  import CommonCrypto
#else
  import CDTCCrypto
#endif

/// A key could not be derived: there is no memory, or the function is not available on this system.
package struct KeyDerivationError: Error, CustomStringConvertible {
  package let description: String
}

/// Slow functions from a password to a key.
package enum KeyDerivation {
  /// scrypt (RFC 7914).
  ///
  /// - Parameters:
  ///   - cost: N, a power of two greater than 1.
  ///   - blockSize: r.
  ///   - parallelism: p.
  /// - Throws: ``KeyDerivationError`` for lack of memory or parameters that the function does not allow; on Apple's systems always,
  ///   as they don't have it.
  /// - Complexity: O(*cost* · *blockSize* · *parallelism*) time, 128 · *cost* · *blockSize* bytes.
  package static func scrypt(
    _ password: [UInt8], salt: [UInt8], cost: Int, blockSize: Int, parallelism: Int, count: Int
  ) throws(KeyDerivationError) -> [UInt8] {
    #if canImport(CommonCrypto)
      throw KeyDerivationError(description: "scrypt is not available on this system; use PBKDF2")
    #else
      guard let n = UInt64(exactly: cost), let r = UInt64(exactly: blockSize),
        let p = UInt64(exactly: parallelism)
      else { throw KeyDerivationError(description: "scrypt: the parameters are out of range") }
      return try derive("scrypt", count) { key in
        password.withUnsafeBytes { password in
          EVP_PBE_scrypt(
            password.baseAddress, password.count, salt, salt.count, n, r, p, .max, key.baseAddress, key.count)
        }
      }
    #endif
  }

  /// PBKDF2 (RFC 8018) with HMAC-SHA-256.
  ///
  /// - Throws: ``KeyDerivationError`` for lack of memory or parameters that the function does not allow.
  /// - Complexity: O(*iterations* · *count*)
  package static func pbkdf2(
    _ password: [UInt8], salt: [UInt8], iterations: Int, count: Int
  ) throws(KeyDerivationError) -> [UInt8] {
    try derive("PBKDF2", count) { key in
      password.withUnsafeBytes { password in
        let text = password.assumingMemoryBound(to: CChar.self)
        #if canImport(CommonCrypto)
          let status = CCKeyDerivationPBKDF(
            CCPBKDFAlgorithm(kCCPBKDF2), text.baseAddress, text.count, salt, salt.count,
            CCPseudoRandomAlgorithm(kCCPRFHmacAlgSHA256), UInt32(clamping: iterations), key.baseAddress,
            key.count)
          return status == Int32(kCCSuccess) ? 1 : 0
        #else
          return PKCS5_PBKDF2_HMAC(
            text.baseAddress, Int32(clamping: text.count), salt, Int32(clamping: salt.count),
            Int32(clamping: iterations), EVP_sha256(), Int32(clamping: key.count), key.baseAddress)
        #endif
      }
    }
  }

  private static func derive(
    _ name: String, _ count: Int, _ body: (UnsafeMutableBufferPointer<UInt8>) -> Int32
  ) throws(KeyDerivationError) -> [UInt8] {
    var key = [UInt8](repeating: 0, count: max(0, count))
    guard key.withUnsafeMutableBufferPointer({ body($0) }) == 1 else {
      throw KeyDerivationError(
        description:
          "\(name): a key of \(count) bytes can't be derived; the parameters or the memory do not allow it")
    }
    return key
  }
}
