import CDTDatastore
import CDTQuery
import CDTTestSupport
import Testing

/// The examples of `docs/near.md`, each as it stands there.
@Suite(.timeLimit(.usual)) struct NearGuideTests {
  struct Shop: DocumentModel {
    var id: String
    var revision: RevisionID?
    var name: String
    var place: GeoPoint
    var taste: [Float]
  }

  @Test func `models and documents by distance`() async throws {
    try await withTemporaryDatastore { store in
      let place = try #require(GeoPoint(longitude: 8.541, latitude: 47.37))
      try await store.save(Shop(id: "a", name: "Bakery", place: place, taste: [0.2, 0.6]))
      try await store.createDocument(from: DocumentDraft(id: "n", body: ["embedding": [1, 0, 0]]))

      if let here = GeoPoint(longitude: 8.54, latitude: 47.37) {
        let shops = try await store.find(
          Shop.self, where: { $0.name != "Closed" && $0.place.near(here, within: 5_000) }, limit: 10)
        let around = try await store.count(Shop.self) { $0.place.within(metres: 500, of: here) }
        print(shops.map(\.name), around)
      }

      let query = try ModelQuery(Shop.self, where: { $0.taste.near([0.2, 0.7], within: 0.3) }, limit: 10)
        .withDistances()
      for shop in try await store.read({ try $0.find(query) }) {
        print(shop.model.name, shop.distance)
      }

      var nearest = try Query(["embedding": ["$near": ["$vector": [1, 0.2, 0]]]], limit: 10)
      nearest.returnsDistance = true
      for note in try await store.page(nearest).documents {
        print(note.id, note.distance ?? 0)
      }
      let note = try await store.page(nearest).documents.first
      #expect(note?.id == "n" && note?.distance ?? 1 < 0.02)
      #expect(try await store.read { try $0.find(query) }.map(\.id) == ["a"])
    }
  }

  @Test func `the examples of the page are these`() throws {
    try expectExamples(of: "near.md", in: #filePath, atLeast: 4)
  }
}
