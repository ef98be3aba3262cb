package import JSON

/// The order of a query's results: fields with their directions, and the id where they tie.
package struct SortOrder: Sendable, Hashable {
  package struct Field: Sendable, Hashable {
    package let path: FieldPath
    package let isDescending: Bool

    package init(path: FieldPath, isDescending: Bool) {
      self.path = path
      self.isDescending = isDescending
    }
  }

  package let fields: [Field]

  /// Whether the results come by the score of their text search, the best first, in place of fields.
  package let isByScore: Bool

  package init(fields: [Field], isByScore: Bool = false) {
    self.fields = fields
    self.isByScore = isByScore
  }

  package var isEmpty: Bool { fields.isEmpty && !isByScore }

  /// The bytes that put a document in its place: keys compare as the sort orders, before ids break ties.
  ///
  /// Several values of a field count by the smallest when ascending and by the largest when descending.
  package func key(
    of bytes: JSONBytes, id: UnsafeRawBufferPointer, revision: UnsafeRawBufferPointer
  ) -> OrderKey {
    var key = OrderKey()
    for field in fields {
      let start = key.bytes.count
      switch field.path.documentField {
      case .id?: key.append(string: id)
      case .revision?: key.append(string: revision)
      case nil: Self.append(field, of: bytes, to: &key)
      }
      if field.isDescending { key.invert(from: start) }
    }
    return key
  }

  private static func append(_ field: Field, of bytes: JSONBytes, to key: inout OrderKey) {
    let values = FieldValues(of: field.path, in: bytes)
    switch values.offsets.count {
    case 0: key.appendNull()
    case 1: key.append(bytes, at: values.offsets[0])
    default:
      let keys = values.offsets.map { OrderKey(bytes, at: $0) }
      if let chosen = field.isDescending ? keys.max() : keys.min() { key.append(key: chosen) }
    }
  }
}
