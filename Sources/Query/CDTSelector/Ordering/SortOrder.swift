package import CDTJSON

/// The order of a query's results: fields with directions, and the id to break ties. Without fields it is the order of
/// the ids.
package struct SortOrder: Sendable, Hashable {
  package struct Field: Sendable, Hashable {
    package let path: FieldPath
    package let isDescending: Bool
    /// The distance that counts, and not the value.
    package let distance: Distance?
    /// Whether the path is the document's id or revision.
    package let documentField: FieldPath.DocumentField?

    package init(path: FieldPath, isDescending: Bool, distance: Distance? = nil) {
      self.path = path
      documentField = distance == nil ? path.documentField : nil
      self.isDescending = isDescending
      self.distance = distance
    }
  }

  package let fields: [Field]

  /// Whether the results are sorted by the score of their text search, best first, instead of by fields.
  package let isByScore: Bool

  /// The collation for strings other than ids and revisions; `nil` to compare their bytes.
  package let collation: Collation?

  /// Whether the order is read from its end. The values that count are the same.
  package private(set) var isReversed = false

  package init(fields: [Field], isByScore: Bool = false, collation: Collation? = nil) {
    self.fields = fields
    self.isByScore = isByScore
    self.collation = fields.contains { $0.documentField == nil } ? collation : nil
  }

  package var reversed: SortOrder {
    var reversed = self
    reversed.isReversed.toggle()
    return reversed
  }

  package var isEmpty: Bool { fields.isEmpty && !isByScore }

  /// The path and the distance of the order, if it begins with one.
  package var distance: (path: FieldPath, distance: Distance)? {
    fields.first.flatMap { field in field.distance.map { (field.path, $0) } }
  }

  /// Whether the order is that of the distances, the least first.
  package var isNearestFirst: Bool { fields.first?.distance != nil && !isReversed }

  /// The order of the ids, ascending: that of a query without a sort that no index serves.
  package static let byID = SortOrder(fields: [])

  /// Writes a document's sort key: documents with smaller keys come first.
  ///
  /// If a field has several values, the smallest counts when ascending and the largest when descending. The id comes
  /// last, so keys are unique.
  ///
  /// - Parameters:
  ///   - key: Overwritten; its memory is reused.
  ///   - last: The key after which documents are not needed, if there is one.
  /// - Returns: Whether the key is complete; otherwise the document is after the last one.
  @discardableResult
  package func write(_ document: DocumentBytes, to key: inout OrderKey, upTo last: OrderKey? = nil) -> Bool {
    guard !isReversed else {
      reversed.write(document, to: &key)
      key.invert(from: 0)
      return true
    }
    key.removeAll()
    for field in fields {
      let start = key.bytes.count
      if let documentField = field.documentField {
        key.append(string: document.string(of: documentField))
      } else {
        append(field, of: document.body, to: &key)
      }
      if field.isDescending { key.invert(from: start) }
      if let last, key.isAfterPrefix(of: last) { return false }
      if field.documentField == .id { return true }
    }
    key.append(string: document.id)
    return true
  }

  /// Whether the id alone determines the order.
  package var isByID: Bool { !isByScore && (fields.first.map { $0.documentField == .id } ?? true) }

  /// Whether this is the order of the ids, descending.
  package var isByIDDescending: Bool { isByID && (fields.first?.isDescending == true) != isReversed }

  /// The id in a sort key, if the id alone determines the order.
  package func id(in key: UnsafeRawBufferPointer) -> String {
    isByIDDescending ? key.map { ~$0 }.withUnsafeBytes(OrderKey.string) : OrderKey.string(in: key)
  }

  /// The values by which a document is sorted, one for each field; null for a field without a value.
  package func values(of document: DocumentBytes) -> [JSONValue] {
    fields.map { field in
      if let documentField = field.documentField {
        return .string(String(decoding: document.string(of: documentField), as: UTF8.self))
      }
      if let distance = field.distance {
        return distance.least(of: field.path, in: document.body).map { .double($0) } ?? .null
      }
      let offsets = FieldValues(of: field.path, in: document.body).offsets
      func comesFirst(_ left: Int, _ right: Int) -> Bool {
        OrderKey(document.body, at: left, by: collation) < OrderKey(document.body, at: right, by: collation)
      }
      let chosen = field.isDescending ? offsets.max(by: comesFirst) : offsets.min(by: comesFirst)
      return chosen.map { document.body.value(at: $0) } ?? .null
    }
  }

  /// Writes the sort key of a document with these values.
  package func write(_ values: [JSONValue], id: String, to key: inout OrderKey) {
    guard !isReversed else {
      reversed.write(values, id: id, to: &key)
      return key.invert(from: 0)
    }
    key.removeAll()
    for (number, field) in fields.enumerated().prefix(values.count) {
      let start = key.bytes.count
      key.append(field.documentField == .id ? .string(id) : compared(values[number], field: number))
      if field.isDescending { key.invert(from: start) }
      if field.documentField == .id { return }
    }
    key.append(.string(id))
  }

  /// The value of a field in the form that is compared.
  package func compared(_ value: JSONValue, field: Int) -> JSONValue {
    guard let collation, fields[field].documentField == nil else { return value }
    return collation.folded(value)
  }

  private func append(_ field: Field, of bytes: JSONBytes, to key: inout OrderKey) {
    if let distance = field.distance {
      return key.append(distance.least(of: field.path, in: bytes).map { .double($0) } ?? .null)
    }
    switch field.path.singleValue(in: bytes) {
    case .missing: return key.appendNull()
    case .value(let value): return key.append(bytes, at: value, by: collation)
    case .several: break
    }
    let values = FieldValues(of: field.path, in: bytes)
    switch values.offsets.count {
    case 0: key.appendNull()
    case 1: key.append(bytes, at: values.offsets[0], by: collation)
    default:
      let keys = values.offsets.map { OrderKey(bytes, at: $0, by: collation) }
      if let chosen = field.isDescending ? keys.max() : keys.min() { key.append(key: chosen) }
    }
  }
}
