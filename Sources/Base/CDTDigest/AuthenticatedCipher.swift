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
  /// The length of a nonce in bytes.
  package static let nonceLength = 12
  private static let tagLength = 16
  /// The number of bytes that sealing adds.
  package static let overhead = nonceLength + tagLength

  /// The first 8 bytes of each nonce, which are drawn when the count of the others begins.
  private var nonce: [UInt8] = []
  private var count: UInt32 = 0

  #if canImport(CryptoKit)
    private let key: SymmetricKey

    /// - Parameter key: ``keyLength`` bytes.
    package init(key: [UInt8]) {
      precondition(key.count == Self.keyLength)
      self.key = SymmetricKey(data: key)
    }
  #else
    private let sealing, opening: OpaquePointer

    /// - Parameter key: ``keyLength`` bytes.
    package init(key: [UInt8]) {
      precondition(key.count == Self.keyLength)
      sealing = Libcrypto.context(Libcrypto.shared.aesGCM, key: key, encrypts: true)
      opening = Libcrypto.context(Libcrypto.shared.aesGCM, key: key, encrypts: false)
    }

    deinit {
      EVP_CIPHER_CTX_free(sealing)
      EVP_CIPHER_CTX_free(opening)
    }

    /// Encrypts or decrypts bytes where they are, up to the tag.
    private static func run(
      _ cipher: OpaquePointer, _ bytes: UnsafeMutableRawBufferPointer, nonce: UnsafeMutableRawBufferPointer,
      with context: UnsafeRawBufferPointer
    ) {
      var written: Int32 = 0
      func octets(_ bytes: UnsafeRawBufferPointer) -> UnsafePointer<UInt8>? {
        bytes.baseAddress?.assumingMemoryBound(to: UInt8.self)
      }
      // The direction stays as it is.
      Libcrypto.check(EVP_CipherInit_ex2(cipher, nil, nil, octets(UnsafeRawBufferPointer(nonce)), -1, nil))
      if !context.isEmpty {
        Libcrypto.check(
          EVP_CipherUpdate(cipher, nil, &written, octets(context), Int32(clamping: context.count)))
      }
      if !bytes.isEmpty {
        let target = bytes.baseAddress?.assumingMemoryBound(to: UInt8.self)
        Libcrypto.check(EVP_CipherUpdate(cipher, target, &written, target, Int32(clamping: bytes.count)))
      }
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

  /// The nonce in sealed bytes. Each seal has a new nonce.
  package static func nonce(of sealed: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer {
    UnsafeRawBufferPointer(rebasing: sealed.dropLast(tagLength).suffix(nonceLength))
  }

  /// The parts of sealed bytes: the encrypted bytes, the nonce and the tag.
  private static func parts(
    _ sealed: UnsafeMutableRawBufferPointer
  ) -> (
    bytes: UnsafeMutableRawBufferPointer, nonce: UnsafeMutableRawBufferPointer,
    tag: UnsafeMutableRawBufferPointer
  ) {
    let (end, tag) = (sealed.count - overhead, sealed.count - tagLength)
    func part(_ range: Range<Int>) -> UnsafeMutableRawBufferPointer {
      UnsafeMutableRawBufferPointer(rebasing: sealed[range])
    }
    return (part(0..<end), part(end..<tag), part(tag..<sealed.count))
  }

  /// Encrypts bytes where they are.
  ///
  /// - Parameters:
  ///   - bytes: The bytes, and ``overhead`` more, which get the nonce and the tag.
  ///   - context: Bytes that are not encrypted, but have to be the same when the bytes are opened.
  package func seal(_ bytes: UnsafeMutableRawBufferPointer, with context: UnsafeRawBufferPointer) {
    precondition(bytes.count >= Self.overhead)
    let (bytes, nonce, tag) = Self.parts(bytes)
    takeNonce(nonce)
    #if canImport(CryptoKit)
      // A nonce of 12 bytes is valid, and AES-GCM seals whatever fits into memory.
      guard let made = try? AES.GCM.Nonce(data: UnsafeRawBufferPointer(nonce)),
        let box = try? AES.GCM.seal(
          UnsafeRawBufferPointer(bytes), using: key, nonce: made, authenticating: context)
      else { fatalError("out of memory") }
      _ = box.ciphertext.copyBytes(to: bytes)
      _ = box.tag.copyBytes(to: tag)
    #else
      Self.run(sealing, bytes, nonce: nonce, with: context)
      var (none, written): (UInt8, Int32) = (0, 0)
      Libcrypto.check(EVP_CipherFinal_ex(sealing, &none, &written))
      Libcrypto.check(
        EVP_CIPHER_CTX_ctrl(sealing, EVP_CTRL_AEAD_GET_TAG, Int32(Self.tagLength), tag.baseAddress))
    #endif
  }

  /// Decrypts bytes where they are. Zeros take the place of the nonce and the tag.
  ///
  /// - Returns: `false` if the bytes or the context are not what was sealed with this key; all bytes are zeros then.
  package func open(_ sealed: UnsafeMutableRawBufferPointer, with context: UnsafeRawBufferPointer) -> Bool {
    guard sealed.count >= Self.overhead else { return false }
    let (bytes, nonce, tag) = Self.parts(sealed)
    let isOpened: Bool
    #if canImport(CryptoKit)
      let box = (try? AES.GCM.Nonce(data: UnsafeRawBufferPointer(nonce))).flatMap {
        try? AES.GCM.SealedBox(
          nonce: $0, ciphertext: UnsafeRawBufferPointer(bytes), tag: UnsafeRawBufferPointer(tag))
      }
      let plain = box.flatMap { try? AES.GCM.open($0, using: key, authenticating: context) }
      _ = plain?.copyBytes(to: bytes)
      isOpened = plain != nil
    #else
      Self.run(opening, bytes, nonce: nonce, with: context)
      Libcrypto.check(
        EVP_CIPHER_CTX_ctrl(opening, EVP_CTRL_AEAD_SET_TAG, Int32(Self.tagLength), tag.baseAddress))
      var (none, written): (UInt8, Int32) = (0, 0)
      isOpened = EVP_CipherFinal_ex(opening, &none, &written) == 1
    #endif
    let cleared = isOpened ? UnsafeMutableRawBufferPointer(rebasing: sealed[bytes.count...]) : sealed
    cleared.initializeMemory(as: UInt8.self, repeating: 0)
    return isOpened
  }

  /// The encrypted bytes, followed by the nonce and the tag.
  package func seal(_ bytes: some Collection<UInt8>, with context: [UInt8]) -> [UInt8] {
    var sealed = Array(bytes) + [UInt8](repeating: 0, count: Self.overhead)
    sealed.withUnsafeMutableBytes { sealed in context.withUnsafeBytes { seal(sealed, with: $0) } }
    return sealed
  }

  /// The bytes that ``seal(_:with:)`` has encrypted; `nil` if they are not what was sealed.
  package func open(_ sealed: some Collection<UInt8>, with context: [UInt8]) -> [UInt8]? {
    var sealed = Array(sealed)
    let isOpened = sealed.withUnsafeMutableBytes { sealed in
      context.withUnsafeBytes { open(sealed, with: $0) }
    }
    return isOpened ? Array(sealed.dropLast(Self.overhead)) : nil
  }
}
