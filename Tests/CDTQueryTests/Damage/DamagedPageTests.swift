import CDTSQLite
import CDTTestSupport
import Foundation
import Testing

@testable import CDTDatastore
@testable import CDTIndex
@testable import CDTQuery
@testable import CDTSelector

/// Every page of the index file is damaged in turn, and each question is the first one that meets the damage. Without a sort, the
/// documents come in the order of the plan, so these are compared as sets.
@Suite struct DamagedPageTests {
  struct Question: Sendable {
    let name: String
    let answer: @Sendable (Datastore) throws -> [String]
  }

  static let questions = [
    Question(name: "texts") { store in
      var texts: [String] = []
      try store.results(for: Query(["n": ["$gte": 20]])).forEachJSON {
        texts.append(String(decoding: $0, as: UTF8.self))
      }
      return texts.sorted()
    },
    Question(name: "documents in an order") { store in
      let query = try Query(["tag": "a"], skip: 3, limit: 100, sort: [.ascending("tag"), .descending("n")])
      return try store.results(for: query).documents().map(\.id)
    },
    Question(name: "ids") {
      try $0.results(for: Query(["n": ["$lt": 30]], useIndex: "by_n")).documentIDs().sorted()
    },
    Question(name: "pages") { store in
      var query = try Query(["n": ["$gte": 5]], limit: 100, useIndex: "by_n")
      var ids: [String] = []
      for _ in 0..<3 {
        let page = try store.results(for: query)
        ids += try page.documents().map(\.id)
        query.bookmark = try page.bookmark()
      }
      return ids.sorted()
    },
    Question(name: "words") { try $0.find(["$text": ["$search": "alpha"]], sort: ["_id"]).map(\.id) },
    Question(name: "vectors") {
      try $0.find(["v": ["$near": ["$vector": [3, 1, 2]]]], limit: 60).map(\.id)
    },
    Question(name: "places") { store in
      let near = try store.find(
        ["p": ["$near": ["$geometry": ["type": "Point", "coordinates": [8, 47]]]]], limit: 60)
      let within = try store.find(["p": ["$geoWithin": ["$box": [[0, 0], [9, 9]]]]])
      return near.map(\.id) + within.map(\.id).sorted()
    },
    Question(name: "counts and groups") { store in
      let groups = try store.group(by: ["tag"], .count(), .sum("n", as: "sum"), .maximum("n", as: "most"))
      return try groups.map(\.text) + ["\(store.count(["n": ["$gte": 50]]))"]
    },
    Question(name: "violations") { try $0.uniqueViolations().map(\.description) },
    Question(name: "a write") { store in
      try store.createDocument(from: DocumentDraft(id: "new", body: ["n": 20.5, "tag": "a", "t": "alpha"]))
      #expect(throws: UniqueViolation.self) {
        try store.createDocument(from: DocumentDraft(id: "other", body: ["key": 7]))
      }
      return try store.find(["n": ["$gt": 20, "$lt": 22]], sort: ["n"]).map(\.id)
    },
    Question(name: "check") { store in
      _ = try store.checkIndexes(repair: true)
      return try store.checkIndexes().map(\.message)
    },
  ]

  private static func make(in directory: String, _ options: DatastoreOptions) throws {
    let manager = try DatastoreManager(directory: directory, options: options)
    defer { manager.close() }
    let store = try manager.datastore(named: "store")
    try store.write { transaction in
      for number in 0..<300 {
        let body: JSONObject = [
          "n": .int(Int64(number % 100)), "tag": .string(number % 2 == 0 ? "a" : "b"),
          "key": .int(Int64(number)), "t": "alpha beta", "until": 4e9, "v": [.int(Int64(number % 7)), 1, 2],
          "p": [.int(Int64(number % 90)), .int(Int64(number % 50))],
        ]
        try transaction.createDocument(from: DocumentDraft(id: "d\(number)", body: body))
      }
      for id in ["twin", "twin-2"] {
        try transaction.createDocument(from: DocumentDraft(id: id, body: ["key": -1]))
      }
    }
    try store.ensureIndexed(["n"], name: "by_n")
    try store.ensureIndexed([.ascending("tag"), .descending("n")])
    try store.ensureIndexed(["t"], .text)
    try store.ensureIndexed(["v"], .vector(3))
    try store.ensureIndexed(["p"], .place)
    try store.ensureIndexed(["key"], .unique)
    try store.ensureIndexed(["until"], .expiring(after: .seconds(1)))
    try store.ensureIndexed(["tag"], .summary(of: "n"))
  }

  private static func ask(
    _ question: Question, in directory: String, _ options: DatastoreOptions
  ) throws -> [String] {
    let manager = try DatastoreManager(directory: directory, options: options)
    defer { manager.close() }
    return try question.answer(manager.existingDatastore(named: "store"))
  }

  @Test(arguments: [false, true]) func `damage of any page changes no answer`(isEncrypted: Bool) throws {
    let options = DatastoreOptions(encryption: isEncrypted ? DamageTrial.key : nil)
    try withTemporaryDirectory(inMemory: true) { directory in
      let (whole, copy) = ("\(directory)/whole", "\(directory)/copy")
      try Self.make(in: whole, options)
      func fresh() throws {
        try? FileManager.default.removeItem(atPath: copy)
        try FileManager.default.copyItem(atPath: whole, toPath: copy)
      }
      let file = "store/extensions/\(QueryExtension.extensionName)/\(IndexFile.name)"
      // Both stores have the same pages; only their damage is found in another way.
      let questions = Self.questions.filter {
        !isEncrypted || ["texts", "a write", "check"].contains($0.name)
      }
      for question in questions {
        try fresh()
        let answer = try Self.ask(question, in: copy, options)
        for name in [file] + (isEncrypted ? [file + LogFile.sealsSuffix] : []) {
          let bytes = try Data(contentsOf: URL(filePath: "\(whole)/\(name)"))
          #expect(bytes.count > 4_096)
          for page in stride(from: 0, to: bytes.count, by: 4_096) {
            try fresh()
            var damaged = bytes
            let start = min(page + 2_400, bytes.count - 1)
            for offset in start..<min(start + 8, bytes.count) { damaged[offset] ^= 0xFF }
            try damaged.write(to: URL(filePath: "\(copy)/\(name)"))
            let place = "\(question.name), page \(page / 4_096 + 1) of \(name)"
            do {
              #expect(try Self.ask(question, in: copy, options) == answer, "\(place)")
            } catch {
              Issue.record(error, "\(place)")
            }
          }
        }
      }
    }
  }
}
