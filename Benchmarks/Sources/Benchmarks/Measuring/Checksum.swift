/// Reads every byte of what a store hands out, as its user would.
struct Checksum {
  private(set) var results = 0
  private(set) var sum: UInt64 = 0

  @inline(__always)
  mutating func take(_ bytes: UnsafeRawBufferPointer) {
    results += 1
    for byte in bytes { sum &+= UInt64(byte) }
  }
}
