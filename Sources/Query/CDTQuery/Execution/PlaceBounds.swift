import CDTIndex
import CDTJSON
import CDTPlan
import CDTPlatform
import CDTSQLite
import CDTSelector

/// The documents of an index of places by the least possible distances of their cells.
///
/// A heap has quadrants of the curve and documents. The first of it, if it is a document, is the next; if it is a quadrant with few rows,
/// these take its place, and of any other its four parts. So the quadrants around the place are divided first, in every direction, also
/// across the date line and the poles.
final class PlaceBounds: DistanceBounds {
  private enum Part {
    case quadrant(PlaceQuadrant)
    case document(Int64)
  }

  private struct Entry: Comparable {
    let bound: Double
    let part: Part

    static func < (left: Entry, right: Entry) -> Bool { left.bound < right.bound }
    static func == (left: Entry, right: Entry) -> Bool { left.bound == right.bound }
  }

  private let place: GeoPoint
  /// The parts of the fields before the place, with which the keys begin.
  private let prefix: OrderKey
  private let rows: Statement
  /// Returns a row if there are more than a few.
  private let others: Statement
  var candidates: NumberSet?
  private var heap = MinimumHeap<Entry>()
  private(set) var rowsRead = 0

  /// The maximum number of rows of a quadrant that is not divided.
  private static let fewRows = 32

  init(_ access: NearestAccess, from place: GeoPoint, on connection: Connection) throws {
    self.place = place
    var prefix = OrderKey()
    for (field, key) in zip(access.index.definition.fields, access.leading) {
      let ranges = FieldAccess.points([key]).ranges(after: prefix, isDescending: field.isDescending)
      if let lower = ranges.first?.lower { prefix = lower }
    }
    self.prefix = prefix
    let source = "FROM query.\(IndexFile.table(access.index.number)) WHERE key >= ?1 AND key < ?2"
    rows = try connection.statement("SELECT document, key \(source)")
    others = try connection.statement("SELECT 1 \(source) LIMIT 1 OFFSET \(Self.fewRows)")
    heap.insert(Entry(bound: 0, part: .quadrant(.all)))
  }

  func next() throws -> (bound: Double, number: Int64)? {
    while let entry = heap.takeMinimum() {
      switch entry.part {
      case .document(let number): return (entry.bound, number)
      case .quadrant(let quadrant): try expand(quadrant, entry.bound)
      }
    }
    return nil
  }

  private func expand(_ quadrant: PlaceQuadrant, _ bound: Double) throws {
    let ranges = FieldAccess.cells([quadrant.numbers]).ranges(after: prefix, isDescending: false)
    guard let range = ranges.first else { return }
    if !quadrant.isCell {
      defer { others.reset() }
      try range.bind(to: others, at: 1)
      if try others.step() {
        for part in quadrant.parts { insert(.quadrant(part), max(bound, part.leastMetres(from: place))) }
        return
      }
    }
    defer { rows.reset() }
    try range.bind(to: rows, at: 1)
    while try rows.step() {
      let key = JSONBytes(rows.unsafeBytes(1))
      guard let cell = OrderKey.cell(in: key, at: prefix.bytes.count) else {
        throw IndexDamage.unreadable("a key of a place has no cell")
      }
      rowsRead += 1
      let number = rows.int64(0)
      if let candidates, !candidates.contains(number) { continue }
      insert(.document(number), max(bound, PlaceQuadrant(cell: cell).leastMetres(from: place)))
    }
  }

  private func insert(_ part: Part, _ bound: Double) { heap.insert(Entry(bound: bound, part: part)) }
}
