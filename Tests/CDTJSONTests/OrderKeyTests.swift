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

  @Test func `the key of a value has the value in one form`() throws {
    func value(_ key: OrderKey) -> JSONValue {
      key.bytes.withUnsafeBytes { bytes in
        var offset = 0
        let value = OrderKey.value(in: JSONBytes(bytes), at: &offset)
        #expect(offset == bytes.count)
        return value
      }
    }
    let seed = testSeed(14)
    var random = RandomValues(seed: seed)
    for drawn in (0..<2_000).map({ _ in random.value() }) + Self.neighbours {
      let read = value(OrderKey(drawn))
      #expect(read == drawn, "seed \(seed): \(drawn)")
      #expect(value(OrderKey(read)).text == read.text, "seed \(seed): \(drawn)")
    }
    let spelled = try JSONValue(parsing: #"{"b": [1.0, 2.50, -0.0, 1e2], "a": 18446744073709551616}"#)
    #expect(value(OrderKey(spelled)).text == #"{"a":1.8446744073709552e+19,"b":[1,2.5,0,100]}"#)
  }

  @Test func `damaged keys give some value`() {
    var random = RandomValues(seed: testSeed(15))
    for _ in 0..<2_000 {
      var key = OrderKey(random.value()).bytes
      for _ in 0..<3 { key[random.number(below: key.count)] = UInt8(random.number(below: 256)) }
      key.removeLast(random.number(below: key.count))
      key.withUnsafeBytes { bytes in
        var offset = 0
        _ = OrderKey.value(in: JSONBytes(bytes), at: &offset)
      }
    }
    let deep = [UInt8](repeating: 0x50, count: 100_000)
    deep.withUnsafeBytes { bytes in
      var offset = 0
      _ = OrderKey.value(in: JSONBytes(bytes), at: &offset)
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
