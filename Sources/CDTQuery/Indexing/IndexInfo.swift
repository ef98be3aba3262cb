public import JSON

/// An index as ``CDTDatastore/Datastore/listIndexes()`` tells of it.
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
}
