package import JSON

/// The rows a document has in an index: one for each combination of its fields' values.
package struct IndexEntries {
  /// One row, but for the document it belongs to.
  package struct Entry: Sendable, Hashable {
    package let keys: [IndexKey]
  }

  /// All of them differ.
  package private(set) var entries: [Entry] = []

  /// For each field without a value why it has none, two bits a field, the first lowest: see ``Absence``.
  package private(set) var absent: Int64 = 0

  /// Whether an array was opened: the document may then have any number of rows.
  package private(set) var isMultiple = false

  /// Whether the combinations passed the bound, so that the document is kept apart and always asked.
  package private(set) var isApart = false

  /// How many rows one document may have in one index.
  package static let maximumCombinations = 1_000

  /// What the two bits of a field in the `absent` column say.
  package enum Absence {
    package static let null: Int64 = 0
    package static let missing: Int64 = 1
    package static let emptyArray: Int64 = 2

    /// The bits of one field.
    package static func mask(field: Int) -> Int64 { 3 << Int64(2 * field) }
  }

  /// The rows of a document with a body.
  package init(of definition: IndexDefinition, body: JSONBytes) {
    var combinations: [[IndexKey]] = [[]]
    for (number, field) in definition.fields.enumerated() {
      let values = FieldValues(of: field.fieldPath, in: body)
      if values.isMultiple { isMultiple = true }
      var keys = [IndexKey.nothing]
      if values.offsets.isEmpty {
        let why = values.absence == .missing ? Absence.missing : Absence.emptyArray
        absent |= why << Int64(2 * number)
      } else {
        keys = Self.distinct(values.offsets.map { IndexKey(body, at: $0) })
      }
      guard combinations.count * keys.count <= Self.maximumCombinations else {
        isApart = true
        return
      }
      combinations = combinations.flatMap { combination in keys.map { combination + [$0] } }
    }
    entries = combinations.map(Entry.init)
  }

  /// Up to how many it is quicker to compare each with each than to make a set.
  private static let few = 16

  private static func distinct(_ keys: [IndexKey]) -> [IndexKey] {
    if keys.count > few { return Array(Set(keys)) }
    var distinct: [IndexKey] = []
    distinct.reserveCapacity(keys.count)
    for key in keys where !distinct.contains(key) { distinct.append(key) }
    return distinct
  }

  /// The rows that another body's do not have.
  func entries(notIn other: IndexEntries) -> [Entry] {
    if other.entries.count <= Self.few { return entries.filter { !other.entries.contains($0) } }
    let others = Set(other.entries)
    return entries.filter { !others.contains($0) }
  }

  /// The rows of a document that is deleted, or was not there: none.
  package init() {}
}
