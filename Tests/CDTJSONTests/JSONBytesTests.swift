import CDTJSON
import CDTTestSupport
import Testing

/// Finding values in stored text without a tree.
@Suite struct JSONBytesTests {
  private static let text = #"{"a":{"b":[10,{"c":"é"},[]],"":null},"a\nb":true,"n":-1.5e3,"s":"q\"\\"}"#

  private func read<R>(_ text: String = Self.text, _ body: (JSONBytes) throws -> R) rethrows -> R {
    try Array(text.utf8).withUnsafeBytes { try body(JSONBytes($0)) }
  }

  @Test func `a path leads to its value`() {
    read { bytes in
      let a = bytes.member(spelled: Array("a".utf8), at: 0)
      let b = a.flatMap { bytes.member(spelled: Array("b".utf8), at: $0) }
      let second = b.flatMap { bytes.element(at: 1, of: $0) }
      let c = second.flatMap { bytes.member(spelled: Array("c".utf8), at: $0) }
      #expect(c.map { bytes.string(at: $0) } == "é")
      #expect(b.flatMap { bytes.element(at: 3, of: $0) } == nil)
      #expect(b.flatMap { bytes.element(at: -1, of: $0) } == nil)
      #expect(a.flatMap { bytes.member(spelled: [], at: $0) }.map { bytes.kind(at: $0) } == .null)
    }
  }

  @Test func `keys are met as they are spelled`() {
    read { bytes in
      #expect(bytes.member(spelled: Array(#"a\nb"#.utf8), at: 0).map { bytes.kind(at: $0) } == .true)
      #expect(bytes.member(spelled: Array("a\nb".utf8), at: 0) == nil)
    }
  }

  @Test func `text within a string is not taken for structure`() {
    read(#"{"x":"\"a\":1,}]","a":"{"}"#) { bytes in
      #expect(bytes.member(spelled: Array("a".utf8), at: 0).map { bytes.string(at: $0) } == "{")
    }
  }

  @Test func `values other than objects have no members`() {
    for text in ["[1]", "1", "\"a\"", "null", "", "{", "{}", "{\"a\""] {
      read(text) { #expect($0.member(spelled: Array("a".utf8), at: 0) == nil, "\(text)") }
    }
    for text in ["{}", "1", "", "[", "[]"] {
      read(text) { #expect($0.element(at: 0, of: 0) == nil, "\(text)") }
    }
  }

  @Test func `offsets outside of the text read as nothing`() {
    read("[1]") { bytes in
      #expect(bytes[-1] == 0 && bytes[3] == 0 && bytes[.max] == 0 && bytes[.min] == 0)
      #expect(bytes.slice(-5, 99).count == 3)
      #expect(bytes.slice(2, 1).isEmpty)
      #expect(bytes.kind(at: 3) == .invalid)
      #expect(bytes.endOfValue(at: 99) == 3)
    }
    #expect(JSONBytes(UnsafeRawBufferPointer(start: nil, count: 0))[0] == 0)
  }

  /// The short way to a double must give what the long one does.
  @Test func `decimals are the nearest doubles`() {
    let seed = testSeed(11)
    var random = RandomValues(seed: seed)
    for _ in 0..<50_000 {
      let whole = String(random.next() >> UInt64(random.number(below: 64)))
      var text = (random.number(below: 2) == 0 ? "-" : "") + whole
      switch random.number(below: 4) {
      case 0: break
      case 1: text += "." + String(random.next() >> UInt64(random.number(below: 64)))
      default:
        text +=
          "." + String(repeating: "0", count: random.number(below: 4))
          + String(random.number(below: 1_000_000))
      }
      if random.number(below: 3) == 0 { text += "e\(random.number(below: 500) - 300)" }
      guard let expected = Double(text), expected.isFinite else { continue }
      read(text) { bytes in
        guard case .double(let double)? = bytes.number(at: 0) else { return }
        #expect(double == expected, "seed \(seed): \(text)")
      }
      var found: [Double] = []
      read("[ \(text),1 ,\(text)]") { bytes in
        #expect(
          bytes.forEachNumber(at: 0) {
            found.append($0)
            return true
          }, "seed \(seed): \(text)")
      }
      #expect(found == [expected, 1, expected], "seed \(seed): \(text)")
    }
  }

  @Test(arguments: ["[]", "1", "[1,", "[1,\"2\"]", "[1,[2]]", "[null]", "[1,1e999]", "{\"a\":1}"])
  func `only arrays of finite numbers are read as such`(_ text: String) {
    read(text) { bytes in #expect(!bytes.forEachNumber(at: 0) { _ in true }) }
  }

  @Test func `decimals halfway between two doubles are rounded to the even one`() {
    for whole in [1, 2, 3, 4, 5].map({ UInt64(1) << 53 + 2 * $0 + 1 }) {
      for text in ["\(whole).0", "\(whole).1", "\(whole).01", "\(whole - 1).9", "0.\(whole)"] {
        read(text) { bytes in
          guard case .double(let double)? = bytes.number(at: 0) else { return }
          #expect(double == Double(text), "\(text)")
        }
      }
    }
  }

  @Test func `strings are looked at eight bytes at a time without missing one`() {
    for length in 0..<40 {
      for special in ["\"", "\\", "\u{1}", "\u{1F}", "é", "\u{7F}"] {
        let plain = String(repeating: "~", count: length)
        read(plain + special + "~~~~~~~~~~") { bytes in
          let isSpecial = special != "\u{7F}"
          #expect(bytes.nextSpecial(from: 0) == (isSpecial ? length : bytes.count))
          let ends = special == "\"" || special == "\\"
          #expect(bytes.nextQuoteOrBackslash(from: 0) == (ends ? length : bytes.count))
        }
      }
    }
  }
}
