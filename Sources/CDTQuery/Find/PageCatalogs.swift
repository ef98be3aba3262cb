import Synchronization

/// By which state of the indexes the pages of a query without an order are planned.
///
/// Such pages lie in the order that the plan gives: first what is in the index, then the documents above its watermark.
/// Between two pages the indexes may catch up, which moves documents from one part to the other though none has changed.
/// So the later pages take the catalog that the first one had, with its watermarks and figures, for as long as nothing is
/// written.
final class PageCatalogs: Sendable {
  private struct Firsts {
    /// The newest sequence of any document when they were asked for. Once more is written, they don't matter.
    var lastSequence: Int64 = 0
    /// By the hash of the query. Should two have the same one, either may be planned by the other's catalog, which is as
    /// right for each page: any that the file has gone on from is.
    var catalogs: [Int: IndexCatalog] = [:]
    /// The hashes, that of the first page that came first in front.
    var order: [Int] = []

    /// Forgets every query, but keeps the memory: where there is a writer, that is done a thousand times a second.
    mutating func begin(_ lastSequence: Int64) {
      self.lastSequence = lastSequence
      catalogs.removeAll(keepingCapacity: true)
      order.removeAll(keepingCapacity: true)
    }
  }

  /// How many queries are remembered, the last ones.
  private static let limit = 100

  private let firsts = Mutex(Firsts())
  /// Whether any query is remembered, so that most need not ask further.
  private let isInUse = Atomic(false)

  /// The catalog to plan a query by.
  func catalog(for query: Query, _ snapshot: QueryReader.Snapshot) -> IndexCatalog {
    let current = snapshot.catalog
    guard query.sort.isEmpty, query.skip > 0 || query.limit > 0 else { return current }
    let hasTail = current.hasTail(upTo: snapshot.lastSequence)
    guard hasTail || isInUse.load(ordering: .relaxed) else { return current }
    let key = Self.hash(query)
    return firsts.withLock { firsts in
      if firsts.lastSequence != snapshot.lastSequence {
        firsts.begin(snapshot.lastSequence)
        isInUse.store(hasTail, ordering: .relaxed)
        if !hasTail { return current }
      } else if query.skip > 0, let catalog = firsts.catalogs[key]?.asEarlier(than: current) {
        return catalog
      }
      // A first page, also one that is asked for again.
      if firsts.catalogs.updateValue(current, forKey: key) == nil { firsts.order.append(key) }
      if firsts.order.count > Self.limit { firsts.catalogs[firsts.order.removeFirst()] = nil }
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
  fileprivate func hasTail(upTo lastSequence: Int64) -> Bool {
    lowestWatermark.map { $0 < lastSequence } ?? false
  }

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
