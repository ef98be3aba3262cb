import CDTJSON

/// JSON text: what is read can be written and read again, and the stored and the canonical form are stable.
enum JSONTarget {
  static func run(_ input: [UInt8]) throws {
    let value = resultOrError { try JSONValue(parsing: input) }
    if let value { checkValue(value) }
    let stored = resultOrError { try input.withUnsafeBytes { try JSONText.normalize(whole: $0) } }
    let object = resultOrError { try JSONObject(parsing: input) }
    expect((stored != nil) == (object != nil), "one of the two parsers refuses the object")
    if let stored, let object { try checkStored(stored, object) }
  }

  private static func checkValue(_ value: JSONValue) {
    expect(value == value && !(value < value), "a value differs from itself")
    for text in [value.text, value.prettyText, value.canonicalText] {
      guard let again = resultOrError({ try JSONValue(parsing: text) }) else {
        fatalError("what was written can't be read: \(text)")
      }
      expectEqual(again, value, "written and read again")
      expectEqual(again.hashValue, value.hashValue, "equal values have equal hashes")
      expectEqual(again.canonicalText, value.canonicalText, "the canonical text")
    }
  }

  private static func checkStored(_ stored: NormalizedObject, _ object: JSONObject) throws {
    let again = try stored.text.withUnsafeBytes { try JSONText.normalize(whole: $0) }
    expectEqual(again.text, stored.text, "the stored text, normalized again")
    expectEqual(again.canonical, stored.canonical, "the canonical text, normalized again")
    expectEqual(JSONCanonical.body(stored.text), stored.canonical, "the canonical text of the stored text")
    let body = try JSONObject(parsing: stored.text)
    expectEqual(Array(body.canonicalText.utf8), stored.canonical, "the canonical text of the value")
    expectEqual(
      JSONObject(body.map { ($0.key, $0.value) } + stored.reserved.map { ($0.name, $0.value) }), object,
      "the stored and the reserved members together")
  }
}
