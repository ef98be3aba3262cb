#if canImport(CommonCrypto)
  import CommonCrypto
#else
  import CDTCCrypto
#endif

/// AES-256 of single blocks of 16 bytes (FIPS 197). The same block always gives the same result, so it is only for blocks that
/// hardly repeat. Not `Sendable`: each user has its own.
package final class BlockCipher {
  package static let blockLength = 16

  #if canImport(CommonCrypto)
    private let key: [UInt8]

    /// - Parameter key: 32 bytes.
    package init(key: [UInt8]) {
      precondition(key.count == 32)
      self.key = key
    }

    private func apply(_ operation: Int, _ block: UnsafeMutableRawPointer) {
      var written = 0
      let status = CCCrypt(
        CCOperation(operation), CCAlgorithm(kCCAlgorithmAES), CCOptions(kCCOptionECBMode), key, key.count,
        nil, block,
        Self.blockLength, block, Self.blockLength, &written)
      precondition(status == kCCSuccess)
    }

    /// Encrypts a block where it is.
    package func encrypt(_ block: UnsafeMutableRawPointer) { apply(kCCEncrypt, block) }

    /// Decrypts a block where it is.
    package func decrypt(_ block: UnsafeMutableRawPointer) { apply(kCCDecrypt, block) }
  #else
    private let encryption, decryption: OpaquePointer

    /// - Parameter key: 32 bytes.
    package init(key: [UInt8]) {
      precondition(key.count == 32)
      encryption = Libcrypto.context(Libcrypto.shared.aesECB, key: key, encrypts: true)
      decryption = Libcrypto.context(Libcrypto.shared.aesECB, key: key, encrypts: false)
      EVP_CIPHER_CTX_set_padding(encryption, 0)
      EVP_CIPHER_CTX_set_padding(decryption, 0)
    }

    deinit {
      EVP_CIPHER_CTX_free(encryption)
      EVP_CIPHER_CTX_free(decryption)
    }

    /// Encrypts a block where it is.
    package func encrypt(_ block: UnsafeMutableRawPointer) {
      var written: Int32 = 0
      let block = block.assumingMemoryBound(to: UInt8.self)
      Libcrypto.check(EVP_EncryptUpdate(encryption, block, &written, block, Int32(Self.blockLength)))
    }

    /// Decrypts a block where it is.
    package func decrypt(_ block: UnsafeMutableRawPointer) {
      var written: Int32 = 0
      let block = block.assumingMemoryBound(to: UInt8.self)
      Libcrypto.check(EVP_DecryptUpdate(decryption, block, &written, block, Int32(Self.blockLength)))
    }
  #endif
}
