import Crypto
import Testing

@testable import CDTDatastore

/// ``MD5`` against another implementation, as what differs between messages of one batch is where it could go wrong.
@Suite struct MD5Tests {
  @Test func everyLengthAroundTheBlocksHasItsDigest() {
    check((0...260).map { length in (0..<length).map { UInt8(truncatingIfNeeded: 7 * $0 + length) } })
  }

  @Test func eachMessageAloneHasItsDigest() {
    for length in [0, 1, 55, 56, 63, 64, 65, 119, 120, 128, 1_000] {
      check([[UInt8](repeating: UInt8(ascii: "x"), count: length)])
    }
  }

  @Test func messagesOfManyLengthsAtOnceHaveTheirDigests() {
    let seed = UInt64.random(in: 0 ... .max)
    var state = seed
    func next() -> Int {
      state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
      return Int(truncatingIfNeeded: state >> 40)
    }
    check(
      (0..<50).map { _ in (0..<next() % 2_000).map { _ in UInt8(truncatingIfNeeded: next()) } },
      "seed \(seed)")
  }

  private func check(_ messages: [[UInt8]], _ comment: Comment? = nil) {
    var bytes: [UInt8] = []
    let ranges = messages.map { message in
      let start = bytes.count
      bytes += message
      MD5.pad(&bytes, from: start)
      return start..<bytes.count
    }
    var digests: [Int: [UInt8]] = [:]
    MD5.forEachDigest(of: ranges, in: bytes) { number, digest in
      var bytes: [UInt8] = []
      digest.forEachByte { bytes.append($0) }
      digests[number] = bytes
    }
    #expect(digests.count == messages.count, comment)
    for (number, message) in messages.enumerated() {
      #expect(digests[number] == Array(Insecure.MD5.hash(data: message)), comment)
    }
  }
}
