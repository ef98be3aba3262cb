import CDTPlan
import CDTPlatform
import CDTSQLite

/// The documents of an index of vectors in the order of the bounds of their distances.
///
/// A pass over the index keeps a limited number of documents: those with the least bounds that no pass before has kept. If they are not
/// enough, the next pass keeps twice as many.
final class VectorBounds: DistanceBounds {
  private struct Found: Comparable {
    let bound: Double
    let number: Int64

    static func < (left: Found, right: Found) -> Bool {
      left.bound == right.bound ? left.number < right.number : left.bound < right.bound
    }
  }

  private let probe: VectorProbe
  private let index: IndexCatalog.Entry
  private let connection: Connection
  var candidates: NumberSet?
  private let end: Found
  /// The number of documents that the next pass keeps.
  private var kept: Int
  /// The documents of the last pass in descending order.
  private var found: [Found] = []
  private var last: Found?
  private var isComplete = false
  private(set) var rowsRead = 0

  private static let minimumKept = 1_000
  private static let maximumKept = 64_000

  /// - Parameters:
  ///   - maximum: The greatest distance.
  ///   - wanted: The number of first results needed.
  init(
    _ probe: VectorProbe, in index: IndexCatalog.Entry, upTo maximum: Double?, wanted: Int,
    on connection: Connection
  ) {
    (self.probe, self.index, self.connection) = (probe, index, connection)
    end = Found(bound: maximum ?? .greatestFiniteMagnitude, number: .max)
    // Some documents with such small bounds are not results.
    kept = max(Self.minimumKept, min(Self.maximumKept, wanted) * 4)
  }

  func next() throws -> (bound: Double, number: Int64)? {
    if found.isEmpty, !isComplete { try pass() }
    guard let next = found.popLast() else { return nil }
    last = next
    return (next.bound, next.number)
  }

  private func pass() throws {
    var end = end
    try forEachRow { row, key in
      try probe.forEachBound(in: row, key: key) { number, bound in
        if let candidates, !candidates.contains(number) { return }
        rowsRead += 1
        guard bound <= end.bound else { return }
        let new = Found(bound: bound, number: number)
        guard new < end, last.map({ $0 < new }) ?? true else { return }
        found.append(new)
        guard found.count == 2 * kept else { return }
        found.sort()
        found.removeSubrange(kept...)
        end = found[kept - 1]
      }
    }
    found.sort(by: >)
    if found.count < kept { isComplete = true }
    found.removeFirst(max(0, found.count - kept))
    kept = min(2 * kept, 4 * Self.maximumKept)
  }

  /// Calls `body` with each row of the index that may have a candidate, and its key.
  private func forEachRow(_ body: (UnsafeRawBufferPointer, Int64) throws -> Void) throws {
    let rows = "SELECT key, entries FROM query.\(VectorTable.name(index.number))"
    let statement = try connection.statement(
      candidates == nil ? rows : "\(rows) WHERE key >= ?1 AND key < ?2")
    defer { statement.reset() }
    func step() throws {
      while try statement.step() { try body(statement.unsafeBytes(1), statement.int64(0)) }
    }
    guard let candidates else { return try step() }
    for keys in probe.keys(of: candidates) {
      statement.reset()
      try statement.bind(keys.lowerBound, at: 1)
      try statement.bind(keys.upperBound, at: 2)
      try step()
    }
  }
}
