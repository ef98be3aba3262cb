import CDTDatastore
import CDTJSON
import CDTTestSupport
import Foundation
import Testing

@testable import CDTQuery
@testable import CDTSelector

/// The order without a sort, and pages that continue from a bookmark.
@Suite struct BookmarkTests {
  private static let ids = ["m", "c", "x", "d", "a"]

  private func withLetters(_ body: (Datastore) throws -> Void) throws {
    try withTemporaryDatastore { store in
      for (number, id) in Self.ids.enumerated() {
        try store.createDocument(
          from: DocumentDraft(id: id, body: ["n": .int(Int64(number)), "even": .bool(number % 2 == 0)]))
      }
      try body(store)
    }
  }

  /// A page of a query, and the bookmark behind it.
  private func page(_ query: Query, in store: Datastore) throws -> (ids: [String], bookmark: Bookmark?) {
    let results = try store.results(for: query)
    return (try results.documents().map(\.id), try results.bookmark())
  }

  @Test func `without a sort, ids decide if the selector has a condition on them or no index serves`() throws
  {
    try withLetters { store in
      #expect(try store.find([:]).map(\.id) == ["a", "c", "d", "m", "x"])
      #expect(try store.find(["_id": ["$gt": "c"]], limit: 2).map(\.id) == ["d", "m"])
      #expect(try store.find(["n": ["$gte": 1]]).map(\.id) == ["a", "c", "d", "x"])
      try store.ensureIndexed(["n"], name: "n")
      let query = try Query(["n": ["$gte": 1]], useIndex: "n")
      #expect(try store.read { try $0.find(query) }.map(\.id) == ["c", "x", "d", "a"])
      #expect(try store.read { try $0.explain(query) }.json["order"] == "by the index")
      let bounded = try Query(["n": ["$gte": 1], "_id": ["$lt": "x"]], useIndex: "n")
      #expect(try store.read { try $0.find(bounded) }.map(\.id) == ["a", "c", "d"])
      #expect(try store.read { try $0.explain(bounded) }.json["order"] == "by the ids, sorted")
      try store.ensureIndexed(["even", .descending("n")], name: "even")
      let even = try Query(["even": ["$in": [true, false]]], useIndex: "even")
      #expect(try store.read { try $0.find(even) }.map(\.id) == ["d", "c", "a", "x", "m"])
    }
  }

  @Test func `pages by the last id hold every document once`() throws {
    try withLetters { store in
      try store.ensureIndexed(["n"])
      var found: [String] = []
      var last = ""
      while case let page = try store.find(["_id": ["$gt": .string(last)], "n": ["$gte": 0]], limit: 2).map(
        \.id),
        let end = page.last
      {
        found += page
        last = end
      }
      #expect(found == Self.ids.sorted())
    }
  }

  @Test func `a bookmark continues after the last document, whatever was written or indexed meanwhile`()
    throws
  {
    for sort in [[], ["n"], [.descending("n")], ["even", "n"], ["_id"], [.descending("_id")]] as [[SortField]]
    {
      try withLetters { store in
        var query = try Query(["n": ["$gte": 0]], limit: 2, sort: sort)
        let whole = try store.find(["n": ["$gte": 0]], sort: sort).map(\.id)
        let first = try page(query, in: store)
        #expect(first.ids == Array(whole.prefix(2)), "\(sort)")
        query.bookmark = try Bookmark(#require(first.bookmark).text)
        // The last document of the page goes, and so do counts; a plan with an index is possible.
        try store.deleteDocument(withID: first.ids[1])
        try store.deleteDocument(withID: first.ids[0])
        try store.ensureIndexed(["even", "n"])
        try store.ensureIndexed(["n"])
        #expect(try page(query, in: store).ids == Array(whole[2..<4]), "\(sort)")
        query.skip = 1
        let last = try page(query, in: store)
        #expect(last.ids == Array(whole[3..<5]), "\(sort)")
        query.bookmark = last.bookmark
        #expect(try page(query, in: store).ids == [], "\(sort)")
      }
    }
  }

  @Test func `the order of an index that is deleted goes on`() throws {
    try withLetters { store in
      try store.ensureIndexed([.descending("n")], name: "n")
      var query = try Query(["n": ["$gte": 0]], limit: 2, useIndex: "n")
      let first = try page(query, in: store)
      #expect(first.ids == ["a", "d"])
      try store.deleteIndex(named: "n")
      (query.useIndex, query.bookmark) = (nil, first.bookmark)
      #expect(try page(query, in: store).ids == ["x", "c"])
    }
  }

  @Test func `pages by score continue`() throws {
    try withTemporaryDatastore { store in
      for number in 1...5 {
        let text = Array(repeating: "cat", count: number).joined(separator: " dog ")
        try store.createDocument(from: DocumentDraft(id: "d\(number)", body: ["t": .string(text)]))
      }
      try store.ensureIndexed(["t"], .text)
      var query = try Query(["$text": ["$search": "cat"]], sort: [.score])
      let whole = try store.read { try $0.find(query) }.map(\.id)
      query.limit = 2
      var found: [String] = []
      while case let (ids, bookmark) = try page(query, in: store), !ids.isEmpty {
        found += ids
        query.bookmark = try Bookmark(#require(bookmark).text)
      }
      #expect(found == whole)
    }
  }

  static let foreign = [
    "", "nil", "g2", "ZzI=", "bm9uZQ==", "e30=", "W10=", "eyJpZCI6MX0=",
    // CouchDB's, and objects with other members: {"id":"a","x":1}, {"id":"a","sort":["n"],"values":[]}.
    "g1AAAAA2eJzLYWBgYMpgSmHgKy5JLCrJTq2MT8lPzkzJBYqzAFkmIDkOmFwGAFxUCfA",
    "eyJpZCI6ImEiLCJ4IjoxfQ==", "eyJpZCI6ImEiLCJzb3J0IjpbIm4iXSwidmFsdWVzIjpbXX0=",
  ]

  @Test(arguments: foreign) func `a bookmark that is not ours is refused`(text: String) {
    let error = #expect(throws: QueryError.self) { try Bookmark(text) }
    #expect(error?.code == .invalidRequest && error?.path == "bookmark")
  }

  @Test func `a bookmark of another sort is refused`() throws {
    try withLetters { store in
      var query = try Query([:], limit: 2, sort: ["n"])
      query.bookmark = try page(query, in: store).bookmark
      query.sort = ["even"]
      #expect(throws: QueryError.self) { try store.read { try $0.find(query) } }
    }
  }

  @Test func `pages are read backwards from a page, and from the end`() throws {
    for sort in [[], ["n"], [.descending("n")], ["even", "n"], ["_id"], ["none"]] as [[SortField]] {
      for index in [[], ["n"], ["even", "n"]] as [[SortField]] {
        try withLetters { store in
          if !index.isEmpty { try store.ensureIndexed(index, name: "i") }
          var query = try Query(["n": ["$gte": 0]], limit: 2, sort: sort)
          let whole = try store.find(["n": ["$gte": 0]], sort: sort).map(\.id)
          query.bookmark = try page(query, in: store).bookmark
          let results = try store.results(for: query)
          #expect(try results.documents().map(\.id) == Array(whole[2..<4]))
          query.bookmark = try results.firstBookmark()
          query.isBackward = true
          let context = "sort \(sort), index \(index)"
          #expect(try page(query, in: store).ids == Array(whole[0..<2]), "\(context)")
          query.bookmark = nil
          #expect(try page(query, in: store).ids == Array(whole[3..<5]), "\(context)")
          #expect(try store.read { try $0.documentIDs(query) } == Array(whole[3..<5]), "\(context)")
          query.skip = 1
          #expect(try page(query, in: store).ids == Array(whole[2..<4]), "\(context)")
          query.limit = nil
          #expect(try page(query, in: store).ids == Array(whole[..<4]), "\(context)")
        }
      }
    }
  }

  @Test func `an order by values of arrays is the same backwards`() throws {
    try withTemporaryDatastore { store in
      let values: [JSONValue] = [[5, 1], [2, 9], [], [4], 3, .null, [7, 0]]
      for (number, value) in values.enumerated() {
        try store.createDocument(from: DocumentDraft(id: "d\(number)", body: ["v": value]))
      }
      for sort in [["v"], [.descending("v")]] as [[SortField]] {
        var query = try Query([:], sort: sort)
        let whole = try store.read { try $0.documentIDs(query) }
        query.isBackward = true
        #expect(try store.read { try $0.documentIDs(query) } == whole, "\(sort)")
      }
    }
  }

  @Test func `pages by score, live queries and files are not read backwards`() throws {
    try withTemporaryDatastore { store in
      try store.ensureIndexed(["t"], .text)
      var query = try Query(["$text": ["$search": "cat"]], sort: [.score])
      query.isBackward = true
      let error = #expect(throws: QueryError.self) { try store.read { try $0.find(query) } }
      #expect(error?.path == "backward")
      query = try Query([:], sort: ["n"])
      query.isBackward = true
      #expect(throws: QueryError.self) { _ = try StreamedQuery(query) }
      #expect(throws: QueryError.self) { _ = try LiveObserver(query) }
    }
  }

  /// Documents whose ids begin with "s" stay as they are; the others come, change and go between the pages.
  @Test(arguments: [false, true])
  func `each document that stays is in exactly one page, whatever is written meanwhile`(
    isBackward: Bool
  ) throws {
    for seed in UInt64(1)...12 {
      var random = SeededGenerator(seed: seed)
      func value() -> JSONValue {
        let number = JSONValue.int(Int64.random(in: 0...3, using: &random))
        return [number, number, .null, .array([number, 2]), .string("x")].randomElement(using: &random)
          ?? .null
      }
      try withTemporaryDatastore { store in
        for number in 0..<60 {
          let id = (number % 2 == 0 ? "s" : "v") + String(number)
          try store.createDocument(from: DocumentDraft(id: id, body: ["a": value(), "b": value()]))
        }
        let sorts: [[SortField]] = [
          [], ["a"], [.descending("a")], ["a", "b"], ["b", .descending("a")], ["_id"],
        ]
        let indexes: [[SortField]] = [["a"], ["a", "b"], ["b"], [.descending("b"), "a"]]
        var query = try Query([:], limit: 3, sort: #require(sorts.randomElement(using: &random)))
        query.isBackward = isBackward
        var found: [String] = []
        while true {
          let results = try store.results(for: query)
          let ids = try results.documents().map(\.id).filter { $0.hasPrefix("s") }
          found = isBackward ? ids + found : found + ids
          let bookmark = isBackward ? try results.firstBookmark() : try results.bookmark()
          guard let bookmark else { break }
          query.bookmark = bookmark
          try store.write { transaction in
            for _ in 0..<6 {
              let id = "v\(Int.random(in: 0..<60, using: &random))"
              let known = try transaction.documents(withIDs: [id]).first { !$0.isDeleted }
              guard var document = known else {
                try transaction.createDocument(
                  from: DocumentDraft(id: id, body: ["a": value(), "b": value()]))
                continue
              }
              document.body["a"] = value()
              if Bool.random(using: &random) {
                try transaction.updateDocument(from: document)
              } else {
                try transaction.deleteDocument(from: document)
              }
            }
          }
          let index = try #require(indexes.randomElement(using: &random))
          if Bool.random(using: &random) {
            try store.ensureIndexed(index, name: "i\(index.count)\(index[0].path)")
          } else if let name = try store.listIndexes().first?.name {
            try store.deleteIndex(named: name)
          }
        }
        let whole = try Query([:], sort: query.sort)
        let all = try whole.find(in: store.read { try $0.allDocuments() }).map(\.id)
        #expect(found == all.filter { $0.hasPrefix("s") }, "seed \(seed), sort \(query.sort)")
      }
    }
  }
}
