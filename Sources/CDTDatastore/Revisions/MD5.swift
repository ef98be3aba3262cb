import JSON

/// MD5 (RFC 1321) of many messages at once: eight go side by side through one vector, which takes little longer than one
/// alone, as each step of MD5 waits for the one before.
///
/// It is what makes revision ids comparable with those of CDTDatastore. Nothing here relies on it being hard to forge.
enum MD5 {
  private typealias Lanes = SIMD8<UInt32>
  private static let lanes = Lanes.scalarCount

  /// A digest as the four words that it consists of.
  struct Digest {
    fileprivate let words: (UInt32, UInt32, UInt32, UInt32)

    /// Gives the sixteen bytes in turn.
    @inline(__always)
    func forEachByte(_ body: (UInt8) -> Void) {
      for byte in 0..<16 {
        let word = byte < 8 ? (byte < 4 ? words.0 : words.1) : (byte < 12 ? words.2 : words.3)
        body(UInt8(truncatingIfNeeded: word >> UInt32(8 * (byte & 3))))
      }
    }
  }

  /// Appends what a message is followed by so that it fills its blocks: a bit, zeros, and its length in bits.
  ///
  /// - Parameter start: Where the message begins; it is the end of `bytes`, which has nothing but whole blocks before it.
  static func pad(_ bytes: inout [UInt8], from start: Int) {
    let bits = UInt64(bytes.count - start) &* 8
    bytes.append(0x80)
    let rest = (bytes.count - start + 8) & (blockLength - 1)
    if rest > 0 { bytes.append(contentsOf: repeatElement(0, count: blockLength - rest)) }
    withUnsafeBytes(of: bits.littleEndian) { bytes.append(contentsOf: $0) }
  }

  private static let blockLength = 64

  /// Gives the digest of each message.
  ///
  /// - Parameters:
  ///   - messages: Where each of them lies in `bytes`, with what ``pad(_:from:)`` put behind it.
  ///   - body: Gets the message's number in `messages` and its digest.
  static func forEachDigest(of messages: [Range<Int>], in bytes: [UInt8], _ body: (Int, Digest) -> Void) {
    var block = [UInt8](repeating: 0, count: blockLength * lanes)
    bytes.withUnsafeBytes { bytes in
      block.withUnsafeMutableBytes { block in
        for start in stride(from: 0, to: messages.count, by: lanes) {
          let end = min(start + lanes, messages.count)
          let (a, b, c, d) = digests(of: messages[start..<end], in: JSONBytes(bytes), block)
          for lane in 0..<end - start {
            body(start + lane, Digest(words: (a[lane], b[lane], c[lane], d[lane])))
          }
        }
      }
    }
  }

  /// The digests of up to eight messages, word by word.
  ///
  /// - Parameter block: Room for a block of each: their first words, their second words, and so on.
  private static func digests(
    of messages: ArraySlice<Range<Int>>, in bytes: JSONBytes, _ block: UnsafeMutableRawBufferPointer
  ) -> (a: Lanes, b: Lanes, c: Lanes, d: Lanes) {
    var a = Lanes(repeating: 0x6745_2301)
    var b = Lanes(repeating: 0xEFCD_AB89)
    var c = Lanes(repeating: 0x98BA_DCFE)
    var d = Lanes(repeating: 0x1032_5476)
    var starts = SIMD8<Int>()
    var blocks = Lanes.MaskStorage()
    for (lane, message) in messages.enumerated() {
      starts[lane] = message.lowerBound
      blocks[lane] = Int32(clamping: message.count / blockLength)
    }
    for number in 0..<blocks.max() {
      // A message that has ended goes on in what follows it, for nothing.
      for lane in 0..<lanes { load(bytes, at: starts[lane] + Int(number) * blockLength, into: block, lane) }
      let (oldA, oldB, oldC, oldD) = (a, b, c, d)
      rounds(UnsafeRawBufferPointer(block), &a, &b, &c, &d)
      // A message that has ended keeps its state.
      let isDone = blocks .<= number
      a = (oldA &+ a).replacing(with: oldA, where: isDone)
      b = (oldB &+ b).replacing(with: oldB, where: isDone)
      c = (oldC &+ c).replacing(with: oldC, where: isDone)
      d = (oldD &+ d).replacing(with: oldD, where: isDone)
    }
    return (a, b, c, d)
  }

  /// Puts a block of a message into its lane, if all of it is within the bytes.
  @inline(__always)
  private static func load(
    _ bytes: JSONBytes, at start: Int, into block: UnsafeMutableRawBufferPointer, _ lane: Int
  ) {
    let message = bytes.slice(start, start + blockLength)
    guard message.count == blockLength, block.count == lanes * blockLength, lane < lanes else { return }
    let word = MemoryLayout<UInt32>.size
    for pair in 0..<8 {
      let both = UInt64(littleEndian: message.loadUnaligned(fromByteOffset: 8 * pair, as: UInt64.self))
      let place = (2 * pair * lanes + lane) * word
      block.storeBytes(of: UInt32(truncatingIfNeeded: both), toByteOffset: place, as: UInt32.self)
      block.storeBytes(
        of: UInt32(truncatingIfNeeded: both >> 32), toByteOffset: place + lanes * word, as: UInt32.self)
    }
  }

  // MARK: Steps

  /// - Parameter block: Sixteen vectors.
  private static func rounds(
    _ block: UnsafeRawBufferPointer, _ a: inout Lanes, _ b: inout Lanes, _ c: inout Lanes, _ d: inout Lanes
  ) {
    guard block.count == 16 * MemoryLayout<Lanes>.size else { return }
    @inline(__always)
    func word(_ number: Int) -> Lanes {
      block.loadUnaligned(fromByteOffset: (number & 15) * MemoryLayout<Lanes>.size, as: Lanes.self)
    }
    for i in stride(from: 0, to: 16, by: 4) {
      step(&a, b, (b & c) | (~b & d), word(i), i, 7)
      step(&d, a, (a & b) | (~a & c), word(i + 1), i + 1, 12)
      step(&c, d, (d & a) | (~d & b), word(i + 2), i + 2, 17)
      step(&b, c, (c & d) | (~c & a), word(i + 3), i + 3, 22)
    }
    for i in stride(from: 16, to: 32, by: 4) {
      step(&a, b, (d & b) | (~d & c), word(5 * i + 1), i, 5)
      step(&d, a, (c & a) | (~c & b), word(5 * i + 6), i + 1, 9)
      step(&c, d, (b & d) | (~b & a), word(5 * i + 11), i + 2, 14)
      step(&b, c, (a & c) | (~a & d), word(5 * i), i + 3, 20)
    }
    for i in stride(from: 32, to: 48, by: 4) {
      step(&a, b, b ^ c ^ d, word(3 * i + 5), i, 4)
      step(&d, a, a ^ b ^ c, word(3 * i + 8), i + 1, 11)
      step(&c, d, d ^ a ^ b, word(3 * i + 11), i + 2, 16)
      step(&b, c, c ^ d ^ a, word(3 * i + 14), i + 3, 23)
    }
    for i in stride(from: 48, to: 64, by: 4) {
      step(&a, b, c ^ (b | ~d), word(7 * i), i, 6)
      step(&d, a, b ^ (a | ~c), word(7 * i + 7), i + 1, 10)
      step(&c, d, a ^ (d | ~b), word(7 * i + 14), i + 2, 15)
      step(&b, c, d ^ (c | ~a), word(7 * i + 5), i + 3, 21)
    }
  }

  /// One step; inlined, so that it shifts by constants.
  @inline(__always)
  private static func step(
    _ target: inout Lanes, _ next: Lanes, _ mixed: Lanes, _ word: Lanes, _ number: Int, _ shift: UInt32
  ) {
    let sum = target &+ mixed &+ word &+ Lanes(repeating: constants[number])
    // The compiler takes two shifts for a rotation, for which it takes vectors apart; so one is a multiplication, of which
    // it makes a shift.
    let high = sum &* Lanes(repeating: 1 << shift)
    target = next &+ (high ^ sum &>> Lanes(repeating: 32 - shift))
  }

  /// The whole parts of 2³² times the sines of 1, 2, …
  private static let constants: [UInt32] = [
    0xD76A_A478, 0xE8C7_B756, 0x2420_70DB, 0xC1BD_CEEE, 0xF57C_0FAF, 0x4787_C62A,
    0xA830_4613, 0xFD46_9501, 0x6980_98D8, 0x8B44_F7AF, 0xFFFF_5BB1, 0x895C_D7BE,
    0x6B90_1122, 0xFD98_7193, 0xA679_438E, 0x49B4_0821, 0xF61E_2562, 0xC040_B340,
    0x265E_5A51, 0xE9B6_C7AA, 0xD62F_105D, 0x0244_1453, 0xD8A1_E681, 0xE7D3_FBC8,
    0x21E1_CDE6, 0xC337_07D6, 0xF4D5_0D87, 0x455A_14ED, 0xA9E3_E905, 0xFCEF_A3F8,
    0x676F_02D9, 0x8D2A_4C8A, 0xFFFA_3942, 0x8771_F681, 0x6D9D_6122, 0xFDE5_380C,
    0xA4BE_EA44, 0x4BDE_CFA9, 0xF6BB_4B60, 0xBEBF_BC70, 0x289B_7EC6, 0xEAA1_27FA,
    0xD4EF_3085, 0x0488_1D05, 0xD9D4_D039, 0xE6DB_99E5, 0x1FA2_7CF8, 0xC4AC_5665,
    0xF429_2244, 0x432A_FF97, 0xAB94_23A7, 0xFC93_A039, 0x655B_59C3, 0x8F0C_CC92,
    0xFFEF_F47D, 0x8584_5DD1, 0x6FA8_7E4F, 0xFE2C_E6E0, 0xA301_4314, 0x4E08_11A1,
    0xF753_7E82, 0xBD3A_F235, 0x2AD7_D2BB, 0xEB86_D391,
  ]
}
