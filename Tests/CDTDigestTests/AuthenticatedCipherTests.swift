import CDTDigest
import Testing

struct AuthenticatedCipherTests {
  private static func bytes(_ text: String) -> [UInt8] {
    var bytes: [UInt8] = []
    var rest = text[...]
    while let byte = UInt8(rest.prefix(2), radix: 16) {
      bytes.append(byte)
      rest = rest.dropFirst(2)
    }
    return bytes
  }

  /// Test case 16 of https://csrc.nist.rip/groups/ST/toolkit/BCM/documents/proposedmodes/gcm/gcm-spec.pdf.
  @Test func `it opens what the specification seals`() {
    let cipher = AuthenticatedCipher(
      key: Self.bytes("feffe9928665731c6d6a8f9467308308feffe9928665731c6d6a8f9467308308"))
    let plain = Self.bytes(
      "d9313225f88406e5a55909c5aff5269a86a7a9531534f7da2e4c303d8a318a72"
        + "1c3c0c95956809532fcf0e2449a6b525b16aedf5aa0de657ba637b39")
    let sealed = Self.bytes(
      "522dc1f099567d07f47f37a32a84427d643a8cdcbfe5c0c97598a2bd2555d1aa"
        + "8cb08e48590dbb3da7b08b1056828838c5f61e6393ba7a0abcc9f662" + "cafebabefacedbaddecaf888"
        + "76fc6ece0f4e1768cddf8853bb2d551b")
    let context = Self.bytes("feedfacedeadbeeffeedfacedeadbeefabaddad2")
    #expect(cipher.open(sealed, with: context) == plain)
  }

  @Test func `any change is noticed, and no nonce is used again`() {
    let cipher = AuthenticatedCipher(key: RandomBytes.make(32))
    var nonces: Set<[UInt8]> = []
    for count in 0..<200 {
      let bytes = RandomBytes.make(count)
      let sealed = cipher.seal(bytes, with: [1, 2])
      #expect(nonces.insert(Array(sealed[count..<count + 12])).inserted)
      #expect(cipher.open(sealed, with: [1, 2]) == bytes)
      #expect(cipher.open(sealed, with: [1, 3]) == nil)
      #expect(cipher.open(sealed.dropLast(), with: [1, 2]) == nil)
      var changed = sealed
      changed[Int.random(in: 0..<sealed.count)] ^= 1
      #expect(cipher.open(changed, with: [1, 2]) == nil)
      #expect(AuthenticatedCipher(key: RandomBytes.make(32)).open(sealed, with: [1, 2]) == nil)
    }
  }

  /// FIPS 197, appendix C.3.
  @Test func `a block is that of the standard`() {
    let cipher = BlockCipher(key: (0..<32).map { UInt8($0) })
    let plain = Self.bytes("00112233445566778899aabbccddeeff")
    var block = plain
    block.withUnsafeMutableBytes { $0.baseAddress.map(cipher.encrypt) }
    #expect(block == Self.bytes("8ea2b7ca516745bfeafc49904b496089"))
    block.withUnsafeMutableBytes { $0.baseAddress.map(cipher.decrypt) }
    #expect(block == plain)
  }
}
