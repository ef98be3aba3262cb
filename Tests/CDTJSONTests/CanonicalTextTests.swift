import CDTJSON
import Testing

/// Canonical text is made by moving stored text; it is what a tree of the value, sorted and written, would say.
@Suite struct CanonicalTextTests {
  @Test func `members are sorted at every level, wherever they stood`() throws {
    // One for all, as what is left of one text must not come into the next.
    var normalizer = JSONNormalizer()
    for seed in UInt64(1)...400 {
      var state = seed
      let text = Self.object(&state, depth: 0)
      let value = try JSONValue(parsing: text)
      let canonical = Self.canonical(value)
      #expect(value.canonicalText == canonical, "seed \(seed): \(text)")
      try Array(text.utf8).withUnsafeBytes { try normalizer.normalize(whole: $0) }
      #expect(normalizer.canonical.elementsEqual(canonical.utf8), "seed \(seed): \(text)")
      // What is refused leaves nothing either.
      #expect(throws: JSONError.self) {
        try Array(text.utf8.dropLast()).withUnsafeBytes { try normalizer.normalize(whole: $0) }
      }
    }
  }

  @Test func `a member that is removed is not in the canonical text either`() throws {
    var normalizer = JSONNormalizer()
    let reserved = [#""_id":"x""#, #""_rev":{"z":1,"a":2.50}"#, #""_a":[{"c":1e2,"b":{}}]"#]
    let members = [#""m":{"b":1,"a":2}"#, #""c":1.50"#, #""b":[]"#, #""z":1"#]
    var found: Set<[UInt8]> = []
    for seed in UInt64(0)..<500 {
      var state = seed
      var all = members + reserved
      var text = "{"
      while !all.isEmpty {
        text += (text.utf8.count > 1 ? "," : "") + all.remove(at: Self.next(&state, all.count))
      }
      text += "}"
      try Array(text.utf8).withUnsafeBytes { try normalizer.normalize(whole: $0) }
      #expect(normalizer.reserved.count == reserved.count)
      #expect(JSONCanonical.body(normalizer.text) == normalizer.canonical, "seed \(seed): \(text)")
      found.insert(normalizer.canonical)
    }
    #expect(found == [Array(#"{"b":[],"c":1.5,"m":{"a":2,"b":1},"z":1}"#.utf8)])
  }

  @Test(arguments: ["{}", " { } ", #"{"_id":"x"}"#]) func `an object without members has one canonical text`(
    _ text: String
  ) throws {
    var normalizer = JSONNormalizer()
    try Array(text.utf8).withUnsafeBytes { try normalizer.normalize(whole: $0) }
    #expect(normalizer.canonical == Array("{}".utf8))
    #expect(JSONCanonical.body(normalizer.text) == normalizer.canonical)
  }

  @Test(arguments: [
    ("0", ["0", "-0", "0.0", "-0.0", "0e5", "-0E-5", "-1e-400"]), ("1", ["1", "1.0", "1e0", "10e-1"]),
    ("-1000000000000000000", ["-1000000000000000000", "-1e18", "-1.0E+18", "-1000000000000000000.0"]),
    ("9007199254740993", ["9007199254740993"]),
    ("9007199254740992", ["9007199254740992", "9007199254740992.0", "9007199254740993.0"]),
    ("-9223372036854775808", ["-9223372036854775808", "-9223372036854775808.0"]),
    ("1.5", ["1.5", "1.50", "15e-1"]), ("1e+20", ["1e20", "1E20", "100000000000000000000.0"]),
    ("9.223372036854776e+18", ["9223372036854775808.0"]), ("9223372036854775808", ["9223372036854775808"]),
    ("100000000000000000000", ["100000000000000000000"]),
  ])
  func `a number has one canonical text, and keeps its own spelling`(
    _ canonical: String, _ spellings: [String]
  )
    throws
  {
    var normalizer = JSONNormalizer()
    for spelling in spellings {
      let value = try JSONValue(parsing: spelling)
      #expect(value.canonicalText == canonical, "\(spelling)")
      for text in [#"{"n":\#(spelling)}"#, #"{"b":[\#(spelling),{"z":\#(spelling)}],"a":\#(spelling)}"#] {
        try Array(text.utf8).withUnsafeBytes { try normalizer.normalize(whole: $0) }
        #expect(String(decoding: normalizer.text, as: UTF8.self) == text)
        #expect(JSONCanonical.body(normalizer.text) == normalizer.canonical, "\(text)")
      }
      #expect(
        normalizer.canonical.elementsEqual(
          #"{"a":\#(canonical),"b":[\#(canonical),{"z":\#(canonical)}]}"#.utf8))
    }
  }

  @Test func `damaged text has a canonical text of some kind`() {
    let texts = [
      #"{"b":{"z":[1,{"y":1.50,"x":"\\"}],"a":2},"a":[{"d":1,"c":{"b":1,"a":2}}],"é":1,"\n":2}"#,
      #"{ "b" : 1e2 , "a" : [ 1 , 2 ] }"#,
    ]
    for text in texts {
      let bytes = Array(text.utf8)
      for end in bytes.indices {
        _ = JSONCanonical.body(Array(bytes[..<end]))
        for wrong in #"{}[]",:\1 "#.utf8 {
          var damaged = bytes
          damaged[end] = wrong
          _ = JSONCanonical.body(damaged)
        }
      }
    }
  }

  @Test(arguments: [
    (#"{"_id":"x","b":1,"a":2}"#, #"{"b":1,"a":2}"#), (#"{"b":1,"_id":"x"}"#, #"{"b":1}"#),
    (#" { "b" : 1 , "_id" : "x" , "_rev" : "1-a" } "#, #"{"b":1}"#), (#"{"_id":"x"}"#, "{}"),
    (#"{"b":1, "_id":{"_a":[1, 2]} ,"c":{"_d":1}}"#, #"{"b":1,"c":{"_d":1}}"#),
    (#"{"_rev":1,"_id":2,"\u0061":"\u00e9\t"}"#, #"{"a":"é\u0009"}"#),
    (#"{"\u005fid":2,"a":1,"_rev":3}"#, #"{"a":1}"#),
  ])
  func `members that begin with an underscore are removed with their comma`(_ text: String, _ stored: String)
    throws
  {
    let normal = try Array(text.utf8).withUnsafeBytes { try JSONText.normalize($0) }
    #expect(String(decoding: normal.text, as: UTF8.self) == stored)
    #expect(normal.reserved.isEmpty == !text.contains("id"))
  }

  @Test(arguments: [
    #"{"_id":1,"_id":2}"#, #"{"_id":1,"a":0,"\u005fid":2}"#,
    #"{"longer than eight":1,"longer than eight":2}"#,
    #"{"a":1,"\u0061":2}"#, #"{"b":{"longer than \"eight\"":1, "longer than \u0022eight\"" :2}}"#,
  ])
  func `a name that is there twice is refused however it is spelled`(_ text: String) {
    #expect(throws: JSONError.self) {
      try Array(text.utf8).withUnsafeBytes { try JSONText.normalize($0) }
    }
  }

  // MARK: A value from a seed, and what it should come to

  private static func next(_ state: inout UInt64, _ bound: Int) -> Int {
    state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
    return Int(state >> 33) % bound
  }

  private static let names = [
    "a", "ab", "abcdefgh", "abcdefghi", "abcdefghj", "", "Z", "é", #"\n"#, #"a\"b"#, "a#", "\u{FFFD}", "𝄞",
    "b",
    "abcdefg", "~", #"\\"#, "ÿ", "zz",
  ]

  private static func object(_ state: inout UInt64, depth: Int) -> String {
    var left = names
    let members = (0..<next(&state, left.count)).map { _ in
      let name = left.remove(at: next(&state, left.count))
      return "\"\(name)\":\(value(&state, depth: depth + 1))"
    }
    return "{\(members.joined(separator: ","))}"
  }

  private static func value(_ state: inout UInt64, depth: Int) -> String {
    switch next(&state, depth > 3 ? 4 : 6) {
    case 0: return String(next(&state, 1_000))
    case 1: return ["1.50", "1e2", "0.00001", "-0.25", "12.0"][next(&state, 5)]
    case 2: return "\"\(names[next(&state, names.count)])\""
    case 3: return "null"
    case 4:
      return "[\((0..<next(&state, 4)).map { _ in value(&state, depth: depth + 1) }.joined(separator: ","))]"
    default: return object(&state, depth: depth)
    }
  }

  private static func canonical(_ value: JSONValue) -> String {
    switch value {
    case .array(let elements): return "[\(elements.map(canonical).joined(separator: ","))]"
    case .object(let object):
      let members = object.map { ($0, $1) }.sorted {
        Array($0.0.utf16).lexicographicallyPrecedes(Array($1.0.utf16))
      }
      return "{\(members.map { "\(JSONValue.string($0).text):\(canonical($1))" }.joined(separator: ","))}"
    default: return value.canonicalText
    }
  }
}
