import CDTDatastore
import JSON
import SQLite
import Testing

@testable import CDTQuery

@Suite struct IndexUpdaterTests {
  @Test(arguments: [0, 4])
  func `an index that is further than a batch reaches is not taken back`(few: Int) throws {
    try withTemporaryDatastore { store in
      for number in 0..<10 {
        try store.createDocument(from: DocumentRevision(id: "\(number)", body: ["a": .int(Int64(number))]))
      }
      try store.ensureIndexed(["a"], name: "ahead")
      let connection = try Connection(path: store.indexManager().path, mode: .readWrite)
      defer { connection.close() }
      try connection.attach(path: store.databasePath, as: "docs")
      try store.ensureIndexed(["b"], name: "behind")
      try connection.execute("UPDATE indexes SET watermark = 0, session = NULL WHERE name = 'behind'")
      try store.createDocument(from: DocumentRevision(id: "new", body: ["a": 10]))

      let updater = IndexUpdater(connection, batch: 4, few: few)
      var watermarks: [[Int64]] = []
      var isComplete = false
      while !isComplete {
        isComplete = try connection.transaction(.immediate) {
          try connection.execute("UPDATE state SET revision = revision + 1")
          return try updater.step(catalog: IndexCatalog(reading: connection, schema: "main")).isComplete
        }
        watermarks.append(try IndexCatalog(reading: connection, schema: "main").entries.map(\.watermark))
        #expect(try store.find(["a": ["$gte": 0]]).documents().count == 11)
      }
      #expect(watermarks == [[10, 4], [10, 8], [11, 11]])
    }
  }
}
