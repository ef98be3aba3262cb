import CDTJSON
import CDTPlan
import CDTPlatform
import CDTSQLite
import CDTSelector

/// Documents of an index in an order in which none is before one with a lesser bound.
protocol DistanceBounds: AnyObject {
  /// The documents to which they are limited; `nil` for all.
  var candidates: NumberSet? { get set }

  /// The number of the next document, and a bound that its distance is not less than; `nil` after the last. A document may come again.
  func next() throws -> (bound: Double, number: Int64)?

  /// The number of rows of the index that were read.
  var rowsRead: Int { get }
}

/// The documents of an index of vectors or places in the order of their distances, and then of their ids.
///
/// Each document whose bound is not greater than the least distance found so far is read, and has the distance that the matcher computes.
final class NearestRows {
  private let near: NearField
  private let bounds: any DistanceBounds
  private let sort: SortOrder
  private let start: OrderKey?
  private let rows: CandidateRows
  private var seen = NumberSet()
  /// The documents with a distance that wait for those that may precede them.
  private var waiting = MinimumHeap<Waiting>()
  private var next: (bound: Double, number: Int64)?
  private var hasBegun = false
  /// The number of documents whose distances were computed.
  private(set) var decided = 0

  private struct Waiting: Comparable {
    let distance: Double
    let key: OrderKey
    let number: Int64

    static func < (left: Waiting, right: Waiting) -> Bool { left.key < right.key }
    static func == (left: Waiting, right: Waiting) -> Bool { left.key == right.key }
  }

  /// - Parameters:
  ///   - start: The key after which the documents begin.
  ///   - completeUpTo: The sequence above which documents are left out.
  init(
    _ near: NearField, _ bounds: any DistanceBounds, by sort: SortOrder, after start: OrderKey?,
    completeUpTo: Int64?, on connection: Connection
  ) throws {
    (self.near, self.bounds, self.sort, self.start) = (near, bounds, sort, start)
    let fresh = completeUpTo == nil ? "" : " AND d.sequence <= ?2"
    let statement = try connection.statement(
      "SELECT \(CandidateRow.columns) FROM main.documents d WHERE d.number = ?1 AND NOT d.deleted\(fresh)")
    if let completeUpTo { try statement.bind(completeUpTo, at: 2) }
    rows = CandidateRows(statement)
  }

  /// Limits the documents. Call it before the first is taken.
  func restrict(to candidates: NumberSet) { bounds.candidates = candidates }

  var rowsRead: Int { bounds.rowsRead }
  var statement: Statement { rows.statement }

  /// The next document, valid until the next call.
  func nextRow() throws -> CandidateRow? {
    if !hasBegun {
      hasBegun = true
      next = try bounds.next()
    }
    while true {
      if let first = waiting.minimum, next.map({ first.distance < $0.bound }) ?? true {
        _ = waiting.takeMinimum()
        return try row(of: first.number)
      }
      guard let candidate = next else { return nil }
      if let maximum = near.condition.maximum, candidate.bound > maximum {
        next = nil
        continue
      }
      try decide(candidate.number)
      next = try bounds.next()
    }
  }

  private func row(of number: Int64) throws -> CandidateRow? {
    statement.reset()
    try statement.bind(number, at: 1)
    return try rows.next() ? CandidateRow(rows) : nil
  }

  private func decide(_ number: Int64) throws {
    guard seen.insert(number), let row = try row(of: number) else { return }
    decided += 1
    let distance = near.distance(of: row.bytes)
    guard let distance, near.condition.accepts(distance) else { return }
    var key = OrderKey()
    sort.write(row.bytes, to: &key)
    if let start, !(start < key) { return }
    waiting.insert(Waiting(distance: distance, key: key, number: number))
  }

  func end() { statement.reset() }
}

extension QueryPlan {
  /// The documents of the source, if they come in the order of their distances.
  func nearest(after start: OrderKey?, on connection: Connection) throws -> NearestRows? {
    guard let access = source.nearest else { return nil }
    return try NearestRows(
      access.near, access.bounds(wanted: lastWanted, on: connection), by: sort, after: start,
      completeUpTo: completeUpTo,
      on: connection)
  }
}

extension NearestAccess {
  /// The bounds that the index gives.
  ///
  /// - Parameter wanted: The number of first results needed, or `nil` for all.
  fileprivate func bounds(wanted: Int?, on connection: Connection) throws -> any DistanceBounds {
    if case .place(let place) = near.condition.distance {
      return try PlaceBounds(self, from: place, on: connection)
    }
    guard let probe = index.definition.probe(near) else {
      throw QueryError.vectorIndexUnused(index.definition)
    }
    return VectorBounds(
      probe, in: index, upTo: near.condition.maximum, wanted: wanted ?? .max, on: connection)
  }
}
