#if canImport(CryptoKit)
  import CryptoKit
  import Foundation
#else
  import CDTCCrypto
#endif

/// AES-256 in Galois/Counter Mode (NIST SP 800-38D) with one key: the bytes are hidden, and every change of them is noticed.
///
/// A key may be used for 2³² nonces that are drawn at random. Not `Sendable`: each user has its own.
///
/// ```swift
/// let cipher = AuthenticatedCipher(key: RandomBytes.make(32))
/// let sealed = cipher.seal([1, 2, 3], with: [])
/// cipher.open(sealed, with: [])  // [1, 2, 3]
/// ```
package final class AuthenticatedCipher {
  /// The length of a key in bytes.
  package static let keyLength = 32
  package static let nonceLength = 12
  package static let tagLength = 16
  /// How many bytes longer sealed bytes are.
  package static let overhead = nonceLength + tagLength

  /// Half of each nonce is drawn once, and the rest counts.
  private var nonce: [UInt8] = []
  private var count: UInt32 = 0

  #if canImport(CryptoKit)
    private let key: SymmetricKey
  #else
    private let sealing, opening: OpaquePointer
  #endif

  /// - Parameter key: ``keyLength`` bytes.
  package init(key: [UInt8]) {
    precondition(key.count == Self.keyLength)
    #if canImport(CryptoKit)
      self.key = SymmetricKey(data: key)
    #else
      guard let sealing = EVP_CIPHER_CTX_new(), let opening = EVP_CIPHER_CTX_new() else {
        fatalError("out of memory")
      }
      (self.sealing, self.opening) = (sealing, opening)
      let cipher = Libcrypto.shared.aesGCM
      Libcrypto.check(EVP_EncryptInit_ex2(sealing, cipher, key, nil, nil))
      Libcrypto.check(EVP_DecryptInit_ex2(opening, cipher, key, nil, nil))
    #endif
  }

  #if !canImport(CryptoKit)
    deinit {
      EVP_CIPHER_CTX_free(sealing)
      EVP_CIPHER_CTX_free(opening)
    }
  #endif

  private func takeNonce(_ target: UnsafeMutableRawBufferPointer) {
    if count == 0 { nonce = RandomBytes.make(8) }
    target.copyBytes(from: nonce)
    withUnsafeBytes(of: count.bigEndian) {
      UnsafeMutableRawBufferPointer(rebasing: target[8...]).copyMemory(from: $0)
    }
    count &+= 1
  }

  /// Encrypts bytes where they are.
  ///
  /// - Parameters:
  ///   - seal: ``overhead`` bytes that get the nonce and the tag.
  ///   - context: What is not encrypted, but has to be the same when the bytes are opened.
  package func seal(
    _ bytes: UnsafeMutableRawBufferPointer, into seal: UnsafeMutableRawBufferPointer,
    with context: UnsafeRawBufferPointer
  ) {
    precondition(seal.count == Self.overhead)
    let nonce = UnsafeMutableRawBufferPointer(rebasing: seal[..<Self.nonceLength])
    takeNonce(nonce)
    let tag = UnsafeMutableRawBufferPointer(rebasing: seal[Self.nonceLength...])
    #if canImport(CryptoKit)
      // A nonce of 12 bytes is valid, and AES-GCM seals whatever fits into memory.
      guard let made = try? AES.GCM.Nonce(data: nonce),
        let box = try? AES.GCM.seal(bytes, using: key, nonce: made, authenticating: context)
      else { fatalError("out of memory") }
      _ = box.ciphertext.copyBytes(to: bytes)
      _ = box.tag.copyBytes(to: tag)
    #else
      var written: Int32 = 0
      Libcrypto.check(
        EVP_EncryptInit_ex2(sealing, nil, nil, nonce.baseAddress?.assumingMemoryBound(to: UInt8.self), nil))
      if !context.isEmpty {
        Libcrypto.check(
          EVP_EncryptUpdate(sealing, nil, &written, Self.octets(context), Int32(clamping: context.count)))
      }
      if !bytes.isEmpty {
        let target = bytes.baseAddress?.assumingMemoryBound(to: UInt8.self)
        Libcrypto.check(EVP_EncryptUpdate(sealing, target, &written, target, Int32(clamping: bytes.count)))
      }
      var none: UInt8 = 0
      Libcrypto.check(EVP_EncryptFinal_ex(sealing, &none, &written))
      Libcrypto.check(
        EVP_CIPHER_CTX_ctrl(sealing, EVP_CTRL_AEAD_GET_TAG, Int32(Self.tagLength), tag.baseAddress))
    #endif
  }

  /// Decrypts bytes where they are.
  ///
  /// - Returns: `false` if bytes, seal or context are not what was sealed with this key; the bytes are zeros then.
  package func open(
    _ bytes: UnsafeMutableRawBufferPointer, seal: UnsafeRawBufferPointer, with context: UnsafeRawBufferPointer
  ) -> Bool {
    precondition(seal.count == Self.overhead)
    let nonce = UnsafeRawBufferPointer(rebasing: seal[..<Self.nonceLength])
    let tag = UnsafeRawBufferPointer(rebasing: seal[Self.nonceLength...])
    let isOpened: Bool
    #if canImport(CryptoKit)
      let box = (try? AES.GCM.Nonce(data: nonce)).flatMap {
        try? AES.GCM.SealedBox(nonce: $0, ciphertext: UnsafeRawBufferPointer(bytes), tag: tag)
      }
      let plain = box.flatMap { try? AES.GCM.open($0, using: key, authenticating: context) }
      _ = plain?.copyBytes(to: bytes)
      isOpened = plain != nil
    #else
      var written: Int32 = 0
      var expected = [UInt8](tag)
      Libcrypto.check(
        EVP_DecryptInit_ex2(opening, nil, nil, nonce.baseAddress?.assumingMemoryBound(to: UInt8.self), nil))
      if !context.isEmpty {
        Libcrypto.check(
          EVP_DecryptUpdate(opening, nil, &written, Self.octets(context), Int32(clamping: context.count)))
      }
      if !bytes.isEmpty {
        let target = bytes.baseAddress?.assumingMemoryBound(to: UInt8.self)
        Libcrypto.check(EVP_DecryptUpdate(opening, target, &written, target, Int32(clamping: bytes.count)))
      }
      Libcrypto.check(EVP_CIPHER_CTX_ctrl(opening, EVP_CTRL_AEAD_SET_TAG, Int32(Self.tagLength), &expected))
      var none: UInt8 = 0
      isOpened = EVP_DecryptFinal_ex(opening, &none, &written) == 1
    #endif
    if !isOpened { bytes.initializeMemory(as: UInt8.self, repeating: 0) }
    return isOpened
  }

  #if !canImport(CryptoKit)
    private static func octets(_ bytes: UnsafeRawBufferPointer) -> UnsafePointer<UInt8>? {
      bytes.baseAddress?.assumingMemoryBound(to: UInt8.self)
    }
  #endif

  /// The encrypted bytes, followed by the nonce and the tag.
  package func seal(_ bytes: some Collection<UInt8>, with context: [UInt8]) -> [UInt8] {
    var sealed = Array(bytes) + [UInt8](repeating: 0, count: Self.overhead)
    sealed.withUnsafeMutableBytes { sealed in
      let (bytes, seal) = Self.parts(sealed)
      context.withUnsafeBytes { self.seal(bytes, into: seal, with: $0) }
    }
    return sealed
  }

  /// The bytes that ``seal(_:with:)`` has encrypted; `nil` if they are not what was sealed.
  package func open(_ sealed: some Collection<UInt8>, with context: [UInt8]) -> [UInt8]? {
    var sealed = Array(sealed)
    guard sealed.count >= Self.overhead else { return nil }
    let isOpened = sealed.withUnsafeMutableBytes { sealed in
      let (bytes, seal) = Self.parts(sealed)
      return context.withUnsafeBytes { open(bytes, seal: UnsafeRawBufferPointer(seal), with: $0) }
    }
    return isOpened ? Array(sealed.dropLast(Self.overhead)) : nil
  }

  private static func parts(
    _ sealed: UnsafeMutableRawBufferPointer
  ) -> (bytes: UnsafeMutableRawBufferPointer, seal: UnsafeMutableRawBufferPointer) {
    let end = sealed.count - overhead
    return (
      UnsafeMutableRawBufferPointer(rebasing: sealed[..<end]),
      UnsafeMutableRawBufferPointer(rebasing: sealed[end...])
    )
  }
}
