import CDTJSON
import CDTPlan

/// Sorts index rows with the same values by their ids, where the keys have another order.
struct TieOrder: ~Copyable {
  private let order: KeyOrder
  private let layout: KeyLayout
  private let tiedFields: Int
  private let memory: Int
  /// The beginning that the keys of the rows have in common.
  private var prefix = OrderKey()
  private var rows: ResultOrder
  private var count = 0

  /// - Returns: `nil` if the keys have the order.
  init?(_ order: KeyOrder, _ layout: KeyLayout, memory: Int) {
    guard let tiedFields = order.tiedFields else { return nil }
    (self.order, self.layout, self.tiedFields, self.memory) = (order, layout, tiedFields, memory)
    rows = ResultOrder(wanted: nil, memory: memory)
  }

  /// Adds a row.
  ///
  /// - Returns: Whether it has the values of the others; if not, these come first.
  mutating func add(_ key: JSONBytes, number: Int64) throws -> Bool {
    let prefix = key.slice(0, layout.end(ofFirst: tiedFields, in: key))
    if count == 0 {
      self.prefix = OrderKey(Array(prefix))
    } else if !(self.prefix.bytes.withUnsafeBytes { Order($0, prefix) == .same }) {
      return false
    }
    count += 1
    let start = layout.startOfID(in: key)
    var id = OrderKey(Array(key.slice(start, OrderKey.end(in: key, at: start))))
    if let start = order.start, start.key == self.prefix,
      order.areIDsDescending ? start.id <= id : id <= start.id
    {
      return true
    }
    if order.areIDsDescending { id.invert(from: 0) }
    id.bytes.append(contentsOf: key.slice(0, key.count))
    try rows.add(id, number: number)
    return true
  }

  /// The next of the rows, with the ``OrderKey`` of its id and its key; `nil` after the last. Then rows can be added again.
  mutating func takeNext() throws -> (number: Int64, id: OrderKey, key: OrderKey)? {
    guard count > 0 else { return nil }
    let areDescending = order.areIDsDescending
    let next = try rows.takeNext { bytes, number in
      let end = OrderKey.end(in: JSONBytes(bytes), at: 0, isInverted: areDescending)
      var id = OrderKey(Array(bytes.prefix(end)))
      if areDescending { id.invert(from: 0) }
      return (number: number, id: id, key: OrderKey(Array(bytes.dropFirst(end))))
    }
    if next == nil {
      count = 0
      rows = ResultOrder(wanted: nil, memory: memory)
    }
    return next
  }
}
