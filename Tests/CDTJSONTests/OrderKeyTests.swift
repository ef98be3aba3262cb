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

  @Test(arguments: [
    (0, 1), (1, 2), (42, 2), (-42, 2), (127, 2), (128, 3), (1_000, 3), (-1_000, 3), (1_764_201_600, 5),
    (2.5, 3),
    (19.99, 9), (-19.99, 9), (0.1, 9), (1e300, 11),
  ]) func `numbers take as many bytes as they need`(_ c: (number: Double, bytes: Int)) {
    #expect(OrderKey(JSONValue(number: c.number)).bytes.count == c.bytes)
  }

  @Test func `the end of a key is found among others, and numbers are read, also inverted`() {
    let seed = testSeed(16)
    var random = RandomValues(seed: seed)
    for value in (0..<1_000).map({ _ in random.value() }) + Self.neighbours {
      for isInverted in [false, true] {
        var key = OrderKey(value)
        let end = key.bytes.count
        if isInverted { key.invert(from: 0) }
        key.append(random.value())
        key.bytes.withUnsafeBytes { bytes in
          #expect(OrderKey.end(in: JSONBytes(bytes), at: 0, isInverted: isInverted) == end, "\(value)")
          let number = OrderKey.number(in: JSONBytes(bytes), at: 0, isInverted: isInverted)
          #expect(number == JSONNumber(value), "\(value)")
        }
      }
    }
  }

  @Test func `no key is the beginning of another`() {
    for left in Self.neighbours {
      for right in Self.neighbours where left != right {
        #expect(!OrderKey(right).bytes.starts(with: OrderKey(left).bytes), "\(left), \(right)")
      }
    }
  }

  @Test func `a bound after a key is before the next one`() {
    for left in Self.neighbours {
      let bound = OrderKey(left).successor
      for right in Self.neighbours {
        #expect((bound <= OrderKey(right)) == (left < right), "\(left), \(right)")
      }
    }
  }

  @Test func `a bound of strings has its string`() {
    for string in ["", "a", "\0", "\0\0", "a\0b", "\u{1}", "\u{1}\0\u{1}", "å\u{10FFFF}"] {
      let (key, prefix) = (OrderKey(.string(string)), OrderKey(stringsWith: Array(string.utf8)))
      #expect(key.stringBound == (string, false))
      #expect(key.successor.stringBound == (string, true))
      #expect(prefix.stringBound == (string, false))
    }
    #expect(OrderKey(stringsWith: Array("ab".utf8)).successor.stringBound == ("ac", false))
    #expect(OrderKey(stringsWith: [1]).successor.stringBound == ("\u{2}", false))
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
        for isInverted in [false, true] {
          #expect(OrderKey.end(in: JSONBytes(bytes), at: 0, isInverted: isInverted) <= bytes.count)
          _ = OrderKey.number(in: JSONBytes(bytes), at: 0, isInverted: isInverted)
        }
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
    .double(-0x1p63), .double(.leastNonzeroMagnitude), .double(-.leastNonzeroMagnitude), 0.1, 0.5, -0.5, -1,
    -1.5, 1.25,
    .double(1.0.nextUp), .double(1.0.nextDown), 127, 128, -127, -128, -128.5, 255.75, 1_000,
    4_503_599_627_370_495.5,
    .int(1 << 55), .int(1 << 55 - 1), .int(1 << 55 + 1), .int(-(1 << 55)), .int(-(1 << 55) + 1),
    .int(1 << 60 + 1),
    .int(.max - 1), .double(1e300), .double(-1e300), .double(0x1p64), "", "\0", "\0\0", "\u{1}", "a", "a\0",
    "a\0b", "aa",
    "\u{FFFF}",
    "\u{10000}",
    [], [[]], [nil], ["a"], ["a", nil], ["a\0"], [:], ["a": nil], ["a": 1], ["a": 1, "b": 1], ["b": 1],
  ]
}
