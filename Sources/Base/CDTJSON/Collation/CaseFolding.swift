/// Unicode's simple case folding: each character has one counterpart.
struct CaseFolding: Sendable {
  static let shared = CaseFolding(CollationData.folding)

  private var counterparts: [UInt32: Unicode.Scalar] = [:]

  init(_ data: String) {
    var reader = CollationReader(data)
    reader.forEachRun { point, reader in
      let (count, stride, difference) = (reader.unsigned(), reader.unsigned(), reader.signed())
      for number in 0..<count {
        let from = point &+ number &* stride
        counterparts[from] = Unicode.Scalar(UInt32(truncatingIfNeeded: Int64(from) + Int64(difference)))
      }
      return (count &- 1) &* stride &+ 1
    }
  }

  func fold(_ string: UnsafeRawBufferPointer, to bytes: inout [UInt8]) {
    if string.allSatisfy({ $0 < 0x80 }) {
      for byte in string { bytes.append(byte >= 0x41 && byte <= 0x5A ? byte + 0x20 : byte) }
      return
    }
    for scalar in String(decoding: string, as: UTF8.self).unicodeScalars {
      bytes.append(contentsOf: UTF8.encode(counterparts[scalar.value] ?? scalar) ?? .init())
    }
  }
}
