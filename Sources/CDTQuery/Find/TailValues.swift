import JSON
import SQLite

/// The documents above the indexes' watermarks by the values in them, as one reader sees them.
///
/// What is not in an index yet is put to the matcher, a document at a time. A selector that asks for a string or a number
/// need not be put to those that do not hold it, and the others are found here by its hash; so the tail can be long before
/// it costs such a query anything. It is only ever asked which documents may match: the matcher decides.
///
/// Each reader has its own, and brings it up to its snapshot when a query asks.
final class TailValues {
  /// A document, and one of the hashes in it.
  private struct Entry {
    let hash: UInt32
    let document: Int32
    /// The entry before it in its bucket, or -1.
    let next: Int32
  }

  /// The documents above this sequence and up to that one are here.
  private var base: Int64 = 0
  private var last: Int64 = 0
  private var isKnown = false

  /// The sequences in order; 0 for one whose document has been written again.
  private var sequences: [Int64] = []
  /// The places of the documents, by number.
  private var places: [Int64: Int32] = [:]
  /// How many sequences are not 0.
  private var count = 0
  /// The places of documents that may hold anything.
  private var others: [Int32] = []
  private var entries: [Entry] = []
  /// The last entry of each bucket, or -1.
  private var buckets: [Int32] = []

  /// How often it was asked while very many documents were yet to be read.
  private var timesAsked = 0

  /// How long a tail is looked into. When they are longer, indexes catch up.
  private static let longest: Int64 = 12_000
  /// How many values of a document are noted; one with more may hold anything.
  private static let mostValues = 64
  /// How many documents are read at once for the first query that asks. To read one costs what putting it to three queries
  /// does, so for more of them it has to be the third.
  private static let fewDocuments: Int64 = 100
  private static let timesToAsk = 3

  /// Follows the reader into a snapshot.
  func begin(_ written: SnapshotFollower.Written) {
    if case .unknown = written { isKnown = false }
  }

  /// The sequences of the documents that may hold one of the values, in order.
  ///
  /// - Parameters:
  ///   - floor: The watermark above which documents are looked for.
  ///   - lowest: The lowest watermark of any index.
  ///   - newest: The newest sequence in the connection's snapshot.
  /// - Returns: `nil` where looking would not help.
  func candidates(
    for values: RequiredValues, above floor: Int64, lowest: Int64, upTo newest: Int64,
    on connection: Connection
  ) throws -> [Int64]? {
    guard lowest <= floor, newest - lowest <= Self.longest else { return nil }
    // When the indexes have caught up, or most of what is here has been written again, the rest is read anew.
    if !isKnown || lowest != base || sequences.count > 2 * count + 1_000 { begin(above: lowest) }
    if newest > last {
      timesAsked += 1
      guard newest - last <= Self.fewDocuments || timesAsked >= Self.timesToAsk else { return nil }
      timesAsked = 0
      try read(upTo: newest, on: connection)
    }
    guard let found = places(holding: values.hashes) else { return nil }
    return found.map { sequences[Int($0)] }.filter { $0 > floor }
  }

  /// The places of the documents that hold one of the values, in order and once; `nil` when they are a good part of all.
  private func places(holding hashes: [UInt32]) -> [Int32]? {
    let most = max(8, count / 4)
    var found = others
    for hash in hashes {
      var next = buckets[bucket(of: hash)]
      while next >= 0, found.count <= most {
        let entry = entries[Int(next)]
        if entry.hash == hash, sequences[Int(entry.document)] != 0 { found.append(entry.document) }
        next = entry.next
      }
    }
    if found.count > most { return nil }
    guard found.count > 1 else { return found }
    found.sort()
    var unique = [found[0]]
    for place in found where place != unique[unique.count - 1] { unique.append(place) }
    return unique
  }

  // MARK: Taking in

  private func begin(above lowest: Int64) {
    (base, last, count) = (lowest, lowest, 0)
    sequences.removeAll(keepingCapacity: true)
    places.removeAll(keepingCapacity: true)
    others.removeAll()
    entries.removeAll(keepingCapacity: true)
    buckets = Array(repeating: -1, count: 256)
    isKnown = true
  }

  private func read(upTo newest: Int64, on connection: Connection) throws {
    do {
      let statement = try connection.statement(
        "SELECT sequence, number, deleted, body FROM main.documents WHERE sequence > ?1")
      defer { statement.reset() }
      try statement.bind(last, at: 1)
      while try statement.step() {
        let isDeleted = statement.int64(2) != 0
        statement.withBytes(3) { body in
          take(
            JSONBytes(body), sequence: statement.int64(0), number: statement.int64(1), isDeleted: isDeleted)
        }
      }
      last = newest
    } catch {
      isKnown = false
      throw error
    }
  }

  private func take(_ body: JSONBytes, sequence: Int64, number: Int64, isDeleted: Bool) {
    if let place = places.removeValue(forKey: number) {
      sequences[Int(place)] = 0
      count -= 1
    }
    if isDeleted { return }
    let place = Int32(truncatingIfNeeded: sequences.count)
    sequences.append(sequence)
    places[number] = place
    count += 1
    let first = entries.count
    var isNoted = ValueHash.forEach(in: body) { hash in
      if entries.count - first < Self.mostValues { add(hash, place) }
    }
    isNoted = isNoted && entries.count - first < Self.mostValues
    if !isNoted { others.append(place) }
  }

  private func add(_ hash: UInt32, _ document: Int32) {
    if entries.count == buckets.count { makeRoom() }
    let bucket = bucket(of: hash)
    // Often a document has a value several times.
    let before = buckets[bucket]
    if before >= 0, entries[Int(before)].hash == hash, entries[Int(before)].document == document { return }
    buckets[bucket] = Int32(truncatingIfNeeded: entries.count)
    entries.append(Entry(hash: hash, document: document, next: before))
  }

  private func makeRoom() {
    buckets = Array(repeating: -1, count: 2 * buckets.count)
    for (position, entry) in entries.enumerated() {
      let bucket = bucket(of: entry.hash)
      entries[position] = Entry(hash: entry.hash, document: entry.document, next: buckets[bucket])
      buckets[bucket] = Int32(truncatingIfNeeded: position)
    }
  }

  private func bucket(of hash: UInt32) -> Int { Int(hash) & (buckets.count - 1) }
}
