/// The differences between the results of a live query and the previous ones, as positions for a list in a user interface.
///
/// ```swift
/// let removed = difference.removals + difference.moves.map(\.from)    // positions in the previous results
/// let inserted = difference.insertions + difference.moves.map(\.to)   // positions in the new results
/// ```
///
/// To get the new list from the previous one, take away what is at the removed positions, from the last to the first, put
/// in what is at the inserted positions, from the first to the last, and then replace what is at the positions of
/// ``updates``. A collection view takes the positions as they are.
///
/// See <doc:FollowingResults#Differences>.
public struct ResultDifference: Sendable, Hashable {
  /// The move of a result to another place among the others.
  public struct Move: Sendable, Hashable {
    /// The position in the previous results.
    public let from: Int
    /// The position in the new results.
    public let to: Int
  }

  /// The positions in the previous results of those that are gone, ascending.
  public private(set) var removals: [Int] = []
  /// The positions in the new results of those that were not there, ascending.
  public private(set) var insertions: [Int] = []
  /// The results that are at another place among the others, ascending by ``Move/to``.
  public private(set) var moves: [Move] = []
  /// The positions in the new results of those that have changed, also of those that have moved; ascending.
  public private(set) var updates: [Int] = []

  /// Whether nothing differs.
  public var isEmpty: Bool { removals.isEmpty && insertions.isEmpty && moves.isEmpty && updates.isEmpty }
}

extension ResultDifference {
  /// Compares the rows of a query.
  ///
  /// - Parameter comparesRevisions: Whether a new revision with the same fields is an update.
  /// - Returns: The difference, and for each new row the position of the same revision in the old rows.
  /// - Complexity: O(*n* + *d* log *d*), where *d* is the number of rows between the first and the last that differ.
  static func between(
    _ old: [LiveRow], _ new: [LiveRow], comparesRevisions: Bool
  ) -> (difference: ResultDifference, origins: [Int?]) {
    func isShownAlike(_ old: LiveRow, _ new: LiveRow) -> Bool {
      comparesRevisions ? old.isSame(as: new) : old.hasSameFields(as: new)
    }
    let shorter = min(old.count, new.count)
    let start = (0..<shorter).first { !isShownAlike(old[$0], new[$0]) } ?? shorter
    let end =
      (0..<shorter - start).first { !isShownAlike(old[old.count - 1 - $0], new[new.count - 1 - $0]) }
      ?? shorter - start
    var origins: [Int?] = Array(repeating: nil, count: new.count)
    func setOrigin(of position: Int, to origin: Int) {
      if old[origin].isSame(as: new[position]) { origins[position] = origin }
    }
    for position in 0..<start { setOrigin(of: position, to: position) }
    for position in 0..<end { setOrigin(of: new.count - 1 - position, to: old.count - 1 - position) }

    var difference = ResultDifference()
    var before: [Int64: Int] = [:]
    for position in start..<old.count - end { before[old[position].number] = position }
    var kept: [Move] = []
    for position in start..<new.count - end {
      guard let origin = before.removeValue(forKey: new[position].number) else {
        difference.insertions.append(position)
        continue
      }
      kept.append(Move(from: origin, to: position))
      setOrigin(of: position, to: origin)
      if !isShownAlike(old[origin], new[position]) { difference.updates.append(position) }
    }
    difference.removals = before.values.sorted()
    difference.moves = moves(kept)
    return (difference, origins)
  }

  /// The fewest results that have to move: all but a longest run whose previous positions ascend.
  private static func moves(_ kept: [Move]) -> [Move] {
    // The last of the best run of each length, and the one before each in its run.
    var ends: [Int] = []
    var previous: [Int?] = []
    for (number, move) in kept.enumerated() {
      var (low, high) = (0, ends.count)
      while low < high {
        let middle = (low + high) / 2
        if kept[ends[middle]].from < move.from { low = middle + 1 } else { high = middle }
      }
      previous.append(low > 0 ? ends[low - 1] : nil)
      if low == ends.count { ends.append(number) } else { ends[low] = number }
    }
    var stays = Set<Int>()
    var next = ends.last
    while let number = next {
      stays.insert(number)
      next = previous[number]
    }
    return kept.indices.filter { !stays.contains($0) }.map { kept[$0] }
  }
}
