import Glibc
import Synchronization

/// Readers that are not in use, handed to one user at a time.
///
/// What is pooled is the caller's: a connection, or something around one that was made ready to run queries.
///
/// Every query takes a reader and gives it back, so no lock is taken: with more threads than processors, one whose holder
/// has lost its processor makes all others wait, and a queue that has once formed goes on. A reader has a place with a
/// state of its own, and a thread comes back to its own place first, as much of what a reader has met is still near its
/// processor.
package final class ConnectionPool<Reader: AnyObject & Sendable>: Sendable {
  /// A reader of one's own until it is handed back.
  package struct Lease: Sendable {
    package let reader: Reader
    fileprivate let generation: Int
    /// Where it is kept; `nil` where there were more users than places.
    fileprivate let place: PoolPlace?
  }

  private let places = PoolPlaces()
  private let open: @Sendable () throws -> Reader
  private let shut: @Sendable (Reader) -> Void

  /// - Parameter first: A reader that is there already.
  package init(
    first: Reader? = nil, open: @escaping @Sendable () throws -> Reader,
    shut: @escaping @Sendable (Reader) -> Void
  ) {
    self.open = open
    self.shut = shut
    if let first, let place = places.takeEmpty() { _ = places.giveBack(first, to: place, generation: 0) }
  }

  /// An idle reader, or a new one; ``checkIn(_:)`` must follow.
  package func checkOut() throws -> Lease {
    while let place = places.takeIdle() {
      let (reader, generation) = place.reader()
      if generation == places.generation, let reader = reader as? Reader {
        return Lease(reader: reader, generation: generation, place: place)
      }
      empty(place)
    }
    let place = places.takeEmpty()
    do {
      // Taken before, as what a reader opens may be out of date when it is there.
      let generation = places.generation
      return Lease(reader: try open(), generation: generation, place: place)
    } catch {
      place?.empty()
      throw error
    }
  }

  package func checkIn(_ lease: Lease) {
    guard let place = lease.place else { return shut(lease.reader) }
    guard isCurrent(lease), places.giveBack(lease.reader, to: place, generation: lease.generation) else {
      place.empty()
      return shut(lease.reader)
    }
    // Whoever has renewed the pool meanwhile may have passed the place before.
    if !isCurrent(lease), places.take(place) { empty(place) }
    while let unneeded = places.takeUnneeded() { empty(unneeded) }
  }

  /// Whether neither ``renew()`` nor ``close()`` has come since the reader was handed out.
  package func isCurrent(_ lease: Lease) -> Bool {
    lease.generation == places.generation && lease.generation != PoolPlaces.closed
  }

  /// Runs `body` with a reader.
  package func withReader<R>(_ body: (Reader) throws -> R) throws -> R {
    let lease = try checkOut()
    defer { checkIn(lease) }
    return try body(lease.reader)
  }

  /// Closes the idle readers now and the others when they come back, as what they have open is out of date.
  package func renew() {
    places.beginGeneration()
    while let place = places.takeOutdated() { empty(place) }
  }

  /// Closes the idle readers now, and from now on every reader that comes back.
  package func close() {
    places.close()
    renew()
  }

  /// Closes the reader of a place that was taken.
  private func empty(_ place: PoolPlace) {
    let reader = place.reader().reader as? Reader
    place.empty()
    if let reader { shut(reader) }
  }
}

/// The places of a pool. They know nothing of the readers' type: a query would cost more if this were generic, as the pool
/// is not made for each type of reader.
private final class PoolPlaces: Sendable {
  /// How many readers are kept open while nobody uses them, a power of two: each has a place here.
  private static let keptCount = 8
  /// How many users more may have a place at a time. The readers of others are opened for one use.
  private static let surplusCount = 56
  /// The generation of a closed pool.
  static let closed = -1

  private let kept = (0..<PoolPlaces.keptCount).map { _ in PoolPlace(isKept: true) }
  private let surplus = (0..<PoolPlaces.surplusCount).map { _ in PoolPlace(isKept: false) }
  /// How many of the surplus are idle. Nearly always none, and then nobody writes here.
  private let idleSurplus = Atomic(0)
  /// Readers of an earlier generation are closed when they come back.
  private let current = Atomic(0)

  var generation: Int { current.load(ordering: .sequentiallyConsistent) }

  /// Takes a place whose reader is idle, this thread's own before others.
  func takeIdle() -> PoolPlace? { takeKept(.idle) ?? takeIdleSurplus() }

  /// Takes a place without a reader.
  func takeEmpty() -> PoolPlace? { takeKept(.empty) ?? surplus.first { $0.take(.empty) } }

  private func takeKept(_ state: PoolPlace.State) -> PoolPlace? {
    // Threads are some pages apart.
    let first = Int(bitPattern: UInt(pthread_self()) >> 12 &* 0x9E37_79B9_7F4A_7C15 >> 32)
    for distance in 0..<Self.keptCount {
      let place = kept[(first &+ distance) & (Self.keptCount - 1)]
      if place.take(state) { return place }
    }
    return nil
  }

  private func takeIdleSurplus() -> PoolPlace? {
    guard idleSurplus.load(ordering: .relaxed) > 0 else { return nil }
    return surplus.first { take($0) }
  }

  /// Takes a place, if its reader is idle.
  func take(_ place: PoolPlace) -> Bool {
    guard place.take(.idle) else { return false }
    if !place.isKept { idleSurplus.wrappingSubtract(1, ordering: .relaxed) }
    return true
  }

  /// Takes a place whose reader is idle and of an earlier generation.
  func takeOutdated() -> PoolPlace? {
    for place in kept + surplus where take(place) {
      let (reader, generation) = place.reader()
      guard let reader, generation == self.generation, giveBack(reader, to: place, generation: generation)
      else { return place }
    }
    return nil
  }

  /// Takes a place with an idle reader that need not be kept any more, as others are idle that are.
  func takeUnneeded() -> PoolPlace? {
    guard idleSurplus.load(ordering: .relaxed) > 0, kept.count(where: \.isIdle) > 1 else { return nil }
    return takeIdleSurplus()
  }

  /// Leaves a reader in a place that was taken.
  ///
  /// - Returns: Whether it is wanted: of the surplus, only while all that are kept are in use.
  func giveBack(_ reader: any AnyObject & Sendable, to place: PoolPlace, generation: Int) -> Bool {
    if !place.isKept {
      if kept.contains(where: \.isIdle) { return false }
      idleSurplus.wrappingAdd(1, ordering: .relaxed)
    }
    place.giveBack(reader, generation: generation)
    return true
  }

  func beginGeneration() {
    var known = generation
    while known != Self.closed {
      let (done, found) = current.compareExchange(
        expected: known, desired: known + 1, ordering: .sequentiallyConsistent)
      if done { return }
      known = found
    }
  }

  func close() {
    current.store(Self.closed, ordering: .sequentiallyConsistent)
  }
}

/// Where one reader is kept.
private final class PoolPlace: @unchecked Sendable {
  // Sendable by its state: `held` belongs to whoever has turned that to `taken`.

  enum State: UInt8 {
    case empty, idle, taken
  }

  /// Whether a reader is kept here while nobody uses it.
  let isKept: Bool
  private let state = Atomic(State.empty.rawValue)
  private var held: (reader: (any AnyObject & Sendable)?, generation: Int) = (nil, 0)

  init(isKept: Bool) {
    self.isKept = isKept
  }

  var isIdle: Bool { state.load(ordering: .relaxed) == State.idle.rawValue }

  /// Takes the place, if it is in a state.
  func take(_ wanted: State) -> Bool {
    guard state.load(ordering: .relaxed) == wanted.rawValue else { return false }
    return state.compareExchange(
      expected: wanted.rawValue, desired: State.taken.rawValue, ordering: .sequentiallyConsistent
    ).exchanged
  }

  /// What is kept here. The place has to be taken.
  func reader() -> (reader: (any AnyObject & Sendable)?, generation: Int) { held }

  /// Leaves a reader here. The place has to be taken, and no longer is.
  func giveBack(_ reader: any AnyObject & Sendable, generation: Int) {
    held = (reader, generation)
    state.store(State.idle.rawValue, ordering: .sequentiallyConsistent)
  }

  /// Leaves nothing here. The place has to be taken, and no longer is.
  func empty() {
    held = (nil, 0)
    state.store(State.empty.rawValue, ordering: .sequentiallyConsistent)
  }
}
