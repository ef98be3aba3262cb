import CDTDatastore
import CDTImport
import CDTJSON
import Synchronization
import Testing

/// The first documents of a file that is cut off.
@Suite struct ImportPreviewTests {
  /// - Parameter piece: The number of bytes that are read at once.
  private static func preview(
    _ name: String, _ text: some Sequence<UInt8>, limit: Int = 10, piece: Int = 1 << 18
  ) throws -> ImportPreview {
    let rest = Mutex(Array(text)[...])
    var reader = ImportReader(name) {
      .success(
        rest.withLock { rest in
          defer { rest = rest.dropFirst(piece) }
          return Array(rest.prefix(piece))
        })
    }
    return try reader.preview(ofFirst: limit)
  }

  struct File: Sendable, CustomTestStringConvertible {
    let testDescription, name, text, format: String
    /// The length from which on the form of the text is known.
    var recognized = 0
  }

  static let files = [
    File(
      testDescription: "lines", name: "a.jsonl",
      text: #"{"_id":"a","n":[1,{"m":true}],"é":"ü\u00e9\ud83d\ude00"}"# + "\n"
        + #"{"n":-1.5e+3,"o":{"p":null}}"#
        + "\n\n" + #"{"_id":"\"c}","n":{}}"# + "\n", format: "json"),
    File(
      testDescription: "an array", name: "a.json",
      text: "[\n" + #"{"n":"a}","m":{"k":1}}, {"n": 2}"# + "\n," + #"{"_id":"x"} ]"#, format: "json"),
    File(
      testDescription: "a table", name: "a.csv",
      text: "_id,name,pet.name\r\na,\"An \"\"x\"\"\nn\",1\r\nb,Bö,\r\n\r\nc,\"C\",2\r\n", format: "csv"),
    File(
      testDescription: "a reply of _all_docs", name: "a",
      text: #"{"total_rows":2,"offset":0,"rows":["# + "\n"
        + #"{"id":"a","key":"a","value":{"rev":"1-x"},"doc":{"_id":"a","_rev":"1-x","n":1}},"# + "\n"
        + #"{"id":"b","key":"b","value":{"rev":"1-y"},"doc":{"_id":"b","_rev":"1-y","n":2}}"# + "\n]}\n",
      format: "couchdb"),
    File(
      testDescription: "a dump of pouchdb-dump", name: "a",
      text: #"{"version":"1.2","db_info":{"doc_count":2},"start_time":"2026"}"# + "\n"
        + #"{"docs":[{"_id":"a","n":1},{"_id":"b","n":2}]}"# + "\n" + #"{"seq":2}"# + "\n",
      format: "couchdb"),
    File(
      testDescription: "MongoDB", name: "a",
      text: #"{"_id":{"$oid":"0123456789abcdef01234567"},"n":{"$numberLong":"7"}}"# + "\n"
        + #"{"_id":{"$oid":"0123456789abcdef01234568"},"n":{"$numberLong":"8"}}"# + "\n", format: "mongodb"),
    File(
      testDescription: "Elasticsearch", name: "a",
      text: #"{"index":{"_id":"1"}}"# + "\n" + #"{"n":1}"# + "\n" + #"{"index":{"_id":"2"}}"# + "\n"
        + #"{"n":2}"# + "\n", format: "json", recognized: 24),
  ]

  @Test(arguments: files, [1, 7, 1 << 18])
  func `wherever a file is cut, the documents before are those of the whole file`(
    _ file: File, piece: Int
  ) throws {
    let bytes = Array(file.text.utf8)
    let whole = try Self.preview(file.name, bytes, piece: piece)
    #expect(whole.format.rawValue == file.format && whole.cut == nil && whole.documents.count >= 2)
    var known = 0
    for length in file.recognized..<bytes.count {
      let cut = try Self.preview(file.name, bytes.prefix(length), piece: piece)
      // The last cell of a table may be shorter than it is.
      let safe = file.format == "csv" && cut.cut == nil ? cut.documents.dropLast() : cut.documents[...]
      #expect(whole.documents.starts(with: safe), "\(length)")
      #expect(cut.documents.count >= known, "\(length)")
      known = max(known, safe.count)
    }
    #expect(known >= whole.documents.count - 1)
  }

  struct Wrong: Sendable, CustomTestStringConvertible {
    let testDescription, name, text, error: String
  }

  static let wrong = [
    Wrong(
      testDescription: "an error before the cut", name: "a",
      text: #"{"a":1}"# + "\n" + #"{"a":x,"b":"a long text to the end of what is"#, error: "a:2:6: "),
    Wrong(testDescription: "an error in the last line", name: "a", text: #"{"_id":}"#, error: "a:1:8: "),
    Wrong(testDescription: "text", name: "a", text: "hello", error: "a:1:1: expected an object"),
    Wrong(
      testDescription: "too many cells at the end", name: "a.csv", text: "a,b\n1,2,3",
      error: "a.csv:2: the record has 3 cells"),
    Wrong(
      testDescription: "a repeated id", name: "a.csv", text: "_id,_id",
      error: "a.csv:1: two columns are named \"_id\""),
    Wrong(
      testDescription: "a number in an array", name: "a", text: "[{}, 1", error: "a:1:6: a document must"),
    Wrong(testDescription: "a reserved id", name: "a", text: #"{"_id":"_x"}"#, error: "a:1: "),
    Wrong(testDescription: "a workbook", name: "a.csv", text: "PK\u{3}\u{4}", error: "a.csv:1: the file is"),
  ]

  @Test(arguments: wrong) func `invalid text is an error with its place`(_ wrong: Wrong) throws {
    for piece in [1, 1 << 18] {
      let error = #expect(throws: ImportError.self) {
        try Self.preview(wrong.name, Array(wrong.text.utf8), piece: piece)
      }
      #expect(error?.description.hasPrefix(wrong.error) == true, "\(error?.description ?? "")")
    }
  }

  @Test func `a preview has the format, the separator, the fields and the notices`() throws {
    let table = try Self.preview("a.csv", "a b;pet.name;x.y z;_id\n1;Rex;2;k\n".utf8)
    #expect(table.separator == ";" && table.fields == ["_id", "a b", "pet.name", #"x\.y z"#])
    #expect(table.documents == [["_id": "k", "a b": 1, "pet": ["name": "Rex"], "x.y z": 2]])
    #expect(table.notices.count == 2)
    let lines = try Self.preview("a", #"{"b":1,"a.b":2} {"_id":"x","c":{},"b":3} {"d":1}"#.utf8, limit: 2)
    #expect(lines.separator == nil && lines.fields == ["_id", "b", #"a\.b"#, "c"])
    #expect(lines.documents.count == 2)
    // An import would refuse the object; what ends inside a document is that document's error.
    let cut = try Self.preview("a.jsonl", "{\"a\":1}\n{\"a\":".utf8)
    #expect(cut.cut?.description.hasPrefix("a.jsonl:2:") == true && cut.documents == [["a": 1]])
    let record = try Self.preview("a.csv", "a,b\n1,2\n3".utf8)
    #expect(record.cut?.description.hasPrefix("a.csv:3: ") == true && record.documents.count == 1)
    #expect(try Self.preview("a.csv", "a,b\n1,2".utf8).documents == [["a": 1, "b": 2]])
    #expect(try Self.preview("a", [].prefix(0)).documents == [])
  }
}
