import CDTJSON
import CDTPlan

/// Finds the observers whose selector a document may satisfy, without looking at the others.
///
/// An observer is listed under a condition that every matching document satisfies, as an index of documents would use it
/// (``PredicateAccess``): under the values of an equality or `$in`, or under a range. With an `$or` it is listed under a
/// condition of each branch. An observer for which there is no such condition is a candidate for every document.
struct ObserverIndex {
  /// A field, and what its strings are folded by.
  private struct Subject: Hashable {
    let path: FieldPath
    let collation: Collation?

    init(_ condition: FieldCondition) { (path, collation) = (condition.path, condition.access.collation) }

    /// The keys that a document has in an index of the field.
    func keys(in document: DocumentBytes) -> [OrderKey] {
      if let field = path.documentField { return [key(of: document.string(of: field))] }
      let offsets = FieldValues(of: path, in: document.body).offsets
      return offsets.isEmpty ? [.nothing] : offsets.map { OrderKey(document.body, at: $0, by: collation) }
    }

    private func key(of string: UnsafeRawBufferPointer) -> OrderKey {
      var key = OrderKey()
      key.append(string: string)
      return key
    }
  }

  /// An entry of an observer in this index.
  private enum Place {
    case points(Subject, [OrderKey])
    case range(Subject, lower: OrderKey?, upper: OrderKey?)
  }

  /// The observers with a condition on one field.
  private struct Field {
    var points: [OrderKey: [LiveObserver]] = [:]
    var ranges = ObserverRanges()
    var isEmpty: Bool { points.isEmpty && ranges.isEmpty }
  }

  private var fields: [Subject: Field] = [:]
  private var others: [ObjectIdentifier: LiveObserver] = [:]
  private var places: [ObjectIdentifier: [Place]] = [:]

  func contains(_ observer: LiveObserver) -> Bool {
    places[ObjectIdentifier(observer)] != nil || others[ObjectIdentifier(observer)] != nil
  }

  mutating func insert(_ observer: LiveObserver) {
    guard let places = places(for: observer.clause) else {
      others[ObjectIdentifier(observer)] = observer
      return
    }
    self.places[ObjectIdentifier(observer)] = places
    for place in places {
      switch place {
      case .points(let subject, let keys):
        for key in keys { fields[subject, default: Field()].points[key, default: []].append(observer) }
      case .range(let subject, let lower, let upper):
        fields[subject, default: Field()].ranges.insert(lower, upper, observer)
      }
    }
  }

  mutating func remove(_ observer: LiveObserver) {
    others[ObjectIdentifier(observer)] = nil
    for place in places.removeValue(forKey: ObjectIdentifier(observer)) ?? [] {
      switch place {
      case .points(let subject, let keys):
        for key in keys {
          fields[subject]?.points[key]?.removeAll { $0 === observer }
          if fields[subject]?.points[key]?.isEmpty == true { fields[subject]?.points[key] = nil }
        }
        if fields[subject]?.isEmpty == true { fields[subject] = nil }
      case .range(let subject, _, _):
        fields[subject]?.ranges.remove(observer)
        if fields[subject]?.isEmpty == true { fields[subject] = nil }
      }
    }
  }

  /// Calls `body` with each observer whose selector the document may satisfy; with some of them several times.
  func forEachCandidate(for document: DocumentBytes, _ body: (LiveObserver) -> Void) {
    for observer in others.values { body(observer) }
    for (subject, field) in fields {
      let keys = subject.keys(in: document)
      if !field.points.isEmpty {
        for key in keys { field.points[key]?.forEach(body) }
      }
      guard !field.ranges.isEmpty, let least = keys.min(), let greatest = keys.max() else { continue }
      field.ranges.forEachOverlap(from: least, to: greatest, body)
    }
  }

  // MARK: Choosing places

  /// The places of a selector, at which every matching document is looked up; `nil` if there are none.
  private func places(for clause: Clause) -> [Place]? {
    if clause == .never { return [] }
    let conjuncts = clause.conjuncts
    var choices: [[Place]] = []
    var ranges: [Subject: FieldAccess] = [:]
    for condition in FieldCondition.of(conjuncts) where !condition.isForSingleValues && !condition.path.isCell
    {
      let subject = Subject(condition)
      switch condition.access.access {
      case .points(let keys): choices.append([.points(subject, keys)])
      case .range(nil, nil), .ranges: break
      case .range:
        // If the field has several values, each bound may hold for another value: see `forEachOverlap`.
        ranges[subject] =
          ranges[subject]?.intersection(condition.access.access) ?? condition.access.access
      }
    }
    for case (let subject, .range(let lower, let upper)) in ranges {
      choices.append([.range(subject, lower: lower, upper: upper)])
    }
    for case .or(let branches) in conjuncts {
      let places = branches.map { self.places(for: $0) }
      if places.allSatisfy({ $0 != nil }) { choices.append(places.flatMap { $0 ?? [] }) }
    }
    return choices.min { cost(of: $0) < cost(of: $1) }
  }

  /// An estimate of the number of other observers that are candidates, too.
  private func cost(of places: [Place]) -> Int {
    places.reduce(0) { cost, place in
      switch place {
      case .points(let subject, let keys):
        cost + (keys.map { fields[subject]?.points[$0]?.count ?? 0 }.max() ?? 0)
      case .range(let subject, let lower, let upper):
        cost + 1 + (fields[subject]?.ranges.count ?? 0) / (lower != nil && upper != nil ? 16 : 2)
      }
    }
  }
}

/// Ranges of keys, each of an observer.
///
/// They are sorted by their lower bounds in an array that is also a balanced tree: the root of a part is its middle, and
/// each root has the greatest upper bound of its part. New ranges are searched one by one until there are enough to sort
/// again.
struct ObserverRanges {
  private struct Range {
    /// `nil` where there is no bound.
    let lower: OrderKey?
    let upper: OrderKey?
    let observer: LiveObserver

    func overlaps(_ least: OrderKey, _ greatest: OrderKey) -> Bool {
      lower.map { $0 <= greatest } ?? true && upper.map { least < $0 } ?? true
    }
  }

  private var sorted: [Range] = []
  /// The greatest upper bound of the part of which each range is the root.
  private var greatest: [OrderKey?] = []
  private var recent: [Range] = []
  /// The observers that are still listed in `sorted`, and are no longer to be found.
  private var removed: Set<ObjectIdentifier> = []

  var count: Int { sorted.count + recent.count - removed.count }
  var isEmpty: Bool { count <= 0 }

  mutating func insert(_ lower: OrderKey?, _ upper: OrderKey?, _ observer: LiveObserver) {
    recent.append(Range(lower: lower, upper: upper, observer: observer))
    if recent.count > 32 + sorted.count / 16 { sort() }
  }

  mutating func remove(_ observer: LiveObserver) {
    let known = recent.count
    recent.removeAll { $0.observer === observer }
    if recent.count < known { return }
    removed.insert(ObjectIdentifier(observer))
    if removed.count > 32 + sorted.count / 2 { sort() }
  }

  /// Calls `body` with the observers of the ranges that have a part between two keys.
  ///
  /// A document with the values 1 and 9 satisfies `{"$gt": 4, "$lt": 6}`: for each bound it has a value. So a document
  /// with several values is looked up by the least and the greatest of them.
  func forEachOverlap(from least: OrderKey, to greatest: OrderKey, _ body: (LiveObserver) -> Void) {
    for range in recent where range.overlaps(least, greatest) { body(range.observer) }
    visit(0..<sorted.count, least, greatest, body)
  }

  private func visit(
    _ part: Swift.Range<Int>, _ least: OrderKey, _ greatest: OrderKey, _ body: (LiveObserver) -> Void
  ) {
    guard !part.isEmpty else { return }
    let root = part.lowerBound + part.count / 2
    guard self.greatest[root].map({ least < $0 }) ?? true else { return }
    visit(part.lowerBound..<root, least, greatest, body)
    let range = sorted[root]
    guard range.lower.map({ $0 <= greatest }) ?? true else { return }
    if range.overlaps(least, greatest), removed.isEmpty || !removed.contains(ObjectIdentifier(range.observer))
    {
      body(range.observer)
    }
    visit(root + 1..<part.upperBound, least, greatest, body)
  }

  private mutating func sort() {
    sorted.removeAll { removed.contains(ObjectIdentifier($0.observer)) }
    sorted += recent
    (recent, removed) = ([], [])
    sorted.sort { left, right in
      guard let bound = right.lower else { return false }
      return left.lower.map { $0 < bound } ?? true
    }
    greatest = sorted.map(\.upper)
    _ = raise(0..<sorted.count)
  }

  /// Gives each root of a part the greatest upper bound.
  private mutating func raise(_ part: Swift.Range<Int>) -> Int? {
    guard !part.isEmpty else { return nil }
    let root = part.lowerBound + part.count / 2
    for child in [raise(part.lowerBound..<root), raise(root + 1..<part.upperBound)] {
      guard let child, let known = greatest[root] else { continue }
      guard let bound = greatest[child] else {
        greatest[root] = nil
        continue
      }
      if known < bound { greatest[root] = bound }
    }
    return root
  }
}
