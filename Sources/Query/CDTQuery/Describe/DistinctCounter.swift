import CDTJSON

/// Counts distinct values: exactly while they are few, then by an estimate in constant memory (HyperLogLog), whose standard
/// error is 1.04 / √2048, 2.3 %.
struct DistinctCounter {
  /// The hashes of the values while they are few, by their last bits; 0 is an empty place.
  private var table = [UInt64](repeating: 0, count: Self.places)
  private var known = 0
  /// For each group of hashes the longest run of zeros, and one; empty while the values are few.
  private var registers: [UInt8] = []

  private static let places = 1_024
  private static let maximumExact = 500
  private static let groups = 2_048
  private static let groupBits = UInt64(11)

  var isExact: Bool { registers.isEmpty }

  /// Adds a value by its hash.
  ///
  /// - Returns: Whether it is new, as far as that is known.
  @discardableResult
  mutating func insert(_ hash: UInt64) -> Bool {
    let hash = hash == 0 ? 1 : hash
    guard registers.isEmpty else {
      register(hash)
      return false
    }
    var place = Int(truncatingIfNeeded: hash) & (Self.places - 1)
    while table[place] != 0 {
      if table[place] == hash { return false }
      place = (place + 1) & (Self.places - 1)
    }
    table[place] = hash
    known += 1
    if known > Self.maximumExact {
      registers = [UInt8](repeating: 0, count: Self.groups)
      for hash in table where hash != 0 { register(hash) }
      table = []
    }
    return true
  }

  private mutating func register(_ hash: UInt64) {
    let group = Int(truncatingIfNeeded: hash >> (64 - Self.groupBits))
    let run = UInt8((hash << Self.groupBits | 1 << (Self.groupBits - 1)).leadingZeroBitCount + 1)
    if registers[group] < run { registers[group] = run }
  }

  /// The number of distinct values, or its estimate.
  var count: Int {
    guard !isExact else { return known }
    let groups = Double(Self.groups)
    var sum = 0.0
    var empty = 0
    for run in registers {
      sum += 1 / Double(UInt64(1) << UInt64(run))
      if run == 0 { empty += 1 }
    }
    let estimate = 0.7213 / (1 + 1.079 / groups) * groups * groups / sum
    if estimate <= 2.5 * groups, empty > 0 { return Int(groups * Self.logarithm(groups / Double(empty))) }
    return Int(estimate)
  }

  /// The natural logarithm of a number of at least 1.
  private static func logarithm(_ number: Double) -> Double {
    let quotient = (number.significand - 1) / (number.significand + 1)
    var (power, sum) = (quotient, 0.0)
    for divisor in stride(from: 1.0, to: 20, by: 2) {
      sum += power / divisor
      power *= quotient * quotient
    }
    return Double(number.exponent) * 0.693_147_180_559_945_3 + 2 * sum
  }

  /// A hash of bytes that differs between kinds of values.
  static func hash(_ bytes: UnsafeRawBufferPointer, kind: UInt64) -> UInt64 {
    var hash = mixed(kind &+ UInt64(bytes.count))
    var offset = 0
    while offset + 8 <= bytes.count {
      hash = mixed(hash ^ bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self))
      offset += 8
    }
    var last: UInt64 = 0
    while offset < bytes.count {
      last = last << 8 | UInt64(bytes[offset])
      offset += 1
    }
    return mixed(hash ^ last)
  }

  /// The finalizer of SplitMix64.
  static func mixed(_ number: UInt64) -> UInt64 {
    var number = number &+ 0x9E37_79B9_7F4A_7C15
    number = (number ^ number >> 30) &* 0xBF58_476D_1CE4_E5B9
    number = (number ^ number >> 27) &* 0x94D0_49BB_1331_11EB
    return number ^ number >> 31
  }
}
