import CDTDatastore
import CDTJSON
import CDTTestSupport
import Foundation
import Testing

@Suite struct FieldMergeTests {
  struct Case: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let base, one, other: String
    var rules = FieldMerge.fields
    var merged: String?
    /// The paths of the fields in conflict.
    var conflicts: [String] = []
    /// Whether the order of arrays is that of the result.
    var isOrdered = false
  }

  static let tags = FieldMerge.fields(arrays: ["tags": .set])
  static let steps = FieldMerge.fields(arrays: ["steps": .keyed(by: "id"), "steps[].tags": .set])

  static let cases = [
    Case(
      testDescription: "fields changed by one each", base: #"{"a":1,"b":1}"#, one: #"{"a":2,"b":1}"#,
      other: #"{"a":1,"b":2}"#, merged: #"{"a":2,"b":2}"#),
    Case(
      testDescription: "the same change", base: #"{"a":1}"#, one: #"{"a":2,"x":[1]}"#,
      other: #"{"a":2,"x":[1]}"#,
      merged: #"{"a":2,"x":[1]}"#),
    Case(
      testDescription: "different changes", base: #"{"a":1,"b":1}"#, one: #"{"a":2,"b":1}"#,
      other: #"{"a":3,"b":2}"#,
      conflicts: ["a"]),
    Case(
      testDescription: "removed and added fields", base: #"{"a":1,"b":1}"#, one: #"{"b":1,"c":1}"#,
      other: #"{"a":1,"d":1}"#, merged: #"{"c":1,"d":1}"#),
    Case(
      testDescription: "removed by one, changed by the other", base: #"{"a":1}"#, one: "{}",
      other: #"{"a":2}"#,
      conflicts: ["a"]),
    Case(
      testDescription: "fields of inner objects", base: #"{"o":{"x":1,"y":1}}"#, one: #"{"o":{"x":2,"y":1}}"#,
      other: #"{"o":{"x":1,"y":2,"z":3}}"#, merged: #"{"o":{"x":2,"y":2,"z":3}}"#),
    Case(
      testDescription: "an inner field, and a name with a dot", base: #"{"o":{"x.y":1}}"#,
      one: #"{"o":{"x.y":2}}"#,
      other: #"{"o":{"x.y":3}}"#, conflicts: [#"o.x\.y"#]),
    Case(
      testDescription: "objects that both added", base: "{}", one: #"{"o":{"x":1}}"#,
      other: #"{"o":{"y":1}}"#,
      merged: #"{"o":{"x":1,"y":1}}"#),
    Case(
      testDescription: "an object removed by one", base: #"{"o":{"x":1}}"#, one: "{}",
      other: #"{"o":{"x":2}}"#,
      conflicts: ["o"]),
    Case(
      testDescription: "names that look the same", base: "{}", one: #"{"\u00fc":1}"#,
      other: #"{"u\u0308":2}"#,
      merged: #"{"\u00fc":1,"u\u0308":2}"#),
    Case(
      testDescription: "arrays as a whole", base: #"{"tags":["a"]}"#, one: #"{"tags":["a","b"]}"#,
      other: #"{"tags":["a","c"]}"#, conflicts: ["tags"]),
    Case(
      testDescription: "arrays as sets", base: #"{"tags":["a","b","c"]}"#, one: #"{"tags":["b","c","d"]}"#,
      other: #"{"tags":["a","b","e"]}"#, rules: tags, merged: #"{"tags":["b","d","e"]}"#),
    Case(
      testDescription: "sets that both added", base: "{}", one: #"{"tags":["a"]}"#,
      other: #"{"tags":["a","b"]}"#,
      rules: tags, merged: #"{"tags":["a","b"]}"#),
    Case(
      testDescription: "a set and a string", base: "{}", one: #"{"tags":["a"]}"#, other: #"{"tags":"a"}"#,
      rules: tags,
      conflicts: ["tags"]),
    Case(
      testDescription: "elements by a key",
      base: #"{"steps":[{"id":1,"n":1,"tags":["x"]},{"id":2},{"id":3}]}"#,
      one: #"{"steps":[{"id":1,"n":2,"tags":["x","y"]},{"id":2},{"id":4}]}"#,
      other: #"{"steps":[{"id":5},{"id":1,"n":1,"m":1,"tags":["z"]},{"id":2},{"id":3}]}"#, rules: steps,
      merged: #"{"steps":[{"id":5},{"id":1,"n":2,"tags":["y","z"],"m":1},{"id":2},{"id":4}]}"#),
    Case(
      testDescription:
        "the order that one has changed, with an element that the other has changed, and added ones",
      base: #"{"steps":[{"id":1},{"id":2},{"id":3}]}"#,
      one: #"{"steps":[{"id":3},{"id":1},{"id":2},{"id":4}]}"#,
      other: #"{"steps":[{"id":0},{"id":1},{"id":2,"n":1},{"id":3}]}"#, rules: steps,
      merged: #"{"steps":[{"id":0},{"id":3},{"id":1},{"id":2,"n":1},{"id":4}]}"#, isOrdered: true),
    Case(
      testDescription: "orders that both have changed", base: #"{"steps":[{"id":1},{"id":2},{"id":3}]}"#,
      one: #"{"steps":[{"id":3},{"id":1},{"id":2}]}"#, other: #"{"steps":[{"id":2},{"id":1},{"id":3}]}"#,
      rules: steps,
      conflicts: ["steps"]),
    Case(
      testDescription: "an element changed differently", base: #"{"steps":[{"id":"a","n":1}]}"#,
      one: #"{"steps":[{"id":"a","n":2}]}"#, other: #"{"steps":[{"id":"a","n":3}]}"#, rules: steps,
      conflicts: [#"steps["a"].n"#]),
    Case(
      testDescription: "two elements with one key", base: #"{"steps":[]}"#,
      one: #"{"steps":[{"id":1},{"id":1}]}"#,
      other: #"{"steps":[{"id":2}]}"#, rules: steps, conflicts: ["steps"]),
  ]

  /// Inserts two branches; the winner is the one with the higher suffix.
  private func insert(_ versions: [(revision: String, body: String)], into store: Datastore) throws {
    try store.write { transaction in
      for (revision, text) in versions {
        try transaction.forceInsert(
          try remote(revision, body: JSONObject(parsing: text)),
          history: revision.hasPrefix("1-") ? [] : try revisionIDs([revision, "1-a"]))
      }
    }
  }

  @Test(arguments: cases) func `the result is the same whichever writer wins`(_ c: Case) throws {
    var bodies: [JSONObject] = []
    for (one, other) in [("2-b", "2-c"), ("2-c", "2-b")] {
      try withTemporaryDatastore { store in
        try insert([("1-a", c.base), (one, c.one), (other, c.other)], into: store)
        let result = try #require(try store.write { try $0.resolveConflicts(for: "a", by: c.rules) })
        #expect(result.hasAncestor && result.conflicts.map(\.path) == c.conflicts)
        if let merged = c.merged {
          // The members, and elements that were added, are in the order of the winner.
          let body = try #require(result.revision).body
          let wanted = try JSONValue(parsing: merged)
          #expect(c.isOrdered ? .object(body) == wanted : Self.sorted(.object(body)) == Self.sorted(wanted))
          bodies.append(body)
          #expect(try store.read { try $0.conflictedDocumentIDs() } == [])
        } else {
          #expect(result.revision == nil)
          #expect(try store.read { try $0.currentRevisions(ofDocument: "a") }.count == 2)
        }
      }
    }
  }

  /// A value with its arrays in one order.
  private static func sorted(_ value: JSONValue) -> JSONValue {
    switch value {
    case .array(let elements): .array(elements.map(sorted).sorted { $0.text < $1.text })
    case .object(let members): .object(JSONObject(members.map { ($0.key, sorted($0.value)) }))
    default: value
    }
  }

  @Test func `a field in conflict is listed with its values`() throws {
    try withTemporaryDatastore { store in
      try insert([("1-a", #"{"n":1}"#), ("2-b", #"{"n":2}"#), ("2-c", "{}")], into: store)
      let result = try store.write { try $0.resolveConflicts(for: "a", by: .fields) }
      #expect(result?.conflicts.map(\.json.text) == [#"{"path":"n","base":1,"versions":{"2-b":2}}"#])
      #expect(result?.conflicts[0].versions.map(\.revisionID.description) == ["2-c", "2-b"])
    }
  }

  @Test func `three leaves are merged at once`() throws {
    try withTemporaryDatastore { store in
      try insert(
        [
          ("1-a", #"{"a":1,"b":1,"c":1}"#), ("2-b", #"{"a":2,"b":1,"c":1}"#),
          ("2-c", #"{"a":1,"b":2,"c":1}"#),
          ("2-d", #"{"a":1,"b":1,"c":2}"#),
        ], into: store)
      let result = try store.write { try $0.resolveConflicts(for: "a", by: .fields) }
      #expect(result?.revision?.body == ["a": 2, "b": 2, "c": 2])
      #expect(try store.read { try $0.conflictedDocumentIDs() } == [])
    }
  }

  @Test func `documents that were created apart are merged from nothing`() throws {
    try withTemporaryDatastore { store in
      try insert([("1-a", #"{"a":1,"n":1}"#), ("1-b", #"{"b":1,"n":1}"#)], into: store)
      let result = try store.write { try $0.resolveConflicts(for: "a", by: .fields) }
      #expect(result?.hasAncestor == true && result?.revision?.body == ["a": 1, "b": 1, "n": 1])
    }
  }

  @Test func `arrays of documents that were created apart keep what is the same, and the order`() throws {
    try withTemporaryDatastore { store in
      try insert(
        [("1-a", #"{"tags":["b","b",1],"a":1}"#), ("1-b", #"{"tags":["b","b",1],"c":2}"#)], into: store)
      let result = try store.write { try $0.resolveConflicts(for: "a", by: Self.tags) }
      #expect(result?.revision?.body == ["tags": ["b", "b", 1], "a": 1, "c": 2])
    }
    func steps(_ ids: Int...) -> JSONObject { ["steps": .array(ids.map { ["id": .int(Int64($0))] })] }
    for (first, second) in [("1-b", "1-c"), ("1-c", "1-b")] {
      try withTemporaryDatastore { store in
        try insert([(first, steps(7, 6, 3).text), (second, steps(7, 10, 11, 6, 3).text)], into: store)
        let result = try store.write { try $0.resolveConflicts(for: "a", by: Self.steps) }
        #expect(result?.revision?.body == steps(7, 10, 11, 6, 3))
      }
    }
    try withTemporaryDatastore { store in
      try insert(
        [("1-d", steps(1, 2).text), ("1-c", steps(1, 3, 2).text), ("1-b", steps(0, 1, 3, 4).text)],
        into: store)
      let result = try store.write { try $0.resolveConflicts(for: "a", by: Self.steps) }
      #expect(result?.revision?.body == steps(0, 1, 3, 4, 2))
    }
  }

  @Test func `a merge that equals a leaf keeps this leaf`() throws {
    try withTemporaryDatastore { store in
      try insert([("1-a", #"{"n":1}"#), ("2-b", #"{"n":1}"#), ("2-c", #"{"n":2}"#)], into: store)
      let result = try store.write { try $0.resolveConflicts(for: "a", by: .fields) }
      #expect(result?.revision?.revisionID.description == "2-c")
      #expect(try store.read { try $0.conflictedDocumentIDs() } == [])
    }
  }

  @Test func `documents that were created again after a deletion are merged from nothing`() throws {
    try withTemporaryDatastore { store in
      let first = try store.createDocument(from: DocumentDraft(id: "a", body: ["old": 1]))
      let gone = try store.deleteDocument(from: first)
      for (revision, body) in [("3-b", ["a": 1, "b": 2]), ("3-c", ["a": 1, "c": 3])] as [(String, JSONObject)]
      {
        let leaf = try remote(revision, body: body)
        try store.write {
          try $0.forceInsert(leaf, history: [leaf.revisionID, gone.revisionID, first.revisionID])
        }
      }
      let result = try store.write { try $0.resolveConflicts(for: "a", by: .fields) }
      #expect(result?.revision?.body == ["a": 1, "b": 2, "c": 3])
    }
  }

  @Test func `a deep document is merged at its end`() throws {
    func deep(_ inner: String) -> String {
      String(repeating: #"{"a":"#, count: 500) + inner + String(repeating: "}", count: 500)
    }
    try withTemporaryDatastore { store in
      try insert(
        [
          ("1-a", deep(#"{"x":1,"y":1}"#)), ("2-b", deep(#"{"x":2,"y":1}"#)),
          ("2-c", deep(#"{"x":1,"y":2}"#)),
        ], into: store)
      let result = try store.write { try $0.resolveConflicts(for: "a", by: .fields) }
      #expect(result?.revision?.body == (try JSONObject(parsing: deep(#"{"x":2,"y":2}"#))))
    }
  }

  @Test func `without the content of the ancestor each field that differs is in conflict`() throws {
    try withTemporaryDatastore { store in
      try insert(
        [
          ("1-a", #"{"a":1}"#), ("2-b", #"{"a":1,"b":1,"o":{"x":1,"y":1}}"#),
          ("2-c", #"{"a":1,"o":{"x":1,"y":2}}"#),
        ],
        into: store)
      try store.compact()
      let result = try store.write { try $0.resolveConflicts(for: "a", by: .fields) }
      #expect(result?.hasAncestor == false && result?.revision == nil)
      #expect(result?.conflicts.map(\.path) == ["o.y", "b"])
      #expect(result?.conflicts.allSatisfy { $0.base == nil } == true)
    }
    try withTemporaryDatastore { store in
      for revision in ["2-b", "2-c"] {
        try store.write {
          try $0.forceInsert(remote(revision, body: ["n": 1]), history: revisionIDs([revision, "1-a"]))
        }
      }
      // Nothing differs.
      let result = try store.write { try $0.resolveConflicts(for: "a", by: .fields) }
      #expect(result?.hasAncestor == false && result?.revision?.revisionID.description == "2-c")
    }
  }

  @Test func `attachments are merged by their names`() throws {
    func file(_ name: String, _ content: String) -> DocumentAttachment {
      DocumentAttachment(data: Data(content.utf8), name: name, contentType: "text/plain")
    }
    for both in ["2", "3"] {
      try withTemporaryDatastore { store in
        let base = try store.createDocument(
          from: DocumentDraft(id: "a", body: [:], attachments: [file("gone", "1"), file("both", "1")]))
        for (revision, attachments) in [
          ("2-b", [file("both", "2"), file("added", "1")]),
          ("2-ffffffffffffffffffffffffffffffff", [file("gone", "1"), file("both", both)]),
        ] as [(String, Attachments)] {
          let leaf = try remote(revision, attachments: attachments)
          try store.write { try $0.forceInsert(leaf, history: [leaf.revisionID, base.revisionID]) }
        }
        let result = try store.write { try $0.resolveConflicts(for: "a", by: .fields) }
        if both == "2" {
          #expect(result?.revision?.attachments.names == ["added", "both"])
        } else {
          #expect(result?.conflicts.map(\.path) == ["_attachments.both"])
          #expect(result?.conflicts[0].base?["content_type"] == "text/plain")
        }
      }
    }
  }

  @Test func `a document without a conflict has no result`() throws {
    try withTemporaryDatastore { store in
      try store.insert("1-a")
      #expect(try store.write { try $0.resolveConflicts(for: "a", by: .fields) } == nil)
      let error = #expect(throws: DatastoreError.self) {
        try store.write { try $0.resolveConflicts(for: "none", by: .fields) }
      }
      #expect(error?.code == .notFound)
    }
  }

  @Test(arguments: 0..<200) func `disjoint edits of random documents are all kept`(_ seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    func value(_ depth: Int) -> JSONValue {
      switch Int.random(in: 0..<(depth > 2 ? 3 : 5), using: &random) {
      case 0: .int(.random(in: 0..<5, using: &random))
      case 1: .string("\(Int.random(in: 0..<5, using: &random))")
      case 2: .null
      case 3: .array((0..<2).map { _ in value(depth + 1) })
      default: .object(members(depth + 1))
      }
    }
    func members(_ depth: Int) -> JSONObject {
      var object = JSONObject()
      for name in ["a", "b", "c", "d", "e", "f"] where Bool.random(using: &random) {
        object[name] = value(depth)
      }
      return object
    }
    /// Changes each of some members, or those of the objects in them.
    func edit(_ object: inout JSONObject, _ names: [String]) {
      for name in names {
        switch Int.random(in: 0..<3, using: &random) {
        case 0: object[name] = nil
        case 1: object[name] = value(1)
        default: break
        }
      }
    }
    let base = members(0)
    let (mine, theirs) = (["a", "c", "e"], ["b", "d", "f"])
    var (one, other) = (base, base)
    var expected = base
    edit(&one, mine)
    edit(&other, theirs)
    for name in mine { expected[name] = one[name] }
    for name in theirs { expected[name] = other[name] }
    var revisions: Set<JSONObject> = []
    for (first, second) in [("2-b", "2-c"), ("2-c", "2-b")] {
      try withTemporaryDatastore { store in
        try insert([("1-a", base.text), (first, one.text), (second, other.text)], into: store)
        let result = try store.write { try $0.resolveConflicts(for: "a", by: .fields) }
        revisions.insert(try #require(result?.revision).body)
      }
    }
    #expect(revisions == [expected])
  }
}
