import CDTDatastore
import CDTQuery
import JSON
import SQLite
import Testing

/// An index table holds exactly the rows that ``IndexEntries`` tells, whichever way they were written.
@Suite struct IndexRowsTests {
  private static let values = [
    "null", "true", "false", "0", "-1", "1.0", "-0.0", "0.5", "-2.5e-7", "1e300", "9223372036854775807",
    "-9223372036854775808", "9007199254740993", "18446744073709551616", "\"\"", "\"a\"", "\"ab\"",
    "\"tag-seventeen-bytes-long\"", "\"a\\u0000b\"", "\"\\u0000\"", "\"é\"", "\"\\\"q\\\\\\n\"", "[]", "[1]",
    "[\"x\",\"x\",2,null]", "[[1,2],{\"k\":\"\\u0000\"}]", "{}", "{\"k\":[1,\"z\"]}",
  ]

  static let definitions: [[JSONValue]] = [
    ["a"], [["a": "desc"]], ["a", "b"], [["a": "desc"], "b"], ["b", ["a": "desc"]], ["a.k"],
    [["a.k": "desc"]],
  ]

  @Test(arguments: definitions, [true, false])
  func `rows are those of the entries`(_ fields: [JSONValue], _ isFilledAtOnce: Bool) throws {
    try withTemporaryDatastore { store in
      if !isFilledAtOnce { try store.ensureIndexed(fields, name: "i") }
      for (number, a) in Self.values.enumerated() {
        // Ids go down, so that their order is not that of the writes.
        try store.write { transaction in
          for (other, b) in Self.values.enumerated() {
            let body = try JSONObject(parsing: "{\"a\":\(a),\"b\":\(b)}")
            try transaction.createDocument(
              from: DocumentRevision(id: "d\(900 - number)-\(other)", body: body))
          }
        }
        if !isFilledAtOnce, number % 7 == 0 { try store.updateAllIndexes() }
      }
      try store.ensureIndexed(fields, name: "i")
      try store.updateAllIndexes()

      let definition = try IndexDefinition(fields: fields, name: "i", type: .json)
      let connection = try Connection(
        path: store.extensionDirectory(named: IndexManager.extensionName) + "/" + IndexFile.name,
        mode: .readOnly)
      defer { connection.close() }
      var expected: Set<[String]> = []
      for document in try store.allDocuments() {
        let entries = document.body.text.utf8.withContiguousStorageIfAvailable {
          IndexEntries(of: definition, body: JSONBytes(UnsafeRawBufferPointer($0)))
        }
        for entry in try #require(entries).entries {
          expected.insert(try [document.id ?? ""] + entry.keys.map { try spelled($0, connection) })
        }
      }
      #expect(try rows(of: definition, connection) == expected)
      #expect(try connection.scalar("SELECT count(*) FROM entries_1") == Int64(expected.count))
      let check = try connection.statement("PRAGMA integrity_check")
      #expect(try check.step())
      #expect(check.text(0) == "ok")
    }
  }

  private func rows(of definition: IndexDefinition, _ connection: Connection) throws -> Set<[String]> {
    let keys = definition.fields.indices.map { "t\($0) || typeof(v\($0)) || hex(CAST(v\($0) AS BLOB))" }
    let statement = try connection.statement(
      "SELECT id, \(keys.joined(separator: ", ")) FROM entries_1")
    defer { statement.reset() }
    var rows: Set<[String]> = []
    while try statement.step() { rows.insert((0..<statement.columnCount).map(statement.text)) }
    return rows
  }

  private func spelled(_ key: IndexKey, _ connection: Connection) throws -> String {
    let statement = try connection.statement("SELECT ?1 || typeof(?2) || hex(CAST(?2 AS BLOB))")
    defer { statement.reset() }
    try statement.bind(key, at: 1)
    #expect(try statement.step())
    return statement.text(0)
  }

  @Test(arguments: [
    #"{"a": {"$regex": "x\"y"}}"#, #"{"a": {"$regex": "z\n"}}"#, #"{"a": {"$beginsWith": "x\""}}"#,
    #"{"a": "x\"y\\z\n"}"#, #"{"a": {"$regex": "\u0001é"}}"#,
  ])
  func `a scan finds strings whose stored text is escaped`(_ selector: String) throws {
    try withTemporaryDatastore { store in
      for (id, body) in [
        ("yes", #"{"a":"x\"y\\z\n"}"#), ("also", #"{"a":["-","\u0001é"]}"#), ("no", #"{"a":"b"}"#),
      ] {
        try store.createDocument(from: DocumentRevision(id: id, body: JSONObject(parsing: body)))
      }
      let wanted = selector.contains("u0001") ? ["also"] : ["yes"]
      #expect(try store.find(JSONObject(parsing: selector)).documentIDs == wanted)
    }
  }
}
