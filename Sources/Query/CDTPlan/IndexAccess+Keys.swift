package import CDTJSON

/// The order in which the rows of an index are read for an order of results.
///
/// The keys have the order of the fields of the index, then of the ids. Where the results have another order of the ids, as with a sort by
/// the first of two fields, or one that descends in an ascending index, rows with the same values are sorted by their ids.
package struct KeyOrder: Sendable {
  /// Whether the keys are read in descending order.
  package fileprivate(set) var isDescending = false
  /// The number of leading fields that rows have in common that are sorted by their ids; `nil` if the keys have the order.
  package fileprivate(set) var tiedFields: Int?
  package fileprivate(set) var areIDsDescending = false
  /// The position after which the rows begin.
  package fileprivate(set) var start: Start?

  package struct Start: Sendable {
    /// The parts of the fields that decide the order, and of the id if the keys have the order.
    package let key: OrderKey
    /// The ``OrderKey`` of the id.
    package let id: OrderKey
  }

  /// The order of the keys.
  package init() {}
}

extension IndexAccess {
  /// Creates the access to all rows of an index.
  package convenience init(all index: IndexCatalog.Entry) {
    self.init(index)
  }

  /// The ranges of keys of these rows, in their order.
  package var ranges: [KeyRange] {
    var ranges = fields.isEmpty ? [KeyRange.all] : []
    for (number, field) in fields.enumerated() {
      let isDescending = index.definition.fields[number].isDescending
      if number == 0 {
        ranges = field.ranges(isDescending: isDescending)
      } else if let only = ranges.first, ranges.count == 1 {
        ranges = field.ranges(after: only.lower, isDescending: isDescending)
      } else {
        ranges = ranges.flatMap { field.ranges(after: $0.lower, isDescending: isDescending) }
      }
    }
    guard !ids.isEverything, areIDsNext else { return ranges }
    let access = FieldAccess.range(lower: ids.lower, upper: ids.upper)
    return ranges.flatMap { access.ranges(after: $0.lower, isDescending: false) }
  }

  /// Whether the ranges leave rows that the conditions exclude.
  package var filtersKeys: Bool {
    !filters.isEmpty || !absence.isEmpty || !ids.isEverything && !areIDsNext
  }

  /// Whether the ranges are at values of all fields.
  private var areIDsNext: Bool { lookedUpFields == index.definition.fields.count }

  /// The number of leading fields of which the rows in a range have one value.
  private var lookedUpFields: Int {
    fields.prefix { if case .points = $0 { true } else { false } }.count
  }

  /// The order in which the keys are read so that the rows have the order of the terms.
  ///
  /// - Parameter start: The position after which the rows begin.
  package func keyOrder(_ terms: [OrderTerm], after start: Bookmark? = nil) -> KeyOrder {
    let own = index.definition.fields
    let constants = constantFields
    var order = KeyOrder()
    var isDescending: Bool?
    var end = lookedUpFields
    var ids: OrderTerm?
    for term in terms {
      guard let field = term.field, own[field].fieldPath.documentField != .id else {
        ids = term
        break
      }
      if isDescending == nil, field >= constants {
        isDescending = term.isDescending != own[field].isDescending
      }
      end = max(end, field + 1)
    }
    if let ids {
      order.areIDsDescending = ids.isDescending
      // The direction of the ids in the keys, if they come next.
      var next: Bool? = end == own.count ? false : nil
      if end < own.count, own[end].fieldPath.documentField == .id { next = own[end].isDescending }
      if let next {
        let isReversed = isDescending ?? (next != ids.isDescending)
        isDescending = isReversed
        if (next != isReversed) != ids.isDescending { order.tiedFields = end }
      } else {
        order.tiedFields = end
      }
    }
    order.isDescending = isDescending ?? false
    if let start { begin(&order, at: start, terms, end) }
    return order
  }

  private func begin(_ order: inout KeyOrder, at start: Bookmark, _ terms: [OrderTerm], _ end: Int) {
    var key = OrderKey()
    for field in 0..<end {
      let from = key.bytes.count
      if let position = terms.firstIndex(where: { $0.field == field }),
        start.values.indices.contains(position)
      {
        key.append(start.sort.compared(start.values[position], field: position))
      } else if case .points(let keys) = fields[field], let constant = keys.first {
        key.append(key: constant)
      }
      if index.definition.fields[field].isDescending { key.invert(from: from) }
    }
    let id = OrderKey(string: start.id)
    if order.tiedFields == nil {
      let from = key.bytes.count
      key.append(key: id)
      if end < index.definition.fields.count, index.definition.fields[end].isDescending {
        key.invert(from: from)
      }
    }
    order.start = KeyOrder.Start(key: key, id: id)
  }

  /// The ranges of keys in the order in which they are read.
  package func ranges(in order: KeyOrder) -> [KeyRange] {
    var ranges = ranges
    if let start = order.start?.key {
      // Of rows that are sorted by their ids, those at the position are read again.
      let isRead = order.tiedFields != nil
      let rest =
        order.isDescending
        ? KeyRange(lower: KeyRange.all.lower, upper: isRead ? start.successor : start)
        : KeyRange(lower: isRead ? start : start.successor, upper: KeyRange.all.upper)
      ranges = ranges.map { $0.intersection(rest) }.filter { !$0.isEmpty }
    }
    return order.isDescending ? ranges.reversed() : ranges
  }
}
