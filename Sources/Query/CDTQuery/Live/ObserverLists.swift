/// The observers that take changes, listed by what can change their results.
///
/// ``violations()`` compares the lists with the observers.
struct ObserverLists {
  private(set) var all: [ObjectIdentifier: LiveObserver] = [:]
  /// Finds observers by what the documents of their selectors have.
  private var index = ObserverIndex()
  /// Finds observers by the number of a document that is one of their rows.
  private var holders: [Int64: Holders] = [:]
  /// The observers whose results other documents can change: queries that are run again after every commit, or include documents.
  private(set) var dependent: [ObjectIdentifier: LiveObserver] = [:]

  var isEmpty: Bool { all.isEmpty }

  /// Lists an observer that has run its query.
  ///
  /// - Parameters:
  ///   - old: The numbers of its former rows.
  ///   - rows: The numbers of its rows.
  ///   - hasNewClause: Whether its clause has changed.
  mutating func insert(
    _ observer: LiveObserver, replacing old: [Int64], with rows: [Int64], hasNewClause: Bool
  ) {
    let key = ObjectIdentifier(observer)
    let isNew = all.updateValue(observer, forKey: key) == nil
    if !observer.isIncremental || observer.hasIncludes { dependent[key] = observer }
    guard observer.isIncremental else { return }
    if hasNewClause { index.remove(observer) }
    if isNew || hasNewClause { index.insert(observer) }
    update(observer, removing: old, adding: rows)
  }

  /// Lists an observer by rows that it has gained, and no longer by those that it has lost.
  mutating func update(_ observer: LiveObserver, removing removed: [Int64], adding added: [Int64]) {
    for number in removed { holders.remove(observer, from: number) }
    for number in added { holders.add(observer, to: number) }
  }

  /// Removes an observer, which may not be listed.
  mutating func remove(_ observer: LiveObserver, rows: [Int64]) {
    let key = ObjectIdentifier(observer)
    guard all.removeValue(forKey: key) != nil else { return }
    guard !all.isEmpty else { return self = ObserverLists() }
    dependent[key] = nil
    index.remove(observer)
    update(observer, removing: rows, adding: [])
  }

  /// The observers of which a document is a row.
  func holding(_ number: Int64) -> [LiveObserver] { holders[number]?.all ?? [] }

  func isHeld(_ number: Int64, by observer: LiveObserver) -> Bool {
    holders[number]?.contains(observer) == true
  }

  /// The observers whose results a change can change, apart from those that include the document. An observer may occur twice.
  func candidates(for change: LiveChange) -> [LiveObserver] {
    var candidates = holding(change.row.number)
    if !change.isDeleted { index.forEachCandidate(for: change.bytes) { candidates.append($0) } }
    return candidates
  }

  /// The differences between the lists and the observers; empty if there are none.
  ///
  /// - Complexity: O(*rows of all observers*). Tests call it.
  func violations() -> [String] {
    var found: [String] = []
    for (key, observer) in all {
      if (dependent[key] != nil) != (!observer.isIncremental || observer.hasIncludes) {
        found.append("the wrong observers are dependent")
      }
      if index.contains(observer) != observer.isIncremental {
        found.append("the index lists the wrong observers")
      }
      for number in observer.rowNumbers where observer.isIncremental && !isHeld(number, by: observer) {
        found.append("no holder of row \(number)")
      }
    }
    for key in dependent.keys where all[key] == nil { found.append("a dependent observer is gone") }
    for (number, holders) in holders {
      for observer in holders.all {
        if all[ObjectIdentifier(observer)] == nil {
          found.append("a holder of \(number) is gone")
        } else if !observer.hasEnded, !observer.rowNumbers.contains(number) {
          found.append("a holder of \(number) has no such row")
        }
      }
    }
    return found
  }
}

/// The observers of which a document is a row; most often one.
private enum Holders {
  case one(LiveObserver)
  case many([ObjectIdentifier: LiveObserver])

  var all: [LiveObserver] {
    switch self {
    case .one(let observer): [observer]
    case .many(let observers): Array(observers.values)
    }
  }

  func contains(_ observer: LiveObserver) -> Bool {
    switch self {
    case .one(let one): one === observer
    case .many(let observers): observers[ObjectIdentifier(observer)] != nil
    }
  }
}

extension [Int64: Holders] {
  fileprivate mutating func add(_ observer: LiveObserver, to number: Int64) {
    switch self[number] {
    case nil: self[number] = .one(observer)
    case .one(let one)?:
      if one === observer { return }
      self[number] = .many([ObjectIdentifier(one): one, ObjectIdentifier(observer): observer])
    case .many(var observers)?:
      // So that the dictionary is not copied.
      self[number] = nil
      observers[ObjectIdentifier(observer)] = observer
      self[number] = .many(observers)
    }
  }

  fileprivate mutating func remove(_ observer: LiveObserver, from number: Int64) {
    switch self[number] {
    case nil: return
    case .one(let one)?:
      if one === observer { self[number] = nil }
    case .many(var observers)?:
      self[number] = nil
      observers[ObjectIdentifier(observer)] = nil
      if !observers.isEmpty { self[number] = .many(observers) }
    }
  }
}
