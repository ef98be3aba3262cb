package import CDTJSON

/// Finds the parts of the keys of an index.
///
/// | part | |
/// |---|---|
/// | for each field | the ``OrderKey`` of its value, inverted if the field descends; that of null if there is none |
/// | id | its ``OrderKey`` |
/// | marks | for each field without a value, one byte: twice its position, and 1 for an empty array |
///
/// The marks come last, so that documents with null and without the field are in the order of their ids.
///
/// The keys of the groups of a summary (``SummaryTable``) have one byte before these parts, fewer fields, and no id.
package struct KeyLayout: Sendable {
  /// The number of fields.
  package let fields: Int
  /// The offset of the first part.
  package let start: Int
  private let hasIDs: Bool
  /// A bit for each field that descends.
  private let descending: UInt64

  package init(_ definition: IndexDefinition) {
    self.init(definition, fields: definition.fields.count, start: 0, hasIDs: true)
  }

  /// Creates the layout of the groups of a summary.
  package init(_ definition: IndexDefinition, level: Int) {
    self.init(definition, fields: level, start: 1, hasIDs: false)
  }

  private init(_ definition: IndexDefinition, fields: Int, start: Int, hasIDs: Bool) {
    (self.fields, self.start, self.hasIDs) = (fields, start, hasIDs)
    descending = definition.fields.enumerated().reduce(0) { bits, field in
      field.element.isDescending ? bits | 1 << UInt64(field.offset) : bits
    }
  }

  package func isDescending(_ field: Int) -> Bool { descending >> UInt64(field) & 1 == 1 }

  /// The offset after a part: a field, or the id after the last one.
  package func end(of field: Int, in key: JSONBytes, at start: Int) -> Int {
    OrderKey.end(in: key, at: start, isInverted: isDescending(field))
  }

  /// The offset after the parts of the first fields.
  package func end(ofFirst fields: Int, in key: JSONBytes) -> Int {
    var offset = start
    for field in 0..<fields { offset = end(of: field, in: key, at: offset) }
    return offset
  }

  /// The offset after the parts of the fields, at which the id begins.
  package func startOfID(in key: JSONBytes) -> Int { end(ofFirst: fields, in: key) }

  /// The id.
  package func id(in key: JSONBytes) -> String {
    let start = startOfID(in: key)
    return OrderKey.string(in: key.slice(start, OrderKey.end(in: key, at: start)))
  }

  /// Whether the id, which begins at an offset, is that of a design document.
  package func isOfDesignDocument(_ key: JSONBytes, idAt start: Int) -> Bool {
    DocumentID.isDesign(key.slice(start + 1, key.count))
  }

  /// Whether the part of a field at an offset is that of null or of no value.
  package func isNothing(_ field: Int, in key: JSONBytes, at offset: Int) -> Bool {
    key[offset] == (isDescending(field) ? ~OrderKey.null : OrderKey.null)
  }

  /// Whether the part of any of the first fields is that of null or of no value.
  package func hasNothing(inFirst fields: Int, of key: JSONBytes) -> Bool {
    var offset = start
    for field in 0..<fields {
      if isNothing(field, in: key, at: offset) { return true }
      offset = end(of: field, in: key, at: offset)
    }
    return false
  }

  /// The reason why a field has no value; ``IndexRows/Absence/null`` if it has one.
  ///
  /// - Parameter start: The offset after the parts of the fields.
  package func absence(of field: Int, in key: JSONBytes, idAt start: Int) -> Int {
    let marks = hasIDs ? OrderKey.end(in: key, at: start) : start
    for offset in marks..<max(marks, key.count) where Int(key[offset] >> 1) == field {
      return Int(key[offset] & 1) + 1
    }
    return IndexRows.Absence.null
  }

  /// The ``OrderKey`` of the value of each of the first fields.
  package func values(ofFirst fields: Int, in key: JSONBytes) -> [OrderKey] {
    var offset = start
    return (0..<fields).map { field in
      let start = offset
      offset = end(of: field, in: key, at: start)
      var value = OrderKey()
      append(field, in: key, start..<offset, to: &value.bytes)
      return value
    }
  }

  /// Appends the ``OrderKey`` of the value of a field's part.
  package func append(_ field: Int, in key: JSONBytes, _ part: Range<Int>, to bytes: inout [UInt8]) {
    let start = bytes.count
    bytes.append(contentsOf: key.slice(part.lowerBound, part.upperBound))
    guard isDescending(field) else { return }
    for index in start..<bytes.count { bytes[index] = ~bytes[index] }
  }
}
