public import JSON

/// An index as ``CDTDatastore/Datastore/listIndexes()`` describes it.
public struct IndexInfo: Sendable, Hashable {
  /// What the index is.
  public let definition: IndexDefinition

  /// The index's name.
  public var name: String { definition.name }
  /// Ordered values, or words.
  public var type: IndexType { definition.type }
  /// The fields, the most significant first.
  public var fields: [IndexDefinition.Field] { definition.fields }

  /// How many rows the index has: one a document, more where fields are arrays.
  public let entries: Int
  /// How much of the index file the rows take, in bytes.
  public let bytes: Int
  /// The sequence up to which every document is in the index; later ones are found without it.
  public let upToSequence: Int64

  /// The index as `cdtquery index list` prints it.
  public var json: JSONObject {
    var json: JSONObject = [
      "name": .string(name), "type": .string(type.rawValue), "fields": definition.fieldsJSON,
    ]
    if type == .text { json["settings"] = .object(definition.settings) }
    json["entries"] = .int(Int64(entries))
    json["bytes"] = .int(Int64(bytes))
    json["sequence"] = .int(upToSequence)
    return json
  }

  /// All indexes of a file, by name.
  static func all(in file: IndexConnection) throws -> [IndexInfo] {
    let connection = file.connection
    // One snapshot, as another process may delete an index meanwhile.
    return try connection.transaction(.deferred) {
      let state = try file.state()
      return try file.catalog().entries.map { entry in
        let table = IndexFile.table(entry)
        return IndexInfo(
          definition: entry.definition,
          entries: Int(try connection.scalar("SELECT count(*) FROM \(table)")),
          bytes: Int(
            try connection.scalar(
              "SELECT sum(pgsize) FROM dbstat WHERE name = '\(table)' OR name GLOB '\(table)_*'")),
          upToSequence: entry.watermark ?? state.sequence)
      }
    }
  }
}
