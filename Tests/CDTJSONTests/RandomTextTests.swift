import CDTJSON
import CDTTestSupport
import Testing

/// What holds for any text, on text that nobody thought of.
@Suite struct RandomTextTests {
  @Test func `written values are read as they were`() throws {
    let seed = testSeed(7)
    var random = RandomValues(seed: seed)
    for _ in 0..<5_000 {
      let value = random.value()
      #expect(try JSONValue(parsing: value.text) == value, "seed \(seed): \(value)")
      #expect(try JSONValue(parsing: value.text).text == value.text, "seed \(seed): \(value)")
      #expect(try JSONValue(parsing: value.prettyText).text == value.text, "seed \(seed): \(value)")
    }
  }

  @Test func `the spelling does not matter`() throws {
    let seed = testSeed(8)
    var random = RandomValues(seed: seed)
    for _ in 0..<2_000 {
      let value: JSONValue = ["k": random.value()]
      let spelled = random.spelling(of: value)
      #expect(try JSONValue(parsing: spelled).text == value.text, "seed \(seed): \(spelled)")
      let bytes = Array(spelled.utf8)
      let normal = try bytes.withUnsafeBytes { try JSONText.normalize($0) }
      let stored = normal.text
      let readInPlace = bytes.withUnsafeBytes { JSONBytes($0).value(at: JSONBytes($0).skipSpace(0)) }
      #expect(String(decoding: stored, as: UTF8.self) == value.text, "seed \(seed): \(spelled)")
      #expect(normal.canonical.elementsEqual(value.canonicalText.utf8), "seed \(seed): \(spelled)")
      #expect(readInPlace.text == value.text, "seed \(seed): \(spelled)")
    }
  }

  /// The canonical text depends on nothing but the value.
  @Test func `the canonical text does not know the order of members`() {
    let seed = testSeed(9)
    var random = RandomValues(seed: seed)
    for _ in 0..<1_000 {
      let object = random.object()
      let shuffled = JSONObject(object.map { ($0.key, $0.value) }.shuffled(using: &random))
      #expect(object.canonicalText == shuffled.canonicalText, "seed \(seed): \(object.text)")
      #expect(object == shuffled && object.hashValue == shuffled.hashValue, "seed \(seed): \(object.text)")
    }
  }

  /// Parser and normaliser are two walks by one grammar: they take the same text, and refuse the same at the same place.
  @Test func `damaged text is refused by all or read by all`() {
    let seed = testSeed(10)
    var random = RandomValues(seed: seed)
    var refused = 0
    for _ in 0..<20_000 {
      var text = Array(random.spelling(of: .object(random.object(depth: 2))).utf8)
      for _ in 0...random.number(below: 3) { random.damage(&text) }
      let parsed = Result { () throws(JSONError) in try JSONObject(parsing: text) }
      let normal = text.withUnsafeBytes { bytes in
        Result { () throws(JSONError) in
          String(decoding: try JSONText.normalize(whole: bytes).text, as: UTF8.self)
        }
      }
      switch (parsed, normal) {
      case (.success(let object), .success(let normal)):
        // Members of the document itself, such as _id, are kept apart.
        let body = JSONObject(
          object.filter { !$0.key.utf8.starts(with: "_".utf8) }.map { ($0.key, $0.value) })
        #expect((try? JSONObject(parsing: normal)) == body, "seed \(seed): \(text)")
      case (.failure, .failure(let other)) where other.code == .notAnObject:
        refused += 1  // the parser reads it first, and may find more
      case (.failure(let one), .failure(let other)):
        refused += 1
        #expect(one == other, "seed \(seed): \(String(decoding: text, as: UTF8.self))")
      default:
        Issue.record("seed \(seed): \(parsed) but \(normal) for \(String(decoding: text, as: UTF8.self))")
      }
      readInPlace(text)
    }
    #expect(refused > 5_000)
  }

  /// Reading bytes that were never validated ends, and stays within them.
  private func readInPlace(_ text: [UInt8]) {
    text.withUnsafeBytes { buffer in
      let bytes = JSONBytes(buffer)
      _ = bytes.value(at: 0)
      _ = bytes.member(spelled: Array("a".utf8), at: 0)
      _ = bytes.element(at: 2, of: 0)
      #expect(bytes.endOfValue(at: 0) <= text.count)
    }
  }
}

extension RandomValues {
  /// Changes, removes, doubles or adds a byte somewhere.
  fileprivate mutating func damage(_ text: inout [UInt8]) {
    guard !text.isEmpty else { return }
    let position = number(below: text.count)
    let structural = Array(#"{}[]:,"\ 0.eE+-u"#.utf8) + [0x00, 0x1F, 0x80, 0xC3, 0xED, 0xF0, 0xFF]
    switch number(below: 5) {
    case 0: text.remove(at: position)
    case 1: text.insert(text[position], at: position)
    case 2: text[position] = UInt8(number(below: 256))
    case 3: text.removeSubrange(position...)
    default: text.insert(structural[number(below: structural.count)], at: position)
    }
  }
}
