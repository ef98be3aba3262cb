public import JSON

/// What an index is: a name, a type, and the fields it orders documents by.
public struct IndexDefinition: Sendable, Hashable {
  /// One field of an index.
  public struct Field: Sendable, Hashable {
    /// The field's path, as in a selector: `pet.species`.
    public let path: String
    /// Whether the index holds the field's values in descending order.
    public let isDescending: Bool

    package let fieldPath: FieldPath
  }

  /// The index's name, unique in its datastore.
  public let name: String
  /// Ordered values, or words.
  public let type: IndexType
  /// The fields, the most significant first.
  public let fields: [Field]
  /// How a text index cuts words; `simple` in an index of values, which has no use for it.
  public let tokenizer: TextTokenizerName

  /// The field as a user writes it in `ensureIndexed`: its path alone, or with its direction.
  public var fieldsJSON: JSONValue {
    .array(
      fields.map { field in
        guard field.isDescending else { return .string(field.path) }
        var object = JSONObject()
        object[field.path] = "desc"
        return .object(object)
      })
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
  /// How many fields an index may have.
  public static let maximumFields = 32

  /// Checks a definition as a user gives it.
  ///
  /// - Parameters:
  ///   - fields: Paths, or objects of one path and its direction, `{"age": "desc"}`.
  ///   - name: The name, or `nil` for one made of the fields.
  ///   - settings: Of a text index `{"tokenize": "simple" | "porter" | "unicode61" | "trigram"}`.
  package init(
    fields: [JSONValue], name: String?, type: IndexType, settings: JSONObject = [:]
  ) throws(QueryError) {
    tokenizer = try Self.tokenizer(settings, type: type)
    guard !fields.isEmpty else { throw .indexWithoutFields }
    guard fields.count <= Self.maximumFields else { throw .indexWithTooManyFields(fields.count) }
    var parsed: [Field] = []
    var seen = Set<FieldPath>()
    for (number, field) in fields.enumerated() {
      let place = "fields[\(number)]"
      let (path, isDescending) = try DirectedField.read(field, at: place)
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

  /// The settings as a user gives them.
  package var settings: JSONObject {
    type == .text ? ["tokenize": .string(tokenizer.rawValue)] : [:]
  }

  /// Whether both describe the same index but for the name.
  package func isSame(as other: IndexDefinition) -> Bool {
    type == other.type && tokenizer == other.tokenizer
      && fields.map(\.fieldPath) == other.fields.map(\.fieldPath)
      && fields.map(\.isDescending) == other.fields.map(\.isDescending)
  }

  /// A name made of the definition, so that the same definition is given the same name: `age-desc_pet.species`.
  private static func name(for fields: [Field], type: IndexType) -> String {
    let prefix = type == .text ? ["text"] : []
    return (prefix + fields.map { $0.isDescending ? "\($0.path)-desc" : $0.path }).joined(separator: "_")
  }
}
