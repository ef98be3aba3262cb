#if !canImport(CryptoKit)
  import CDTCCrypto

  /// A digest of libcrypto while it is computed.
  ///
  /// `@unchecked Sendable`: it has no lock. ``Digest`` changes it only through its one reference to it, and copies it otherwise.
  final class DigestContext: @unchecked Sendable {
    private let context: OpaquePointer

    private init() {
      guard let context = EVP_MD_CTX_new() else { fatalError("out of memory") }
      self.context = context
    }

    convenience init(_ function: Digest.Function) {
      self.init()
      Libcrypto.check(EVP_DigestInit_ex2(context, Libcrypto.shared.algorithm(function), nil))
    }

    convenience init(copying other: DigestContext) {
      self.init()
      Libcrypto.check(EVP_MD_CTX_copy_ex(context, other.context))
    }

    deinit { EVP_MD_CTX_free(context) }

    func update(_ bytes: UnsafeRawBufferPointer) {
      Libcrypto.check(EVP_DigestUpdate(context, bytes.baseAddress, bytes.count))
    }

    /// Calls a closure with the digest. Nothing can be added afterwards.
    func withFinalBytes<Result>(_ body: (UnsafeRawBufferPointer) throws -> Result) rethrows -> Result {
      try withUnsafeTemporaryAllocation(of: UInt8.self, capacity: Int(EVP_MAX_MD_SIZE)) { buffer in
        var count: UInt32 = 0
        Libcrypto.check(EVP_DigestFinal_ex(context, buffer.baseAddress, &count))
        return try body(UnsafeRawBufferPointer(rebasing: UnsafeRawBufferPointer(buffer)[..<Int(count)]))
      }
    }
  }

  /// The hash functions and ciphers of libcrypto, in a context of their own: what the system's configuration of OpenSSL allows for security,
  /// as in the mode of FIPS 140, does not decide about digests that only identify content.
  ///
  /// `@unchecked Sendable`: it has no lock. The pointers are made once, and libcrypto only reads what they point to.
  final class Libcrypto: @unchecked Sendable {
    static let shared = Libcrypto()

    private let md5, sha1, sha256: OpaquePointer
    let aesGCM, aesECB: OpaquePointer

    private init() {
      guard let library = OSSL_LIB_CTX_new(), OSSL_PROVIDER_load(library, "default") != nil,
        let md5 = EVP_MD_fetch(library, "MD5", nil), let sha1 = EVP_MD_fetch(library, "SHA1", nil),
        let sha256 = EVP_MD_fetch(library, "SHA256", nil),
        let aesGCM = EVP_CIPHER_fetch(library, "AES-256-GCM", nil),
        let aesECB = EVP_CIPHER_fetch(library, "AES-256-ECB", nil)
      else {
        fatalError(
          "libcrypto has no MD5, SHA-1, SHA-256 or AES-256: install OpenSSL 3 with its default provider")
      }
      (self.md5, self.sha1, self.sha256) = (md5, sha1, sha256)
      (self.aesGCM, self.aesECB) = (aesGCM, aesECB)
    }

    func algorithm(_ function: Digest.Function) -> OpaquePointer {
      switch function {
      case .md5: md5
      case .sha1: sha1
      case .sha256: sha256
      }
    }

    /// A cipher with a key, in one direction.
    static func context(_ cipher: OpaquePointer, key: [UInt8], encrypts: Bool) -> OpaquePointer {
      guard let context = EVP_CIPHER_CTX_new() else { fatalError("out of memory") }
      check(EVP_CipherInit_ex2(context, cipher, key, nil, encrypts ? 1 : 0, nil))
      return context
    }

    /// Digests and ciphers fail only for lack of memory, as any allocation in Swift does.
    static func check(_ result: Int32) {
      if result != 1 { fatalError("out of memory") }
    }
  }
#endif
