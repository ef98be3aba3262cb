package import CDTJSON

/// The definition of an index: a name, a type, and fields.
public struct IndexDefinition: Sendable, Hashable {
  /// One field of an index.
  public struct Field: Sendable, Hashable {
    /// The field's path, as in a selector: `pet.species`.
    public let path: String
    /// Whether the field's values are in descending order.
    public let isDescending: Bool

    package let fieldPath: FieldPath
  }

  /// The index's name, unique in its datastore.
  public let name: String
  /// Values in order, or words.
  public let type: IndexType
  /// The fields, most significant first.
  public let fields: [Field]
  /// The tokenizer of a text index; `simple` and unused in other indexes.
  public let tokenizer: TextTokenizerName

  /// The id of the design document that defines the index; `nil` if an app made it.
  public let designDocument: String?

  /// The fields as in requests: a path, or an object with a direction.
  package var fieldsJSON: JSONValue {
    .array(fields.map { SortField($0.path, $0.isDescending ? .descending : .ascending).json })
  }
}

/// The types of index.
public enum IndexType: String, Sendable, Hashable, Codable {
  /// Values in order: equality, ranges, sorting.
  case json
  /// Words, for `$text`.
  case text
}

extension IndexDefinition {
  /// The maximum number of fields of an index.
  public static let maximumFields = 32

  /// Validates a definition given by the user.
  ///
  /// - Parameters:
  ///   - fields: The fields, most significant first.
  ///   - name: The name, or `nil` to generate one from the fields.
  ///   - settings: For a text index `{"tokenize": "simple" | "porter" | "unicode61" | "trigram"}`.
  ///   - designDocument: The id of the design document that defines it.
  package init(
    fields: [SortField], name: String?, type: IndexType, settings: JSONObject = [:],
    designDocument: String? = nil
  ) throws(QueryError) {
    self.designDocument = designDocument
    tokenizer = try Self.tokenizer(settings, type: type)
    guard !fields.isEmpty else { throw .indexWithoutFields }
    guard fields.count <= Self.maximumFields else { throw .indexWithTooManyFields(fields.count) }
    var parsed: [Field] = []
    var seen = Set<FieldPath>()
    for (number, field) in fields.enumerated() {
      let place = "fields[\(number)]"
      let (path, isDescending) = (field.path, field.direction == .descending)
      let fieldPath: FieldPath
      do {
        fieldPath = try FieldPath(path)
      } catch {
        throw .invalidPath(path, error, at: place)
      }
      guard seen.insert(fieldPath).inserted else { throw .indexRepeatsField(path, at: place) }
      // Words have no direction.
      parsed.append(Field(path: path, isDescending: isDescending && type == .json, fieldPath: fieldPath))
    }
    if let name, name.isEmpty { throw .indexWithoutName }
    self.fields = parsed
    self.type = type
    self.name = name ?? Self.name(for: parsed, type: type)
  }

  private static func tokenizer(_ settings: JSONObject, type: IndexType) throws(QueryError)
    -> TextTokenizerName
  {
    for (key, _) in settings {
      guard type == .text else { throw .settingsOfJSONIndex(key) }
      guard key == "tokenize" else { throw .unknownSetting(key) }
    }
    guard let value = settings["tokenize"] else { return .simple }
    guard case .string(let name) = value, let tokenizer = TextTokenizerName(rawValue: name) else {
      throw .unknownTokenizer(value)
    }
    return tokenizer
  }

  /// The settings as the user gives them.
  package var settings: JSONObject {
    type == .text ? ["tokenize": .string(tokenizer.rawValue)] : [:]
  }

  /// The settings and the design document, as stored in the index file.
  var storedSettings: JSONObject {
    var stored = settings
    if let designDocument { stored["ddoc"] = .string(designDocument) }
    return stored
  }

  /// The name of an index in its design document; the name of any other.
  package var ownName: String {
    designDocument.flatMap { name.afterBytePrefix("\($0)/").map { String($0) } } ?? name
  }

  /// Whether both define the same index, ignoring the name.
  package func isSame(as other: IndexDefinition) -> Bool {
    type == other.type && tokenizer == other.tokenizer
      && fields.map(\.fieldPath) == other.fields.map(\.fieldPath)
      && fields.map(\.isDescending) == other.fields.map(\.isDescending)
  }

  /// Generates a name from the definition, so that equal definitions get equal names: `age-desc_pet.species`.
  private static func name(for fields: [Field], type: IndexType) -> String {
    let prefix = type == .text ? ["text"] : []
    return (prefix + fields.map { $0.isDescending ? "\($0.path)-desc" : $0.path }).joined(separator: "_")
  }
}
