import CDTDatastore
import CDTJSON
import CDTQuery

/// Decision 44: the nearest of many places, and those in a box, beside an R*Tree of SQLite's that is used by hand.
struct FindingPlaces {
  private let scratch: Scratch
  private let documents: Int

  private static let wanted = 10
  private static let rounds = 300
  /// The number of documents in a transaction.
  private static let batch = 10_000
  /// The unit of the R*Tree's integers, in degrees.
  private static let unit = 1e-6

  init(_ scratch: Scratch, documents: Int) {
    self.scratch = scratch
    self.documents = documents
  }

  private struct Place {
    /// In millionths of degrees.
    let east, north: Int
    var json: JSONValue { [.double(Double(east) * unit), .double(Double(north) * unit)] }
  }

  /// Between 60° south and 60° north.
  private static func places(_ count: Int, seed: UInt64) -> [Place] {
    var random = LCG(seed: seed)
    return (0..<count).map { _ in
      Place(east: random.below(360_000_000) - 180_000_000, north: random.below(120_000_000) - 60_000_000)
    }
  }

  private static func body(_ place: Place, _ number: Int) -> JSONObject {
    ["place": place.json, "name": .string("The place number \(number)")]
  }

  /// Half the side of a square that has so many places, in millionths of degrees.
  private func reach(of count: Int) -> Int {
    Int((360e6 * 120e6 * Double(count) / Double(documents)).squareRoot() / 2)
  }

  func measure() throws -> MarkdownTable {
    let manager = try DatastoreManager(directory: scratch.path)
    let store = try manager.datastore(named: "places")
    defer { try? manager.closeDatastore(named: "places") }
    let file = try ExperimentFile("\(scratch.path)/places.sqlite")
    let places = Self.places(documents, seed: 1)
    try fill(store, file, places)
    try store.ensureIndexed(["place"], .place)
    let tree = try Tree(file)
    // The least of each over the centers would be that of an empty neighborhood, so these are sums of the least of three.
    let centers = Self.places(Self.rounds, seed: 2)
    var table = MarkdownTable(
      "\(Spelling.count(documents)) places, µs", columns: ["", "R*Tree by hand", "ours", "ratio"])
    let side = reach(of: 100)
    let rows: [(String, (Place) throws -> Int, (Place) throws -> Int)] = [
      (
        "nearest \(Self.wanted)", { tree.nearest(Self.wanted, to: $0, from: reach(of: 3 * Self.wanted)) },
        { try ours(nearest: $0, in: store) }
      ),
      ("a box with some 100", { tree.count(around: $0, side) }, { try ours(around: $0, side, in: store) }),
    ]
    for (name, theirs, ours) in rows {
      var sums = [0.0, 0.0]
      for center in centers {
        var least = [Double.infinity, .infinity]
        var found = [0, 0]
        for _ in 0..<3 {
          for (number, run) in [theirs, ours].enumerated() {
            let start = Clock.thread.now
            found[number] = try run(center)
            least[number] = min(least[number], Double(Clock.thread.now - start) / 1e3)
          }
        }
        guard found[0] == found[1] else {
          throw BenchError("\(name): \(found[0]) places by hand, and \(found[1])")
        }
        for number in 0..<2 { sums[number] += least[number] / Double(centers.count) }
      }
      table.append(
        [name, Spelling.number(sums[0]), Spelling.number(sums[1]), Spelling.number(sums[1] / sums[0])])
    }
    return table
  }

  private func fill(_ store: Datastore, _ file: ExperimentFile, _ places: [Place]) throws {
    try file.execute(
      """
      CREATE TABLE documents (number INTEGER PRIMARY KEY, text NOT NULL);
      CREATE VIRTUAL TABLE tree USING rtree_i32(number, west, east, south, north);
      BEGIN
      """)
    let tree = try file.statement("INSERT INTO tree VALUES (?1, ?2, ?2, ?3, ?3)")
    let text = try file.statement(
      "INSERT INTO documents VALUES (?1, '{\"place\":[' || ?2 / 1e6 || ',' || ?3 / 1e6 || '],\"name\":\"The place number ' || ?1 || '\"}')"
    )
    for first in stride(from: 0, to: documents, by: Self.batch) {
      try store.write { transaction in
        for number in first..<min(documents, first + Self.batch) {
          let place = places[number]
          try transaction.createDocument(
            from: DocumentDraft(id: "p\(10_000_000 + number)", body: Self.body(place, number)))
          for statement in [tree, text] {
            statement.bind([number, place.east, place.north])
            statement.run()
          }
        }
      }
    }
    try file.execute("COMMIT")
  }

  private func ours(nearest place: Place, in store: Datastore) throws -> Int {
    let query = try Query(
      ["place": ["$near": ["$geometry": ["type": "Point", "coordinates": place.json]]]], limit: Self.wanted)
    return try store.read { try $0.find(query) }.count
  }

  private func ours(around place: Place, _ side: Int, in store: Datastore) throws -> Int {
    let corners = Tree.corners(of: place, side)
    let query = try Query(
      ["place": ["$geoWithin": ["$box": [corners.southWest.json, corners.northEast.json]]]])
    return try store.read { try $0.find(query) }.count
  }

  /// The R*Tree and the documents beside it.
  private struct Tree {
    private let statement: ExperimentStatement

    init(_ file: ExperimentFile) throws {
      statement = try file.statement(
        """
        SELECT t.west, t.south, d.text FROM tree t CROSS JOIN documents d ON d.number = t.number
         WHERE t.west >= ?1 AND t.east <= ?2 AND t.south >= ?3 AND t.north <= ?4
        """)
    }

    static func corners(of place: Place, _ side: Int) -> (southWest: Place, northEast: Place) {
      (
        Place(east: max(-180_000_000, place.east - side), north: max(-90_000_000, place.north - side)),
        Place(east: min(180_000_000, place.east + side), north: min(90_000_000, place.north + side))
      )
    }

    private func forEach(around place: Place, _ side: Int, _ body: (Place) -> Void) {
      let corners = Self.corners(of: place, side)
      statement.bind(
        [corners.southWest.east, corners.northEast.east, corners.southWest.north, corners.northEast.north])
      while statement.step() {
        guard statement.size(2) > 0 else { continue }
        body(Place(east: statement.number(0), north: statement.number(1)))
      }
      statement.reset()
    }

    func count(around place: Place, _ side: Int) -> Int {
      var count = 0
      forEach(around: place, side) { _ in count += 1 }
      return count
    }

    /// The number of the nearest places: boxes grow until one has enough. It looks neither at the shape of the earth nor over the date
    /// line, in its own favor.
    func nearest(_ wanted: Int, to place: Place, from side: Int) -> Int {
      var side = side
      while true {
        var squares: [Double] = []
        forEach(around: place, side) { found in
          let (east, north) = (Double(found.east - place.east), Double(found.north - place.north))
          squares.append(east * east + north * north)
        }
        squares.sort()
        let near = squares.prefix(wanted).prefix { $0 <= Double(side) * Double(side) }
        if near.count == wanted { return near.count }
        side *= 2
      }
    }
  }
}
