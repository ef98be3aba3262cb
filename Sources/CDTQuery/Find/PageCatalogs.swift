import Synchronization

/// By which state of the indexes the pages of a query without an order are planned.
///
/// Such pages lie in the order that the plan gives: first what is in the index, then the documents above its watermark.
/// Between two pages the indexes may catch up, which moves documents from one part to the other though none has changed.
/// So the later pages take the catalog that the first one had, with its watermarks and figures, for as long as nothing is
/// written.
final class PageCatalogs: Sendable {
  private struct Key: Hashable {
    let clause: Clause
    let index: [UInt8]?
  }

  private struct First {
    let lastSequence: Int64
    let catalog: IndexCatalog
  }

  /// How many queries are remembered, the last ones.
  private static let limit = 100

  private let firsts = Mutex<(known: [Key: First], order: [Key])>(([:], []))

  /// The catalog to plan a query by.
  func catalog(for query: Query, _ snapshot: QueryReader.Snapshot) -> IndexCatalog {
    let current = snapshot.catalog
    guard query.sort.isEmpty, query.skip > 0 || query.limit > 0 else { return current }
    return firsts.withLock { firsts in
      let mayChange = current.hasTail(upTo: snapshot.lastSequence)
      guard mayChange || !firsts.known.isEmpty else { return current }
      let key = Key(clause: query.selector.clause, index: query.useIndex.map { Array($0.utf8) })
      if query.skip > 0, let first = firsts.known[key], first.lastSequence == snapshot.lastSequence,
        let catalog = first.catalog.asEarlier(than: current)
      {
        return catalog
      }
      // A first page, also one that is asked for again.
      if firsts.known.removeValue(forKey: key) != nil { firsts.order.removeAll { $0 == key } }
      guard mayChange else { return current }
      firsts.known[key] = First(lastSequence: snapshot.lastSequence, catalog: current)
      firsts.order.append(key)
      if firsts.order.count > Self.limit { firsts.known[firsts.order.removeFirst()] = nil }
      return current
    }
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
