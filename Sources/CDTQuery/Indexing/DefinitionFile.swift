import CDTDatastore
import CDTPlatform
import FoundationEssentials
import JSON

/// The definitions of a datastore's indexes as JSON, from which a lost index file is made again.
///
/// ```json
/// [{"name": "by_age", "type": "json", "fields": ["name", {"age": "desc"}]}]
/// ```
struct DefinitionFile: Sendable {
  let path: String

  var exists: Bool { FileManager.default.fileExists(atPath: path) }

  /// The definitions, or none when the file is missing or is not one that was saved: the indexes are then only gone.
  ///
  /// - Throws: ``DatastoreError`` when the file is there and can't be read: the indexes are not gone.
  func load() throws -> [IndexDefinition] {
    guard exists else { return [] }
    let data = try accessing("read") { try Data(contentsOf: URL(filePath: path)) }
    guard let value = try? JSONValue(parsing: Array(data)), let definitions = value.arrayValue else {
      return []
    }
    return definitions.compactMap { definition in
      guard let name = definition["name"]?.stringValue, let fields = definition["fields"]?.arrayValue,
        let type = definition["type"]?.stringValue.flatMap(IndexType.init)
      else { return nil }
      let settings = definition["settings"]?.objectValue ?? [:]
      return try? IndexDefinition(fields: fields, name: name, type: type, settings: settings)
    }
  }

  /// Replaces the file as a whole.
  func save(_ definitions: [IndexDefinition]) throws {
    let value = JSONValue.array(
      definitions.map { definition in
        [
          "name": .string(definition.name), "type": .string(definition.type.rawValue),
          "fields": definition.fieldsJSON, "settings": .object(definition.settings),
        ]
      })
    try accessing("write") {
      try Data(value.prettyText.utf8).write(to: URL(filePath: path), options: .atomic)
    }
  }

  private func accessing<R>(_ action: String, _ body: () throws -> R) throws(DatastoreError) -> R {
    do {
      return try body()
    } catch {
      let cause = (error as? CocoaError)?.underlying as? POSIXError
      throw DatastoreError(SystemError((cause?.code ?? .EIO).rawValue), action, path)
    }
  }
}
