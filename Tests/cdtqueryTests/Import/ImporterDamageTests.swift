import CDTDatastore
import CDTImport
import CDTTestSupport
import Testing

/// Text of every kind, damaged at random: the importer takes it or says why not, and does nothing else.
@Suite struct ImporterDamageTests {
  private static let texts = [
    "{\"_id\":\"a\",\"b\":[1,{\"c\":null}]}\n{\"d\":\"\\u00e9\\\\\\\"\"}\n",
    "[{\"_id\":\"a\"}, {\"b\":{\"c\":[true,false]}}]",
    "{\"new_edits\":false,\"docs\":[{\"a\":-1.5e3},{\"b\":\"]}\"}],\"x\":{}}",
    "{\"x\":[\"}\"],\"a\":{\"b\":[{\"c\":1}],\"d\":2}}",
    "a,b\r\n1,\"two \"\"x\"\"\"\n3,\"\n\"\n",
  ]

  @Test func `damaged text never traps and never hangs`() throws {
    let seed = testSeed(16)
    var random = SeededGenerator(seed: seed)
    let space = try Workspace()
    var options = DatastoreOptions()
    options.durability = .normal
    let manager = try DatastoreManager(directory: space.path("stores"), options: options)
    let store = try manager.datastore(named: "s")
    for round in 0..<400 {
      var bytes = Array((Self.texts.randomElement(using: &random) ?? "").utf8)
      for _ in 0..<Int.random(in: 1...4, using: &random) { Self.damage(&bytes, &random) }
      try space.write(bytes, to: "input")
      var importer = DocumentImporter(into: store)
      importer.format = DocumentImporter.Format.allCases.randomElement(using: &random) ?? .automatic
      importer.path = importer.format != .csv && importer.format != .tsv && round % 3 == 0 ? ["a", "b"] : nil
      importer.continuesOnError = round % 2 == 0
      importer.onConflict = .replace
      do {
        let report = try importer.run([space.path("input")])
        #expect(report.bytes == bytes.count || report.failed > 0, "seed \(seed), round \(round)")
      } catch let error as ImportError {
        #expect(!importer.continuesOnError, "seed \(seed), round \(round): \(error)")
      }
    }
    try manager.closeDatastore(named: "s")
  }

  private static func damage(_ bytes: inout [UInt8], _ random: inout SeededGenerator) {
    guard !bytes.isEmpty else { return }
    let place = Int.random(in: 0..<bytes.count, using: &random)
    switch Int.random(in: 0..<4, using: &random) {
    case 0: bytes.remove(at: place)
    case 1: bytes.insert(Array("{}[]\",:\\\n\r\u{0}u".utf8).randomElement(using: &random) ?? 0, at: place)
    case 2: bytes[place] = UInt8.random(in: 0...255, using: &random)
    default: bytes.removeLast(bytes.count - place)
    }
  }
}
