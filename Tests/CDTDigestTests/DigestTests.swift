import CDTDigest
import Testing

@Suite struct DigestTests {
  struct Vector: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let function: Digest.Function
    let text: String
    let digest: String
  }

  /// The vectors of RFC 1321, RFC 3174 and FIPS 180-2.
  static let vectors = [
    Vector(
      testDescription: "MD5 of nothing", function: .md5, text: "", digest: "d41d8cd98f00b204e9800998ecf8427e"),
    Vector(
      testDescription: "MD5", function: .md5, text: "message digest",
      digest: "f96b697d7cb7938d525a2f31aaf161d0"),
    Vector(
      testDescription: "SHA-1 of nothing", function: .sha1, text: "",
      digest: "da39a3ee5e6b4b0d3255bfef95601890afd80709"),
    Vector(
      testDescription: "SHA-1", function: .sha1,
      text: "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
      digest: "84983e441c3bd26ebaae4aa1f95129e5e54670f1"),
    Vector(
      testDescription: "SHA-256", function: .sha256, text: "abc",
      digest: "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
  ]

  @Test(arguments: vectors) func `a published digest`(vector: Vector) {
    #expect(hex(Digest.hash(vector.text.utf8, vector.function)) == vector.digest)
  }

  @Test(arguments: [Digest.Function.md5, .sha1, .sha256])
  func `pieces have the digest of the whole, and a copy goes on independently`(function: Digest.Function) {
    let bytes = (0..<1_000).map { UInt8(truncatingIfNeeded: $0 &* 7) }
    var digest = Digest(function)
    digest.update(bytes[..<300])
    let half = digest
    digest.update(bytes[300...])
    #expect(digest.finalize() == Digest.hash(bytes, function))
    #expect(half.finalize() == Digest.hash(bytes[..<300], function))
    #expect(Digest.hash(bytes, function).count == function.byteCount)
  }

  @Test func `a batch has the digests of its messages, whatever their lengths`() {
    let bytes = (0..<300_000).map { UInt8(truncatingIfNeeded: $0 &* 7 ^ $0 >> 8) }
    var batch = DigestBatch()
    #expect(batch.all().isEmpty)
    // In the order of the second list, long messages run beside many short ones.
    for lengths in [Array(0..<200), [200_000, 0, 1, 150_000] + (0..<50).map { $0 * 37 } + [64, 300_000, 3]] {
      batch.removeAll()
      var expected: [UInt8] = []
      for length in lengths {
        batch.append { $0 += bytes[..<length] }
        expected += Digest.hash(bytes[..<length], .md5)
      }
      #expect(batch.all() == expected)
      batch.append { _ in }
      #expect(batch.all() == expected + Digest.hash([], .md5))
    }
  }

  /// RFC 4231, test case 2.
  @Test func `a published authentication code`() {
    let code = AuthenticationCode.hmacSHA256(
      Array("what do ya want for nothing?".utf8), key: Array("Jefe".utf8))
    #expect(hex(code) == "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843")
    #expect(AuthenticationCode.areEqual(code, code))
    #expect(!AuthenticationCode.areEqual(code, Array(code.dropLast())))
    #expect(!AuthenticationCode.areEqual(code, code.reversed()))
  }

  /// RFC 7914, section 12.
  @Test func `a published key of scrypt, where the system has it`() throws {
    func key() throws -> [UInt8] {
      try KeyDerivation.scrypt(
        Array("password".utf8), salt: Array("NaCl".utf8), cost: 1_024, blockSize: 8, parallelism: 16,
        count: 64)
    }
    #if canImport(CommonCrypto)
      #expect(throws: KeyDerivationError.self) { try key() }
    #else
      #expect(try hex(key()).hasPrefix("fdbabe1c9d3472007856e7190d01e9fe7c6ad7cbc8237830e77376634b373162"))
    #endif
  }

  /// RFC 7914, section 11.
  @Test func `published keys of PBKDF2`() throws {
    let other = try KeyDerivation.pbkdf2(
      Array("passwd".utf8), salt: Array("salt".utf8), iterations: 1, count: 64)
    #expect(hex(other).hasPrefix("55ac046e56e3089fec1691c22544b605f94185216dde0465e68b9d57c20dacbc"))
    let slow = try KeyDerivation.pbkdf2(
      Array("Password".utf8), salt: Array("NaCl".utf8), iterations: 80_000, count: 64)
    #expect(hex(slow).hasPrefix("4ddcd8f60b98be21830cee5ef22701f9641a4418d04c0414aeff08876b34ab56"))
  }

  @Test func `parameters that scrypt does not allow are an error`() {
    for cost in [-1, 0, 1, 3] {
      #expect(throws: KeyDerivationError.self) {
        try KeyDerivation.scrypt([1], salt: [2], cost: cost, blockSize: 8, parallelism: 1, count: 32)
      }
    }
  }

  private func hex(_ bytes: [UInt8]) -> String {
    bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
  }
}
