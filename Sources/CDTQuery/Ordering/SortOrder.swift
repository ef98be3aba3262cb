package import CDTJSON

/// The order of a query's results: fields with directions, and the id to break ties.
package struct SortOrder: Sendable, Hashable {
  package struct Field: Sendable, Hashable {
    package let path: FieldPath
    package let isDescending: Bool
    /// Whether the path is the document's id or revision.
    let documentField: FieldPath.DocumentField?

    package init(path: FieldPath, isDescending: Bool) {
      self.path = path
      documentField = path.documentField
      self.isDescending = isDescending
    }
  }

  package let fields: [Field]

  /// Whether the results are sorted by the score of their text search, best first, instead of by fields.
  package let isByScore: Bool

  package init(fields: [Field], isByScore: Bool = false) {
    self.fields = fields
    self.isByScore = isByScore
  }

  package var isEmpty: Bool { fields.isEmpty && !isByScore }

  /// Writes a document's sort key: documents with smaller keys come first.
  ///
  /// If a field has several values, the smallest counts when ascending and the largest when descending. The id comes
  /// last, so keys are unique.
  ///
  /// - Parameter key: Overwritten; its memory is reused.
  package func write(_ document: DocumentBytes, to key: inout OrderKey) {
    key.removeAll()
    for field in fields {
      let start = key.bytes.count
      if let documentField = field.documentField {
        key.append(string: document.string(of: documentField))
      } else {
        Self.append(field, of: document.body, to: &key)
      }
      if field.isDescending { key.invert(from: start) }
    }
    key.append(string: document.id)
  }

  private static func append(_ field: Field, of bytes: JSONBytes, to key: inout OrderKey) {
    switch field.path.singleValue(in: bytes) {
    case .missing: return key.appendNull()
    case .value(let value): return key.append(bytes, at: value)
    case .several: break
    }
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
