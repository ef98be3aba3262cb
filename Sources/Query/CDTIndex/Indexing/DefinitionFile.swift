import CDTDatastore
import CDTJSON
import CDTPlatform

/// The index definitions of a datastore as JSON, from which a lost index file is recreated.
struct DefinitionFile: Sendable {
  static let name = StoreFiles.indexDefinitions

  let path: String
  /// The keys of an encrypted datastore.
  let keys: StoreKeys?

  var exists: Bool {
    get throws {
      do {
        return try Files.exists(path)
      } catch {
        throw DatastoreError(error, "read", path)
      }
    }
  }

  /// The definitions; empty if the file is missing or invalid, so that the indexes are treated as deleted.
  ///
  /// - Throws: ``DatastoreError`` if the file exists but can't be read; the indexes are then not treated as deleted.
  func load() throws -> [IndexDefinition] {
    guard var text = try content() else { return [] }
    if let keys { text = keys.open(text, named: Self.name) ?? [] }
    guard let value = try? JSONValue(parsing: text) else { return [] }
    return Self.definitions(value)
  }

  /// The definitions in JSON, without those that are invalid.
  static func definitions(_ json: JSONValue) -> [IndexDefinition] {
    (json.arrayValue ?? []).compactMap(\.objectValue).filter { $0["name"]?.stringValue != nil }
      .compactMap { try? IndexDefinition(json: $0) }
  }

  /// `nil` if there is no file.
  private func content() throws -> [UInt8]? {
    do {
      guard let file = try OpenFile.regular(path) else { throw DatastoreError(.notARegularFile(path)) }
      var content: [UInt8] = []
      while case let chunk = try file.read(upTo: 64 * 1024), !chunk.isEmpty { content += chunk }
      return content
    } catch let error as SystemError {
      if error.isMissing { return nil }
      throw DatastoreError(error, "read", path)
    }
  }

  /// Replaces the file. The definitions are on disk when the call returns.
  func save(_ definitions: [IndexDefinition]) throws {
    let text = Array(Self.json(definitions).prettyText.utf8)
    do throws(SystemError) {
      try Files.replace(path, with: keys?.seal(text, named: Self.name) ?? text)
    } catch {
      throw DatastoreError(error, "write", path)
    }
  }

  static func json(_ definitions: [IndexDefinition]) -> JSONValue {
    .array(definitions.map { .object($0.json) })
  }
}
