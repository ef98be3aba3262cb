import CDTDatastore
import CDTJSON
import CDTSQLite

/// Refuses a write that gives two documents the same key of a unique index.
///
/// This happens before the commit, while the write holds the documents' lock: no other thread or process can commit a
/// document before the write is committed or rolled back. Within a write, keys may be exchanged.
///
/// A key is a row of the index without null and missing values, so a document has one for each element of an array, and
/// none if a field is missing. Only keys that a document did not have before the write are compared, so a document with a
/// violation can still be changed. Documents of which a write only inserts revisions made elsewhere are not compared: a
/// replicator stores what it gets.
struct UniqueCheck {
  let write: PendingWrite
  /// A connection that sees the documents as they were before the write, and the name of their schema there.
  let before: Connection
  let schema: String
  /// A connection with the rows of the index, to which those of the write were added; `nil` if there are none.
  let index: Connection?

  /// - Throws: ``UniqueViolation``.
  func run(_ entry: IndexCatalog.Entry) throws {
    var search = UniqueKeySearch(entry.definition)
    // The keys of a complete index are found in its rows. The others are compared with the documents it lacks.
    var wanted: [OrderKey: Int64] = [:]
    try write.forEachChange(before: before, schema) { change in
      guard let after = change.after, !write.replicatedSequences.contains(change.sequence) else { return }
      for key in try search.newKeys(after, before: change.before, number: change.number) {
        if let index { try compare(key, of: change.number, after, with: index, entry, &search) }
        guard index == nil || entry.watermark != nil else { continue }
        if let other = wanted.updateValue(change.number, forKey: key), other != change.number {
          throw try violation(of: entry, key, number: change.number, other: other)
        }
      }
    }
    if !wanted.isEmpty { try compare(wanted, above: entry.watermark ?? 0, entry, &search) }
  }

  /// Compares a key with the rows of the index. Each row found is verified with its document, as rows of documents above
  /// the watermark can be outdated.
  private func compare(
    _ key: OrderKey, of number: Int64, _ document: DocumentBytes, with index: Connection,
    _ entry: IndexCatalog.Entry, _ search: inout UniqueKeySearch
  ) throws {
    let rows = try index.statement(
      "SELECT document FROM main.\(IndexFile.table(entry.number)) WHERE key >= ?1 AND key < ?2 AND document <> ?3"
    )
    defer { rows.clear() }
    try KeyRange(prefix: key).bind(to: rows, at: 1)
    try rows.bind(number, at: 3)
    while try rows.step() {
      let other = rows.int64(0)
      let stored = try StoredDocuments("WHERE number = ?1", other, on: write.connection)
      defer { stored.reset() }
      guard try stored.next(), let found = stored.document,
        search.keys(of: found, number: other).contains(key)
      else { continue }
      throw try violation(of: entry, key, number: number, other: other)
    }
  }

  /// Compares keys with the documents above a sequence.
  private func compare(
    _ wanted: [OrderKey: Int64], above sequence: Int64, _ entry: IndexCatalog.Entry,
    _ search: inout UniqueKeySearch
  ) throws {
    let stored = try StoredDocuments(
      "WHERE sequence > ?1 ORDER BY sequence", sequence, on: write.connection)
    defer { stored.reset() }
    while try stored.next() {
      guard let document = stored.document else { continue }
      let other = stored.number
      for key in search.keys(of: document, number: other) {
        guard let number = wanted[key], number != other else { continue }
        throw try violation(of: entry, key, number: number, other: other)
      }
    }
  }

  private func violation(
    of entry: IndexCatalog.Entry, _ key: OrderKey, number: Int64, other: Int64
  ) throws -> UniqueViolation {
    let documents = try [number, other].map { number in
      try UniqueKeySearch.document(number, on: write.connection, "main", key, of: entry.definition)
    }
    return try UniqueViolation(
      index: entry.definition.name, key: documents.first?.values ?? [], documentIDs: documents.map(\.id)
    ).naming(write.sees)
  }
}

/// Reads the keys that documents have in a unique index.
struct UniqueKeySearch: ~Copyable {
  private let definition: IndexDefinition
  private var rows: IndexRows

  init(_ definition: IndexDefinition) {
    self.definition = definition
    rows = IndexRows(definition)
  }

  /// The keys of a document; none if it has more than the rows that an index can have of it.
  mutating func keys(of document: DocumentBytes, number: Int64) -> [OrderKey] {
    read(document, number: number).keys
  }

  /// The keys that a document has and had not before.
  ///
  /// - Throws: ``UniqueViolation`` if it has too many.
  mutating func newKeys(
    _ after: DocumentBytes, before: DocumentBytes?, number: Int64
  ) throws -> [OrderKey] {
    if let before, rows.haveSameValues(before, after) { return [] }
    let (keys, overflows) = read(after, number: number)
    guard let before, !keys.isEmpty || overflows else {
      if overflows { throw tooManyKeys(of: after) }
      return keys
    }
    let known = read(before, number: number)
    if overflows, !known.overflows { throw tooManyKeys(of: after) }
    return known.keys.isEmpty
      ? keys : Set(keys).subtracting(known.keys).sorted()
  }

  private mutating func read(_ document: DocumentBytes, number: Int64) -> (
    keys: [OrderKey], overflows: Bool
  ) {
    rows.removeAll()
    let shape = rows.add(document, number: number)
    let count = rows.count
    let layout = rows.layout
    let keys = rows.withBinding { binding in
      (0..<count).compactMap { Self.key(in: binding.key(of: $0), layout) }
    }
    return (keys, shape.overflows)
  }

  /// The parts of the fields in a row of the index; `nil` if a field has no value, or null.
  static func key(in row: JSONBytes, _ layout: KeyLayout) -> OrderKey? {
    if layout.hasNothing(inFirst: layout.fields, of: row) { return nil }
    return OrderKey(Array(row.slice(0, layout.startOfID(in: row))))
  }

  private func tooManyKeys(of document: DocumentBytes) -> UniqueViolation {
    UniqueViolation(
      index: definition.name, key: [], documentIDs: [String(decoding: document.id, as: UTF8.self)])
  }

  /// The id of a document and the values of one of its keys as they are stored in it.
  static func document(
    _ number: Int64, on connection: Connection, _ schema: String, _ key: OrderKey,
    of definition: IndexDefinition
  ) throws -> (id: String, values: [JSONValue]) {
    let stored = try StoredDocuments("WHERE number = ?1", number, in: schema, on: connection)
    defer { stored.reset() }
    guard try stored.next(), let document = stored.document else { return ("", []) }
    let parts = key.bytes.withUnsafeBytes {
      KeyLayout(definition).values(ofFirst: definition.fields.count, in: JSONBytes($0))
    }
    let values = zip(definition.fields, parts).map { field, key -> JSONValue in
      if let documentField = field.fieldPath.documentField {
        return .string(String(decoding: document.string(of: documentField), as: UTF8.self))
      }
      return FieldValues(of: field.fieldPath, in: document.body).offsets
        .first { OrderKey(document.body, at: $0, by: definition.collation) == key }.map {
          document.body.value(at: $0)
        } ?? .null
    }
    return (String(decoding: document.id, as: UTF8.self), values)
  }
}
