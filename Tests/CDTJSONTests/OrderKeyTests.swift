import CDTJSON
import CDTTestSupport
import Testing

/// Keys compare byte by byte as values do.
@Suite struct OrderKeyTests {
  @Test func `keys are in the order of values`() {
    let seed = testSeed(11)
    var random = RandomValues(seed: seed)
    let values = (0..<400).map { _ in random.value() } + Self.neighbours
    for left in values {
      for right in values {
        #expect((OrderKey(left) < OrderKey(right)) == (left < right), "seed \(seed): \(left), \(right)")
        #expect((OrderKey(left) == OrderKey(right)) == (left == right), "seed \(seed): \(left), \(right)")
      }
    }
  }

  @Test func `the key of a string has the string`() {
    for string in ["", "a", "\0", "\0\0", "a\0b", "\u{1}\0\u{1}", "å\u{10FFFF}"] {
      #expect(OrderKey(.string(string)).bytes.withUnsafeBytes(OrderKey.string) == string)
    }
  }

  /// Put one behind the other they are still in order, as none is the beginning of another.
  @Test func `keys of several values go by the first that differs`() {
    for left in Self.neighbours {
      for right in Self.neighbours where left < right {
        var (first, second) = (OrderKey(left), OrderKey(right))
        first.append("b")
        second.append("a")
        #expect(first < second, "\(left), \(right)")
      }
    }
  }

  /// Values that are nearly the same.
  private static let neighbours: [JSONValue] = [
    nil, false, true, 0, -0.0, 1, 1.5, .int(1 << 53), .int(1 << 53 + 1), .int(.max), .int(.min),
    .double(0x1p63),
    .double(-0x1p63), .double(.leastNonzeroMagnitude), "", "\0", "\0\0", "\u{1}", "a", "a\0", "a\0b", "aa",
    "\u{FFFF}",
    "\u{10000}",
    [], [[]], [nil], ["a"], ["a", nil], ["a\0"], [:], ["a": nil], ["a": 1], ["a": 1, "b": 1], ["b": 1],
  ]
}
