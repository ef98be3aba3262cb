import CDTJSON
import CDTTestSupport
import Testing

/// Objects that are only checked, and normalized when it is asked for.
@Suite struct PlainObjectTests {
  /// What a normalizer makes of a text, or the message of its error.
  private static func outcome(_ text: String, defers: Bool) -> [String] {
    var normalizer = JSONNormalizer()
    normalizer.defersPlain = defers
    do {
      let end = try normalizer.normalize(Array(text.utf8), from: 0)
      normalizer.settle()
      return [
        String(decoding: normalizer.text, as: UTF8.self),
        String(decoding: normalizer.canonical, as: UTF8.self),
        "\(normalizer.reserved)", "\(end)",
      ]
    } catch {
      return ["\(error)"]
    }
  }

  private static let texts = [
    "{}", "{ }", #"{"a":1}"#, #" {"a":1}"#, #"{"a":1} {"b":2}"#, #"{"a":1,"a":2}"#, #"{"a":{"b":1,"b":2}}"#,
    #"{"abcdefghi":1,"abcdefghj":2}"#, #"{"abcdefghi":1,"abcdefghi":2}"#, #"{"a\u0062":1,"ab":2}"#,
    #"{"_id":"a","b":1}"#, #"{"b":1 , "_id" : "a" }"#, #"{"_id":1}"#, #"{"_id":"a\"b"}"#,
    #"{"_id":"a","_id":"b"}"#,
    #"{"_rev":"1-a","b":1}"#, #"{"a":{"_id":1}}"#, #"{"$a":1}"#, #"{"a":[1, [], {}, [ ]]}"#, #"{"a":[1,]}"#,
    #"{"a":1,}"#,
    #"{"a" 1}"#, #"{"a":01}"#, #"{"a":-}"#, #"{"a":-0}"#, #"{"a":1.}"#, #"{"a":1.5,"b":1e3,"c":1E400}"#,
    #"{"a":.5}"#,
    #"{"a":"x\ny\r\"\\"}"#, #"{"a":"x\t\/\u00e9"}"#, #"{"a":"\x"}"#, #"{"a":"é😀"}"#, "{\"a\":\"\u{1}\"}",
    #"{"a":"x"#,
    #"{"a":tru}"#, #"{"a":true,"b":false,"c":null}"#, #"{"a":nul}"#, #"{"a":truex}"#, "{", "", "[]", "1",
    #"{"a"}"#,
    String(repeating: #"{"a":"#, count: 40) + "1" + String(repeating: "}", count: 40),
    "{" + (0..<300).map { "\"n\($0)\":\($0)" }.joined(separator: ",") + "}",
    "{" + (0..<60).map { "\"n\($0)\":\($0)" }.joined(separator: ",") + ",\"n7\":1}",
    "{\"a\":" + String(repeating: "1", count: 400) + "}",
  ]

  @Test(arguments: texts) func `an object is the same when it is normalized later`(_ text: String) {
    #expect(Self.outcome(text, defers: true) == Self.outcome(text, defers: false))
  }

  @Test(arguments: texts) func `so is every beginning of it, and what has a byte more`(_ text: String) {
    let bytes = Array(text.utf8)
    guard bytes.count < 200 else { return }
    for count in 0..<bytes.count {
      let start = String(decoding: bytes[..<count], as: UTF8.self)
      #expect(Self.outcome(start, defers: true) == Self.outcome(start, defers: false), "\(start)")
      for byte in [
        UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "}"), UInt8(ascii: ","), UInt8(ascii: " "), 0x30,
      ] {
        let changed = String(decoding: bytes[..<count] + [byte] + bytes[count...], as: UTF8.self)
        #expect(Self.outcome(changed, defers: true) == Self.outcome(changed, defers: false), "\(changed)")
      }
    }
  }

  @Test(
    arguments: [
      [0x7B, 0x22, 0x61, 0x22, 0x3A, 0x22, 0xFF, 0x22, 0x7D], [0x7B, 0x22, 0xC3, 0x22, 0x3A, 0x31, 0x7D],
      [0x7B, 0x22, 0xED, 0xA0, 0x80, 0x22, 0x3A, 0x31, 0x7D],
    ] as [[UInt8]])
  func `text that is not UTF-8 is refused`(_ bytes: [UInt8]) {
    var normalizer = JSONNormalizer()
    normalizer.defersPlain = true
    #expect(throws: JSONError.self) { _ = try normalizer.normalize(bytes, from: 0) }
  }
}
