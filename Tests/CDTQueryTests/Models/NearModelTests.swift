import CDTDatastore
import CDTJSON
import CDTQuery
import CDTTestSupport
import Testing

/// Conditions on the distances of models, and their results.
@Suite(.timeLimit(.usual)) struct NearModelTests {
  struct Shop: DocumentModel, Equatable {
    var id: String
    var revision: RevisionID?
    var name = ""
    var place: GeoPoint
    var doors: [GeoPoint]?
    var taste: [Double]?
    var short: [Float] = []
    var all: [[Float]]?

    enum CodingKeys: String, CodingKey {
      case id, revision
      case name, place = "loc", doors, taste, short, all
    }
  }

  private static func point(_ longitude: Double, _ latitude: Double) -> GeoPoint {
    guard let point = GeoPoint(longitude: longitude, latitude: latitude) else { preconditionFailure() }
    return point
  }

  private static let here = point(8.54, 47.37)

  private static func randomShops(_ seed: UInt64) -> [Shop] {
    var generator = SeededGenerator(seed: seed)
    func point() -> GeoPoint {
      Self.point(
        .random(in: 8...9, using: &generator), Double(Int.random(in: 94...96, using: &generator)) / 2)
    }
    func vector() -> [Double] { (0..<3).map { _ in Double(Int.random(in: -2...2, using: &generator)) } }
    return (0..<60).map { number in
      var shop = Shop(
        id: "s\(number)", name: number.isMultiple(of: 3) ? "bakery" : "book shop", place: point())
      if Bool.random(using: &generator) {
        shop.doors = (0..<Int.random(in: 0...2, using: &generator)).map { _ in point() }
      }
      if Bool.random(using: &generator) { shop.taste = vector() }
      shop.short = vector().map { Float($0) / 10 }
      if Bool.random(using: &generator) { shop.all = [vector(), vector()].map { $0.map(Float.init) } }
      return shop
    }
  }

  private static func cosine<Number: BinaryFloatingPoint>(_ left: [Number], _ right: [Double]) -> Double? {
    func product(_ left: [Double], _ right: [Double]) -> Double { zip(left, right).map(*).reduce(0, +) }
    let left = left.map { Double("\($0)") ?? 0 }
    let lengths = (product(left, left).squareRoot(), product(right, right).squareRoot())
    return lengths.0 > 0 ? 1 - product(left, right) / (lengths.0 * lengths.1) : nil
  }

  struct Law: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let condition: @Sendable (ModelField<Shop, Shop>) -> QueryCondition<Shop>
    /// The distance of a match; `nil` for another shop.
    let distance: @Sendable (Shop) -> Double?
  }

  private static let vector = [1.0, 0.5, -1]
  static let laws = [
    Law(
      testDescription: "a place", condition: { $0.place.near(here) }, distance: { $0.place.metres(to: here) }),
    Law(
      testDescription: "a place within metres",
      condition: { $0.name == "bakery" && $0.place.near(here, within: 80_000) },
      distance: { shop in
        let metres = shop.place.metres(to: here)
        return shop.name == "bakery" && metres <= 80_000 ? metres : nil
      }),
    Law(
      testDescription: "the nearest of several places", condition: { $0.doors.near(here, within: 50_000) },
      distance: { $0.doors?.map { $0.metres(to: here) }.min().flatMap { $0 <= 50_000 ? $0 : nil } }),
    Law(
      testDescription: "a vector", condition: { $0.taste.near(vector, within: 0.75) },
      distance: { $0.taste.flatMap { cosine($0, vector) }.flatMap { $0 <= 0.75 ? $0 : nil } }),
    Law(
      testDescription: "a vector of floats", condition: { $0.short.near([1, 0.5, -1]) },
      distance: { cosine($0.short, vector) }),
    Law(
      testDescription: "the nearest of several vectors", condition: { $0.all.near([1, 0.5, -1]) },
      distance: { $0.all?.compactMap { cosine($0, vector) }.min() }),
    Law(
      testDescription: "by the product", condition: { $0.taste.near(vector, by: .dot) },
      distance: { $0.taste.map { -zip($0, vector).map(*).reduce(0, +) } }),
  ]

  @Test(arguments: laws) func `the nearest models come first, with their distances`(law: Law) throws {
    try withTemporaryDatastore { store in
      let shops = Self.randomShops(7)
      try store.save(shops)
      let expected = shops.compactMap { shop in law.distance(shop).map { (shop: shop, distance: $0) } }
        .sorted { ($0.distance, $0.shop.id) < ($1.distance, $1.shop.id) }
      try #require(expected.count > 5)
      let query = try ModelQuery(where: { law.condition($0) })
      #expect(try store.find(Shop.self, where: { law.condition($0) }).map(\.id) == expected.map(\.shop.id))
      let found = try store.read { try $0.find(query.withDistances()) }
      #expect(found.map(\.id) == expected.map(\.shop.id))
      #expect(zip(found, expected).allSatisfy { abs($0.distance - $1.distance) < 1e-9 * max(1, $1.distance) })
      #expect(found.map(\.model.place) == expected.map(\.shop.place))
      // What was found can be saved.
      var first = try #require(found.first).model
      first.name = "bank"
      #expect(try store.save(first).name == "bank")
    }
  }

  @Test func `a region is a condition, and leaves the order as it is`() throws {
    try withTemporaryDatastore { store in
      let shops = Self.randomShops(8)
      try store.save(shops)
      // Outside of `#expect`: in its place, Swift 6.3 calls the closure of another.
      func check(
        _ condition: (ModelField<Shop, Shop>) -> QueryCondition<Shop>, _ expected: (Shop) -> Bool
      ) throws {
        let ids = shops.filter(expected).map(\.id)
        #expect(ids.count > 3 && ids.count < shops.count)
        #expect(Set(try store.find(Shop.self, where: condition).map(\.id)) == Set(ids))
      }
      let here = Self.here
      try check({ $0.place.within(metres: 40_000, of: here) }, { $0.place.metres(to: here) <= 40_000 })
      try check({ !$0.place.within(metres: 40_000, of: here) }, { $0.place.metres(to: here) > 40_000 })
      try check(
        { $0.place.within(southWest: Self.point(8.2, 47), northEast: Self.point(8.7, 47.5)) },
        { 8.2...8.7 ~= $0.place.longitude && 47...47.5 ~= $0.place.latitude })
      try check(
        { $0.place.within(polygon: [Self.point(8, 47), Self.point(9, 47), Self.point(9, 48)]) },
        { $0.place.latitude - 47 <= $0.place.longitude - 8 })
      try check(
        { $0.doors.within(metres: 40_000, of: here) },
        { $0.doors?.contains { $0.metres(to: here) <= 40_000 } == true })
    }
  }

  @Test func `live results follow the distances`() async throws {
    try await withTemporaryDatastore { store in
      var far = try await store.save(Shop(id: "far", place: Self.point(9, 47.37)))
      try await store.save(Shop(id: "near", place: Self.point(8.6, 47.37)))
      let query = try ModelQuery(Shop.self, where: { $0.place.near(Self.here) }).withDistances()
      var live = store.live(query).makeAsyncIterator()
      #expect(try await live.next()?.results.map(\.id) == ["near", "far"])
      far.place = Self.here
      try await store.save(far)
      let moved = try #require(try await live.next())
      #expect(moved.results.map(\.id) == ["far", "near"] && moved.results.first?.distance == 0)
      let document = try Query(
        request: [
          "selector": ["loc": ["$near": ["$geometry": JSONValue(encoding: Self.here)]]], "distance": true,
        ])
      var documents = store.live(document).makeAsyncIterator()
      #expect(try await documents.next()?.results.first?.distance == 0)
      far.place = Self.point(8.55, 47.37)
      try await store.save(far, merge: { _, mine in mine })
      let again = try #require(try await documents.next()?.results.first)
      #expect(again.id == "far" && again.distance == far.place.metres(to: Self.here))
      #expect(again.body["name"] == "" && again.isProjected)
    }
  }

  @Test func `a place is encoded as a GeoJSON Point, and decoded from what has a distance`() throws {
    let here = Self.here
    #expect(try JSONValue(encoding: here).text == #"{"type":"Point","coordinates":[8.54,47.37]}"#)
    for text in [
      #"{"coordinates":[8.54,47.37],"type":"Point"}"#, "[8.54,47.37]",
      #"{"type":"Point","coordinates":[8.54,47.37,408]}"#,
    ] {
      #expect(try JSONValue(parsing: text).decode(GeoPoint.self) == here, "\(text)")
    }
    for text in [
      #"{"type":"Polygon","coordinates":[8,47]}"#, #"{"coordinates":[8,47]}"#, "[8]", "[8,47,408]", "[181,0]",
      "[0,91]", "{}", #""8,47""#, #"["8","47"]"#, "null",
    ] {
      #expect(throws: (any Error).self, "\(text)") { try JSONValue(parsing: text).decode(GeoPoint.self) }
    }
    #expect(GeoPoint(longitude: 180, latitude: -90) != nil)
    for (longitude, latitude) in [(180.1, 0), (0, -90.1), (.nan, 0), (0, .infinity)] {
      #expect(GeoPoint(longitude: longitude, latitude: latitude) == nil)
    }
  }

  @Test func `a condition without a distance is refused with the way`() throws {
    func message(_ condition: (ModelField<Tool, Tool>) -> QueryCondition<Tool>) -> String? {
      #expect(throws: QueryError.self) { _ = try ModelQuery(where: condition) }?.description
    }
    let (here, top) = (Self.here, #""$near" stands at the top level of a selector"#)
    #expect(message { !$0.place.near(here) }?.contains(top) == true)
    #expect(message { $0.place.near(here) || $0.id == "a" }?.contains(top) == true)
    #expect(message { $0.place.near(here) && $0.place.near(here) }?.contains("one \"$near\" only") == true)
    #expect(
      message { $0.home.near(here) }
        == "home: the value of a document without the member would be near, but only stored values have a distance; save the "
        + "documents with their value, or use within")
    #expect(message { ($0.place ?? here).near(here) }?.contains("save the documents") == true)
    #expect(message { $0.place.within(metres: -1, of: here) }?.contains("$centerSphere") == true)
    #expect(message { $0.place.within(polygon: [here]) }?.contains("at least three corners") == true)
    #expect(message { $0.place.near(here, within: .nan) }?.contains("$maxDistance") == true)
    let error = #expect(throws: QueryError.self) { try ModelQuery(Tool.self).withDistances() }
    #expect(
      error?.description
        == "distance: a distance needs a \"$near\" in the selector; add one, or leave it out")
  }

  struct Tool: DocumentModel, HasDefaults {
    var id = ""
    var revision: RevisionID?
    var place: GeoPoint?
    var home = NearModelTests.here
    static let defaults = Tool()
  }
}
