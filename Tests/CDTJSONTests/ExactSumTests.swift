import CDTTestSupport
import Testing

@testable import CDTJSON

/// Sums are those of whole numbers of any length, rounded once.
@Suite struct ExactSumTests {
  /// A multiple of 2^-1074 as a two's complement number, long enough for any sum of a test.
  private struct Wide: Equatable {
    var limbs = [UInt32](repeating: 0, count: 72)

    init() {}

    init(_ number: JSONNumber) {
      switch number {
      case .int(let int): set(int.magnitude, at: 1_074, isNegative: int < 0)
      case .double(let double):
        let exponent = max(Int(double.exponentBitPattern), 1) - 1
        let significand = double.significandBitPattern | (double.isNormal ? 1 << 52 : 0)
        set(significand, at: exponent, isNegative: double < 0)
      }
    }

    private mutating func set(_ significand: UInt64, at bit: Int, isNegative: Bool) {
      for offset in 0..<64 where significand >> UInt64(offset) & 1 == 1 {
        limbs[(bit + offset) / 32] |= 1 << UInt32((bit + offset) % 32)
      }
      if isNegative { self = Wide() - self }
    }

    var isNegative: Bool { (limbs.last ?? 0) >> 31 == 1 }
    var absolute: Wide { isNegative ? Wide() - self : self }

    static func + (left: Wide, right: Wide) -> Wide {
      var (sum, carry) = (left, UInt64(0))
      for index in sum.limbs.indices {
        let digit = UInt64(left.limbs[index]) + UInt64(right.limbs[index]) + carry
        sum.limbs[index] = UInt32(truncatingIfNeeded: digit)
        carry = digit >> 32
      }
      return sum
    }

    static func - (left: Wide, right: Wide) -> Wide {
      var (inverse, one) = (right, Wide())
      for index in inverse.limbs.indices { inverse.limbs[index] = ~inverse.limbs[index] }
      one.limbs[0] = 1
      return left + inverse + one
    }

    func times(_ factor: Int) -> Wide {
      (0..<factor.bitWidth).reversed().reduce(Wide()) { product, bit in
        factor >> bit & 1 == 1 ? product + product + self : product + product
      }
    }

    static func < (left: Wide, right: Wide) -> Bool { (left - right).isNegative }
  }

  /// Whether a number is the double that is nearest to a quotient, and of two equally near ones the even one.
  private static func isNearest(_ value: JSONValue, to sum: Wide, dividedBy count: Int) -> Bool {
    guard let number = JSONNumber(value), let double = value.doubleValue else { return false }
    func distance(_ number: JSONNumber) -> Wide { (Wide(number).times(count) - sum).absolute }
    // Integers of 64 bits that are no doubles are exact.
    let own = distance(number)
    if case .int(let int) = value, Int64(exactly: double) != int { return own == Wide() }
    return [double.nextUp, double.nextDown].filter(\.isFinite).allSatisfy { other in
      let others = distance(.double(other))
      return own < others || own == others && double.significandBitPattern & 1 == 0
    }
  }

  private static func numbers(_ random: inout RandomValues) -> [JSONNumber] {
    let kind = random.number(below: 5)
    return (0..<(1 + random.number(below: 12))).map { _ in
      let bits = random.next()
      switch kind {
      case 0: return .int(Int64(bitPattern: bits >> UInt64(random.number(below: 64))))
      case 1: return .double(Double(Int64(truncatingIfNeeded: bits % 100_000)) / 100 - 500)
      // Those that nearly cancel out.
      case 2:
        return .double(
          (Double(bits % 8) - 4) * Double(sign: .plus, exponent: Int(bits >> 60) * 60 - 500, significand: 1.5)
        )
      case 3: return .double(Double(bitPattern: bits & ~(0x7FE << 52)))
      default:
        let double = Double(bitPattern: bits)
        return .double(double.isFinite && double.exponent < 1_000 ? double : 0.1)
      }
    }
  }

  @Test func `sums and averages are rounded once`() {
    let seed = testSeed(31)
    var random = RandomValues(seed: seed)
    for _ in 0..<400 {
      let numbers = Self.numbers(&random)
      var sum = ExactSum()
      for number in numbers { sum.add(number) }
      let exact = numbers.reduce(Wide()) { $0 + Wide($1) }
      #expect(
        Self.isNearest(sum.total, to: exact, dividedBy: 1), "seed \(seed): \(numbers): \(sum.total.text)")
      #expect(
        Self.isNearest(sum.average, to: exact, dividedBy: numbers.count),
        "seed \(seed): average of \(numbers): \(sum.average.text)")
      // In another order, and after other numbers have come and gone.
      var other = ExactSum()
      let passing = Self.numbers(&random)
      for number in numbers.shuffled(using: &random) + passing { other.add(number) }
      for number in passing.shuffled(using: &random) { other.remove(number) }
      #expect(other.count == numbers.count)
      #expect(other.total.text == sum.total.text, "seed \(seed): \(numbers), \(passing)")
      #expect(other.average.text == sum.average.text, "seed \(seed): \(numbers), \(passing)")
    }
  }

  struct Case: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let numbers: [String]
    let sum, average: String
  }

  static let cases = [
    Case(testDescription: "nothing", numbers: [], sum: "0", average: "null"),
    Case(testDescription: "integers", numbers: ["1", "2"], sum: "3", average: "1.5"),
    Case(testDescription: "doubles that are integers", numbers: ["1.0", "2e0"], sum: "3", average: "1.5"),
    Case(testDescription: "tenths", numbers: ["0.1", "0.2", "0.3"], sum: "0.6", average: "0.2"),
    Case(testDescription: "halves", numbers: ["0.5", "0.5"], sum: "1", average: "0.5"),
    Case(testDescription: "zeros", numbers: ["-0.0", "0"], sum: "0", average: "0"),
    Case(
      testDescription: "integers beyond 64 bits", numbers: ["9223372036854775807", "9223372036854775807"],
      sum: "18446744073709551614", average: "9.223372036854776e+18"),
    Case(
      testDescription: "integers below 64 bits", numbers: Array(repeating: "-9223372036854775808", count: 3),
      sum: "-27670116110564327424", average: "-9223372036854775808"),
    Case(
      testDescription: "integers that come back into 64 bits",
      numbers: ["9223372036854775807", "1", "-2"], sum: "9223372036854775806", average: "3074457345618258432"),
    Case(
      testDescription: "numbers that cancel out", numbers: ["1e100", "1", "0.5", "-1e100"], sum: "1.5",
      average: "0.375"),
    Case(
      testDescription: "a sum that passes the range of a double", numbers: ["1e308", "1e308", "-1e308"],
      sum: "1e+308", average: "3.333333333333333e+307"),
    Case(
      testDescription: "a sum beyond the range of a double", numbers: ["1e308", "1e308"], sum: "null",
      average: "1e+308"),
    Case(testDescription: "the least number", numbers: ["5e-324", "0"], sum: "5e-324", average: "0"),
  ]

  @Test(arguments: cases) func adds(_ c: Case) throws {
    var sum = ExactSum()
    for text in c.numbers { sum.add(try #require(try JSONNumber(JSONValue(parsing: text)))) }
    #expect(sum.total.text == c.sum)
    #expect(sum.average.text == c.average)
  }

  @Test func `sums are added, removed and stored, and equal ones have equal bytes`() throws {
    var random = RandomValues(seed: 29)
    for _ in 0..<300 {
      let (first, second) = (Self.numbers(&random), Self.numbers(&random))
      var (left, right, both, backwards) = (ExactSum(), ExactSum(), ExactSum(), ExactSum())
      for number in first { left.add(number) }
      for number in second { right.add(number) }
      for number in first + second { both.add(number) }
      for number in (first + second).reversed() { backwards.add(number) }
      var sum = right
      sum.add(left)
      #expect(sum.total == both.total)
      var bytes: [[UInt8]] = [[], [], []]
      both.append(to: &bytes[0])
      backwards.append(to: &bytes[1])
      sum.append(to: &bytes[2])
      #expect(Set(bytes).count == 1)
      var offset = 0
      let read = try #require(bytes[0].withUnsafeBytes { ExactSum($0, at: &offset) })
      #expect(offset == bytes[0].count && read.count == both.count && read.total == both.total)
      sum = read
      sum.add(right, isRemoved: true)
      #expect(sum.total == left.total && sum.count == left.count && !sum.isEmpty)
      for number in first { sum.remove(number) }
      #expect(sum.isEmpty)
    }
  }

  @Test func `a difference of sums keeps its fraction`() throws {
    var random = RandomValues(seed: 32)
    for _ in 0..<300 {
      // As many fractions come as go.
      let numbers = (Self.numbers(&random), Self.numbers(&random))
      let count = min(numbers.0.count, numbers.1.count)
      var (difference, old, new) = (ExactSum(), ExactSum(), ExactSum())
      for (number, next) in zip(numbers.0.prefix(count), numbers.1.prefix(count)) {
        difference.remove(number)
        difference.add(next)
        old.add(number)
        new.add(next)
      }
      let isSame = old.total == new.total && old.average == new.average
      var sum = old
      if !difference.isEmpty { sum.add(difference) }
      var bytes: [[UInt8]] = [[], []]
      sum.append(to: &bytes[0])
      new.append(to: &bytes[1])
      #expect(bytes[0] == bytes[1], "\(numbers)")
      #expect(isSame || !difference.isEmpty)
    }
  }

  struct Square: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let numbers: [String]
    let sum: String
  }

  static let squares = [
    Square(testDescription: "integers", numbers: ["3", "-4", "5.0"], sum: "50"),
    Square(testDescription: "halves", numbers: ["0.5", "1.5"], sum: "2.5"),
    Square(
      testDescription: "integers whose squares are beyond 64 bits", numbers: ["9223372036854775807", "-1"],
      sum: "85070591730234615847396907784232501250"),
    Square(testDescription: "a square beyond the range of a double", numbers: ["1e200", "2"], sum: "null"),
    Square(testDescription: "a square below the range of a double", numbers: ["1e-200", "2"], sum: "4"),
    Square(testDescription: "the greatest and the least", numbers: ["1.7e308", "5e-324"], sum: "null"),
  ]

  @Test(arguments: squares) func `adds and removes squares`(_ c: Square) throws {
    var sum = ExactSum()
    let numbers = try c.numbers.map { try #require(try JSONNumber(JSONValue(parsing: $0))) }
    for number in numbers { sum.addSquare(of: number) }
    #expect(sum.total.text == c.sum && sum.count == numbers.count)
    var bytes: [UInt8] = []
    sum.append(to: &bytes)
    var offset = 0
    sum = try #require(bytes.withUnsafeBytes { ExactSum($0, at: &offset) })
    #expect(sum.total.text == c.sum)
    for number in numbers { sum.addSquare(of: number, isRemoved: true) }
    #expect(sum.isEmpty)
  }

  @Test func `a negative sum of sums stays short`() {
    var (sum, addend, bytes) = (ExactSum(), ExactSum(), [UInt8]())
    addend.add(.double(-0.5))
    for _ in 0..<1_000 { sum.add(addend) }
    #expect(sum.digits.count <= 4)
    #expect(sum.total == -500)
    sum.append(to: &bytes)
    #expect(bytes.count < 20)
  }

  @Test func `bytes other than a sum are refused`() {
    var sum = ExactSum()
    for number in [0.1, -2.5, 1e300] { sum.add(.double(number)) }
    var bytes: [UInt8] = []
    sum.append(to: &bytes)
    var random = RandomValues(seed: 30)
    for round in 0..<2_000 {
      var other = bytes
      other[random.number(below: other.count)] = UInt8(truncatingIfNeeded: random.next())
      if round % 3 == 0 { other.removeLast(random.number(below: other.count)) }
      var offset = 0
      guard var read = other.withUnsafeBytes({ ExactSum($0, at: &offset) }) else { continue }
      read.add(sum)
      read.add(.int(.max))
      _ = (read.total, read.average, read.isEmpty)
    }
  }
}
