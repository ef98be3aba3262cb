import CDTDatastore
import CDTJSON
import CDTQuery
import CDTSQLite
import CDTTestSupport
import Foundation
import Testing

/// `docs/file-format.md` against the files that the library makes.
@Suite struct FileFormatTests {
  /// What a file has, or the page says that it has.
  struct Layout: Equatable {
    /// `table.column TYPE`
    var columns: Set<String> = []
    var indexes: Set<String> = []
    var pragmas: [String: String] = [:]
  }

  @Test func `the log begins again after some 3,000 pages`() throws {
    try withTemporaryDatastore { store in
      let page = 4_096 + 24
      let filler = String(repeating: "x", count: 3_600)
      var length = 0
      for _ in 0..<12 {
        try store.write { transaction in
          for _ in 0..<1_000 {
            try transaction.createDocument(from: DocumentDraft(body: ["text": .string(filler)]))
          }
        }
        let status = try FileManager.default.attributesOfItem(atPath: "\(store.directory)/db.sync-wal")
        length = max(length, (status[.size] as? Int) ?? 0)
      }
      // A transaction of a thousand pages and the index's is the most that comes on top.
      #expect(length > 2_500 * page && length < 5_000 * page)
    }
  }

  /// The layouts of the page, by the heading of the file.
  private static func page() throws -> [String: Layout] {
    var layouts: [String: Layout] = [:]
    var (file, table) = ("", "")
    for line in try Repository.page("file-format.md").split(separator: "\n") {
      let code = line.split(separator: "`", omittingEmptySubsequences: false).map(String.init)
      if line.hasPrefix("## ") {
        (file, table) = (String(line.dropFirst(3)), "")
      } else if line.hasPrefix("### Table `") {
        table = code[1]
      } else if line.hasPrefix("Index `") {
        layouts[file, default: Layout()].indexes.insert("\(table).\(code[1])")
      } else if line.hasPrefix("| `") {
        let cells = line.split(separator: "|", omittingEmptySubsequences: false).map {
          $0.trimmingCharacters(in: .whitespaces)
        }
        if table.isEmpty {
          layouts[file, default: Layout()].pragmas[code[1]] = cells[2]
        } else {
          layouts[file, default: Layout()].columns.insert("\(table).\(code[1]) \(cells[2])")
        }
      }
    }
    return layouts
  }

  /// What a file has; the numbers in the names of index tables and their columns are as the page writes them.
  private static func live(_ path: String, pragmas: some Sequence<String>) throws -> Layout {
    let connection = try Connection(path: path, mode: .readWrite)
    defer { connection.close() }
    var layout = Layout()
    let columns = try connection.statement(
      """
      SELECT t.name, c.name, c.type FROM sqlite_schema t, pragma_table_info(t.name) c WHERE t.type = 'table'
      """)
    while try columns.step() {
      let table = columns.text(0).replacing(/^(entries|groups|vectors)_[0-9]+$/) { "\($0.1)_<n>" }
      var column = columns.text(1)
      if table.hasSuffix("_<n>") { column.replace(/^([tv])[0-9]+$/) { "\($0.1)<i>" } }
      layout.columns.insert("\(table).\(column) \(columns.text(2))")
    }
    // Those that SQLite makes for keys have no SQL.
    let indexes = try connection.statement(
      "SELECT tbl_name, name FROM sqlite_schema WHERE type <> 'table' AND sql IS NOT NULL")
    while try indexes.step() { layout.indexes.insert("\(indexes.text(0)).\(indexes.text(1))") }
    for pragma in pragmas {
      let statement = try connection.statement("PRAGMA \(pragma)")
      layout.pragmas[pragma] = try statement.step() ? statement.text(0) : ""
    }
    return layout
  }

  @Test(arguments: ["db.sync", "extensions/com.cloudant.sync.query/indexes.sqlite"])
  func `the page names what the file has, no more and no less`(_ file: String) throws {
    let name = file.split(separator: "/").last.map(String.init) ?? file
    let described = try #require(try Self.page()[name])
    #expect(described.columns.count > 10)
    try withTemporaryDirectory { directory in
      let manager = try DatastoreManager(directory: directory)
      let store = try manager.datastore(named: "store")
      try store.createDocument(from: DocumentDraft(id: "a", body: ["a": 1, "b": [1, 2]]))
      try store.ensureIndexed(["a", "b"])
      try store.ensureIndexed(["a"], .summary(of: "b"))
      try store.ensureIndexed(["v"], .vector(2))
      try manager.closeDatastore(named: "store")
      let live = try Self.live("\(directory)/store/\(file)", pragmas: described.pragmas.keys)
      #expect(described.columns.subtracting(live.columns) == [])
      #expect(live.columns.subtracting(described.columns) == [])
      #expect(described.indexes == live.indexes)
      #expect(described.pragmas == live.pragmas)
    }
  }

  @Test func `opening a store and reading from it writes nothing`() throws {
    try withTemporaryDirectory { directory in
      let manager = try DatastoreManager(directory: directory)
      let store = try manager.datastore(named: "store")
      try store.createDocument(from: DocumentDraft(id: "a", body: ["a": 1]))
      try manager.closeDatastore(named: "store")
      let path = "\(directory)/store/db.sync"
      let before = try Data(contentsOf: URL(filePath: path))
      let again = try manager.datastore(named: "store")
      #expect(try again.document(withID: "a").body["a"] == 1)
      #expect(try Data(contentsOf: URL(filePath: "\(path)-wal")).isEmpty)
      try manager.closeDatastore(named: "store")
      #expect(try Data(contentsOf: URL(filePath: path)) == before)
    }
  }

  @Test func `the page names the files that there are`() throws {
    let page = try Repository.page("file-format.md")
    try withTemporaryDirectory { directory in
      let manager = try DatastoreManager(directory: directory)
      let store = try manager.datastore(named: "store")
      try store.createDocument(from: DocumentDraft(id: "a", body: ["a": 1]))
      try store.ensureIndexed(["a"])
      try manager.closeDatastore(named: "store")
      let files = try FileManager.default.subpathsOfDirectory(atPath: "\(directory)/store")
      #expect(files.contains("db.sync"))
      for file in files {
        let name = file.split(separator: "/").last.map(String.init) ?? file
        #expect(page.contains("  \(name)"), "\(file)")
      }
    }
  }
}
