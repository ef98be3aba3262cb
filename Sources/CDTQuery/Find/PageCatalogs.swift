import Synchronization

/// By which state of the indexes the pages of a query without an order are planned.
///
/// Such pages lie in the order that the plan gives: first what is in the index, then the documents above its watermark.
/// Between two pages the indexes may catch up, which moves documents from one part to the other though none has changed.
/// So the later pages take the catalog that the first one had, with its watermarks and figures, for as long as nothing is
/// written.
///
/// The queries are spread over several locks, so that readers at work seldom wait for each other.
final class PageCatalogs: Sendable {
  private struct Firsts {
    /// The newest sequence of any document when they were asked for. Once more is written, they don't matter.
    var lastSequence: Int64 = 0
    /// By the hash of the query. Should two have the same one, either may be planned by the other's catalog, which is as
    /// right for each page: any that the file has gone on from is.
    var catalogs: [(query: Int, catalog: IndexCatalog)] = []

    func catalog(for query: Int) -> IndexCatalog? {
      catalogs.first { $0.query == query }?.catalog
    }

    mutating func set(_ catalog: IndexCatalog, for query: Int) {
      if let place = catalogs.firstIndex(where: { $0.query == query }) {
        catalogs[place].catalog = catalog
      } else {
        if catalogs.count == PageCatalogs.limit { catalogs.removeFirst() }
        catalogs.append((query, catalog))
      }
    }
  }

  private final class Part: Sendable {
    let firsts = Mutex(Firsts())
  }

  /// How many queries are remembered in each part, the last ones.
  private static let limit = 8

  private let parts = (0..<16).map { _ in Part() }
  /// The newest sequence with which any query was remembered, so that most need not ask further.
  private let newest = Atomic<Int64>(-1)

  /// The catalog to plan a query by.
  func catalog(for query: Query, _ snapshot: QueryReader.Snapshot) -> IndexCatalog {
    let current = snapshot.catalog
    guard query.sort.isEmpty, query.skip > 0 || query.limit > 0 else { return current }
    let hasTail = current.hasTail(upTo: snapshot.lastSequence)
    let newest = newest.load(ordering: .relaxed)
    guard hasTail || newest >= snapshot.lastSequence else { return current }
    if newest < snapshot.lastSequence { self.newest.max(snapshot.lastSequence, ordering: .relaxed) }
    let key = Self.hash(query)
    return parts[key & (parts.count - 1)].firsts.withLock { firsts in
      if firsts.lastSequence != snapshot.lastSequence {
        guard hasTail else { return current }
        firsts.lastSequence = snapshot.lastSequence
        // The memory is kept: where there is a writer, this is done a thousand times a second.
        firsts.catalogs.removeAll(keepingCapacity: true)
      } else if query.skip > 0, let catalog = firsts.catalog(for: key)?.asEarlier(than: current) {
        return catalog
      }
      // A first page, also one that is asked for again.
      firsts.set(current, for: key)
      return current
    }
  }

  private static func hash(_ query: Query) -> Int {
    var hasher = Hasher()
    hasher.combine(query.selector.clause)
    hasher.combine(query.useIndex)
    return hasher.finalize()
  }
}

extension IndexCatalog {
  /// This catalog for a file that has gone on to another one, or `nil` when that no longer has all of its rows.
  fileprivate func asEarlier(than current: IndexCatalog) -> IndexCatalog? {
    var earlier: [Entry] = []
    for entry in entries {
      let now = current.entries.first { $0.number == entry.number && $0.definition == entry.definition }
      guard let now, now.watermark >= entry.watermark else { return nil }
      earlier.append(now.watermark > entry.watermark ? entry.beforeCatchingUp() : entry)
    }
    return IndexCatalog(entries: earlier)
  }
}
