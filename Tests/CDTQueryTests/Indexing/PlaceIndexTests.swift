import CDTDatastore
import CDTJSON
import CDTRandomDocuments
import CDTTestSupport
import Testing

@testable import CDTIndex
@testable import CDTQuery
@testable import CDTSelector

/// Indexes whose last field is a place.
@Suite struct PlaceIndexTests {
  @Test func `the definition has the type and a name`() throws {
    try withTemporaryDatastore { store in
      #expect(try store.ensureIndexed(["city", "place"], .place) == "place_city_place")
      #expect(try store.ensureIndexed(["place"]) == "place")
      let index = try #require(try store.listIndexes().last)
      #expect(
        index.definition.json.text == #"{"name":"place_city_place","type":"place","fields":["city","place"]}"#
      )
      #expect(index.type == .place)
    }
  }

  @Test(arguments: [
    (["city", "-place"], #"fields[1]: a place has no direction; name "place" without one"#),
    (["_id"], #"fields[0]: "_id" is a string; name a field that has places or vectors"#),
  ]) func `a place that can't be one is refused`(_ fields: [String], _ message: String) {
    let fields = fields.map { $0.hasPrefix("-") ? .descending(String($0.dropFirst())) : SortField($0) }
    let error = #expect(throws: QueryError.self) { try IndexDefinition(fields: fields, .place) }
    #expect(error?.description == message)
  }

  private static let places: [String: JSONValue] = [
    "bern": [7.45, 46.95], "zug": ["type": "Point", "coordinates": [8.52, 47.17]],
    "zurich": ["type": "Point", "coordinates": [8.54, 47.37]], "none": "nowhere", "fiji": [178.4, -18.1],
    "two": [[8.5, 47.4], [-178, -18]],
  ]

  private func withPlaces(_ body: (Datastore) throws -> Void) throws {
    try withTemporaryDatastore { store in
      for (id, place) in Self.places {
        try store.createDocument(
          from: DocumentDraft(id: id, body: ["place": place, "city": .bool(id != "bern")]))
      }
      try store.ensureIndexed(["place"], .place, name: "places")
      try store.ensureIndexed(["city", "place"], .place, name: "cities")
      try body(store)
    }
  }

  private static let zurich: JSONObject = ["type": "Point", "coordinates": [8.54, 47.37]]

  @Test func `the nearest come in order, and explain says so`() throws {
    try withPlaces { store in
      let near: JSONObject = ["place": ["$near": ["$geometry": .object(Self.zurich)]]]
      var query = try Query(near, limit: 3, useIndex: "places")
      #expect(try store.read { try $0.find(query) }.map(\.id) == ["zurich", "two", "zug"])
      let explained = try store.read { try $0.explain(query) }
      #expect(explained.description.contains(#"index "places" in the order of the distances"#))
      query.useIndex = "cities"
      // The city may have any value, so these are only ranges of the index.
      #expect(!(try store.read { try $0.explain(query) }).description.contains("in the order of"))
      #expect(try store.read { try $0.find(query) }.map(\.id) == ["zurich", "two", "zug"])
      query = try Query(near.merging(["city": true]) { $1 }, limit: 9, useIndex: "cities")
      #expect(try store.read { try $0.find(query) }.map(\.id) == ["zurich", "two", "zug", "fiji"])
      let measured = try store.read { try $0.explain(query) }.description
      #expect(measured.contains(#"index "cities": city at one value, in the order of the distances"#))
    }
  }

  @Test func `regions and greatest distances are ranges of cells`() throws {
    try withPlaces { store in
      for (selector, ids) in [
        (["place": ["$geoWithin": ["$box": [[8, 47], [9, 48]]]]], ["two", "zug", "zurich"]),
        (["place": ["$geoWithin": ["$centerSphere": [[179.9, -18], 0.04]]]], ["fiji", "two"]),
        (["place": ["$geoWithin": ["$polygon": [[7, 46], [8, 46], [7.5, 48]]]]], ["bern"]),
      ] as [(JSONObject, [String])] {
        let query = try Query(selector, useIndex: "places")
        #expect(try store.read { try $0.find(query) }.map(\.id) == ids)
        #expect(try store.read { try $0.explain(query) }.description.contains("of cells"))
        #expect(
          try store.read { try $0.find(Query(selector, sort: [.descending("_id")])) }.map(\.id)
            == ids.reversed())
      }
      let within = try Query(
        ["place": ["$near": ["$geometry": .object(Self.zurich), "$maxDistance": 20_000]]],
        sort: ["_id"], useIndex: "places")
      #expect(try store.read { try $0.find(within) }.map(\.id) == ["two", "zurich"])
      #expect(try store.read { try $0.explain(within) }.description.contains("of cells"))
    }
  }

  /// A store with an index and the same store without, and what is asked of both.
  private struct Trial {
    var random: RandomDocuments
    let (indexed, plain): (Datastore, Datastore)

    mutating func write(_ number: Int) throws {
      let id = "doc-\(random.number(below: number))"
      let delete = random.chance(15)
      let body: JSONObject = ["place": place(), "city": .int(Int64(random.number(below: 3)))]
      for store in [indexed, plain] {
        guard var known = try? store.document(withID: id), !known.isDeleted else {
          if !delete { try store.createDocument(from: DocumentDraft(id: id, body: body)) }
          continue
        }
        known.body = body
        if delete { try store.deleteDocument(from: known) } else { try store.updateDocument(from: known) }
      }
    }

    mutating func place() -> JSONValue {
      switch random.number(below: 10) {
      case 0: random.nearbyValue()
      case 1: .array((0..<random.number(below: 4)).map { _ in coordinates() })
      case 2...4: ["type": "Point", "coordinates": coordinates()]
      default: coordinates()
      }
    }

    /// Clusters, of which places are often the same, at the date line and the poles too.
    mutating func coordinates() -> JSONValue {
      let center = random.pick([(8.54, 47.37), (180, 0), (-180, 10), (30, 90), (0, -90), (-71, 42)])
      let away = random.pick([0, 1e-6, 1e-5, 0.001, 0.1, 5])
      let (east, north) = (
        Double(random.number(below: 5) - 2) * away, Double(random.number(below: 5) - 2) * away
      )
      let longitude = center.0 + east
      return [
        .double(longitude > 180 ? longitude - 360 : longitude < -180 ? longitude + 360 : longitude),
        .double(min(90, max(-90, center.1 + north))),
      ]
    }

    mutating func query() throws -> Query {
      var selector = JSONObject()
      if random.chance(70) {
        var near: JSONObject = ["$geometry": ["type": "Point", "coordinates": coordinates()]]
        if random.chance(40) { near["$maxDistance"] = random.pick([0, 1, 300, 50_000, 3e6, 2e7, 1e9]) }
        if random.chance(15) { near["$minDistance"] = random.pick([0, 1, 1_000]) }
        selector["place"] = ["$near": .object(near)]
      } else {
        let region: JSONObject =
          random.chance(50)
          ? ["$centerSphere": [coordinates(), random.pick([0, 1e-6, 0.01, 1, 3, 4])]]
          : ["$polygon": [coordinates(), coordinates(), coordinates()]]
        selector["place"] = ["$geoWithin": .object(region)]
      }
      if random.chance(50) { selector["city"] = .int(Int64(random.number(below: 3))) }
      return try Query(
        selector, skip: random.chance(20) ? random.number(below: 10) : 0,
        limit: random.chance(80) ? 1 + random.number(below: 30) : nil,
        sort: random.chance(20) ? ["city", "_id"] : [])
    }

    mutating func compare(_ query: Query) throws {
      var query = query
      query.useIndex = random.pick([nil, "places", "cities", "some"])
      var asked = query
      asked.useIndex = nil
      let expected = try plain.read { try $0.find(asked) }.map(\.id)
      let found = try indexed.read { try $0.find(query) }.map(\.id)
      #expect(found == expected, "\(query)")
      guard let limit = query.limit, expected.count == limit else { return }
      let bookmarks = try (plain.page(asked).bookmark, indexed.page(query).bookmark)
      (asked.bookmark, query.bookmark) = (bookmarks.0, bookmarks.1)
      (asked.skip, query.skip) = (0, 0)
      #expect(
        try indexed.page(query).documents.map(\.id) == plain.page(asked).documents.map(\.id), "\(query)")
    }
  }

  @Test(arguments: 0..<12) func `the answers are those without an index`(round: UInt64) throws {
    try withTemporaryDatastore { indexed in
      try withTemporaryDatastore { plain in
        var trial = Trial(
          random: RandomDocuments(seed: testSeed(9_300 + round)), indexed: indexed, plain: plain)
        let count = round % 4 == 0 ? 1_000 : 200
        try indexed.ensureIndexed(["place"], .place, name: "places")
        for _ in 0..<count { try trial.write(count) }
        try indexed.ensureIndexed(["city", "place"], .place, name: "cities")
        try indexed.ensureIndexed(
          ["place"], IndexOptions(where: ["city": ["$gt": 0]], place: true), name: "some")
        for _ in 0..<60 {
          for _ in 0..<4 { try trial.write(count) }
          try trial.compare(trial.query())
        }
        #expect(try indexed.check().indexes.isEmpty)
      }
    }
  }

  @Test func `the nearest of many are found in the order of the distances`() throws {
    try withTemporaryDatastore { store in
      try store.write { transaction in
        for number in 0..<3_000 {
          let place: JSONValue = [.int(Int64(number % 360 - 180)), .int(Int64(number % 180 - 90))]
          try transaction.createDocument(
            from: DocumentDraft(body: ["place": place, "city": .int(Int64(number % 3))]))
        }
      }
      try store.ensureIndexed(["place"], .place, name: "places")
      try store.ensureIndexed(["city"])
      let near: JSONObject = [
        "place": ["$near": ["$geometry": ["type": "Point", "coordinates": [8, 47]]]], "city": 1,
      ]
      let used = try store.explain(Query(near, limit: 10)).considered.first(where: \.isUsed)
      #expect(used?.definition.name == "places")
    }
  }
}
