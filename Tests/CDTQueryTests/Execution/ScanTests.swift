import CDTDatastore
import CDTJSON
import CDTQuery
import Testing

@Suite struct ScanTests {
  /// Ids whose own order is not that in which they are written; one of them has to be escaped.
  private static let ids = ["m", "b", "z\"z", "a", "y"]

  private func withStore(_ body: (Datastore) throws -> Void) throws {
    try withTemporaryDatastore { store in
      for (number, id) in Self.ids.enumerated() {
        try store.createDocument(from: DocumentDraft(id: id, body: ["n": .int(Int64(number))]))
      }
      try body(store)
    }
  }

  private func texts(_ results: ResultSet) throws -> [String] {
    var texts: [String] = []
    try results.forEachJSON { texts.append(String(decoding: $0, as: UTF8.self)) }
    return texts
  }

  /// Every way to read the same results gives them in the order of the ids.
  private func expectScan(_ store: Datastore, gives written: [String]) throws {
    let ids = written.sorted()
    for (skip, limit) in [(0, nil), (0, 2), (1, 2), (2, nil), (1, 0)] as [(Int, Int?)] {
      let wanted = Array(ids.dropFirst(skip).prefix(limit ?? ids.count))
      for selector: JSONObject in [[:], ["n": ["$gte": 0]]] {
        let query = try Query(selector, skip: skip, limit: limit)
        #expect(try store.results(for: query).documentIDs() == wanted)
        #expect(try store.read { try $0.documentIDs(query) } == wanted)
        #expect(try store.read { try $0.find(query) }.map(\.id) == wanted)
        let texts = try texts(store.results(for: query))
        #expect(
          texts
            == (try wanted.map { id in
              String(decoding: try store.read { try $0.documentText(withID: id) }, as: UTF8.self)
            }))
      }
    }
    #expect(try store.count([:]) == ids.count)
    #expect(try store.find([:], sort: ["_id"]).map(\.id) == ids.sorted())
    #expect(try store.find([:], sort: [.descending("n")]).map(\.id) == written.reversed())
  }

  @Test func `a scan gives what there is, before the first deletion and after it`() throws {
    try withStore { store in
      try expectScan(store, gives: Self.ids)
      try store.deleteDocument(withID: "b")
      try expectScan(store, gives: Self.ids.filter { $0 != "b" })
    }
  }

  @Test func `a snapshot from before a deletion still has the document, and one from after it has not`()
    throws
  {
    try withStore { store in
      let before = try store.results(for: Query([:]))
      _ = try before.next()
      try store.deleteDocument(withID: "y")
      let ids = Self.ids.sorted()
      #expect(try before.documentIDs() == ids)
      #expect(try store.find([:]).map(\.id) == ids.filter { $0 != "y" })
      let after = try store.results(for: Query([:]))
      try store.createDocument(from: DocumentDraft(id: "y", body: [:]))
      #expect(try after.documentIDs() == ids.filter { $0 != "y" })
      #expect(try store.find([:]).map(\.id) == ids)
    }
  }

  @Test(arguments: ["ab", "kk", "zebra", "a word of more than sixteen bytes"])
  func `a word is found wherever it is in a text, and nothing that only begins like it`(word: String) throws {
    let selector = try QuerySelector(["text": ["$regex": .string(word)]])
    var wrong: [String] = []
    for before in 0..<36 {
      for after in 0..<18 {
        let (head, tail) = (String(repeating: "a", count: before), String(repeating: "z", count: after))
        for (middle, isFound) in [(word, true), ("\(word.dropLast())!", false)] {
          let text = head + middle + tail
          if try selector.matches(["text": .string(text)]) != isFound { wrong.append(text) }
        }
      }
    }
    #expect(wrong == [])
  }
}
