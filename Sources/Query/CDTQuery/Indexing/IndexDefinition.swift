import CDTDigest
public import CDTJSON
import CDTPlatform

/// The definition of an index: a name, a type, fields, and which documents it holds.
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
  /// The selector of the documents that the index holds, in its canonical form; `nil` if it holds every document.
  public let filter: QuerySelector?
  /// Whether a write may not give two documents the same key.
  public let isUnique: Bool
  /// The collation by which the index compares strings; `nil` to compare their bytes.
  public let collation: Collation?

  /// The time after the date in the field from which on a document has expired, in seconds; `nil` if documents don't expire.
  public let expireAfter: Double?

  /// Whether a number in the field is one of milliseconds since 1970, not of seconds.
  public let expiryInMilliseconds: Bool

  /// The number of leading fields whose values make the groups of a summary, which sums the numbers of the other fields; `nil` for
  /// any other index.
  public let groupedFields: Int?

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
  ///   - filter: The selector of the documents that the index holds; `{}` for all.
  ///   - isUnique: Whether a write may not give two documents the same key.
  ///   - collation: The collation of strings; `nil` to compare their bytes.
  ///   - sums: For a summary, the paths of its last fields, whose numbers are summed.
  ///   - expireAfter: The time after the date in the field from which on a document has expired, in seconds.
  ///   - isInMilliseconds: Whether numbers in that field are milliseconds since 1970.
  ///   - designDocument: The id of the design document that defines it.
  package init(
    fields: [SortField], name: String?, type: IndexType, settings: JSONObject = [:],
    where filter: JSONObject = [:], isUnique: Bool = false, collation: Collation? = nil,
    sum sums: [String]? = nil, expireAfter: Double? = nil, milliseconds isInMilliseconds: Bool = false,
    designDocument: String? = nil
  ) throws(QueryError) {
    self.designDocument = designDocument
    let fields = fields + (sums ?? []).map { SortField($0) }
    tokenizer = try Self.tokenizer(settings, type: type)
    self.filter = try IndexFilter.selector(filter)
    guard type == .json || self.filter == nil else { throw .partialTextIndex }
    guard type == .json || !isUnique else { throw .uniqueTextIndex }
    guard type == .json || collation == nil else { throw .collatedTextIndex }
    self.isUnique = isUnique
    self.collation = collation
    groupedFields = sums.map { fields.count - $0.count }
    self.expireAfter = expireAfter
    expiryInMilliseconds = isInMilliseconds
    guard expireAfter != nil || !isInMilliseconds else { throw .millisecondsWithoutExpiry }
    if let expireAfter { try Self.checkExpiry(expireAfter, fields, type, isUnique: isUnique, sums) }
    if groupedFields != nil { try Self.checkSummary(fields, type, isUnique: isUnique) }
    guard collation == nil || sums == nil && expireAfter == nil else { throw .collatedValues }
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
    self.name =
      name
      ?? Self.name(
        for: parsed, grouped: groupedFields, expireAfter: expireAfter, type: type, where: self.filter,
        isUnique: isUnique, collation)
  }

  private static let longestExpiry = 1e11

  private static func checkExpiry(
    _ seconds: Double, _ fields: [SortField], _ type: IndexType, isUnique: Bool, _ sums: [String]?
  ) throws(QueryError) {
    guard (0...longestExpiry).contains(seconds) else { throw .invalidExpiry(seconds, most: longestExpiry) }
    let isAlone = fields.count == 1 && fields.first?.direction == .ascending
    guard isAlone, type == .json, !isUnique, sums == nil else { throw .expiryOfOtherIndex }
  }

  private static func checkSummary(
    _ fields: [SortField], _ type: IndexType, isUnique: Bool
  ) throws(QueryError) {
    guard type == .json else { throw .summaryOfWords }
    guard !isUnique else { throw .uniqueSummary }
    for (number, field) in fields.enumerated() where field.direction == .descending {
      throw .descendingSummary(field.path, at: "fields[\(number)]")
    }
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

  /// The selector of ``filter``; `nil` if the index holds every document.
  package var filterJSON: JSONObject? { filter?.clause.selector }

  /// The paths of the fields whose numbers a summary sums; `nil` for any other index.
  package var summedPaths: [String]? { groupedFields.map { fields.dropFirst($0).map(\.path) } }

  /// The options of an index besides its fields and settings, as stored: its filter, whether it is unique, its collation, the fields that it
  /// sums, the time after which documents expire, and its design document.
  package var options: JSONObject {
    var options = JSONObject()
    if let filterJSON { options["where"] = .object(filterJSON) }
    if isUnique { options["unique"] = true }
    if let collation { options["collation"] = .string(collation.rawValue) }
    if let expireAfter { options["expireAfter"] = JSONValue(number: expireAfter) }
    if expiryInMilliseconds { options["milliseconds"] = true }
    if let summedPaths { options["sum"] = .array(summedPaths.map { .string($0) }) }
    if let designDocument { options["ddoc"] = .string(designDocument) }
    return options
  }

  /// The definition with ``options`` as stored. Members that are not among them are ignored.
  init(
    fields: [JSONValue], name: String, type: IndexType, settings: JSONObject, options: JSONObject
  ) throws(QueryError) {
    let sums = options["sum"]?.arrayValue?.compactMap(\.stringValue)
    try self.init(
      fields: SortField.fields(fields.dropLast(sums?.count ?? 0), at: "fields"), name: name, type: type,
      settings: settings, where: options["where"]?.objectValue ?? [:], isUnique: options["unique"] == true,
      collation: Collation(json: options["collation"], at: "collation"), sum: sums,
      expireAfter: options["expireAfter"]?.doubleValue, milliseconds: options["milliseconds"] == true,
      designDocument: options["ddoc"]?.stringValue)
  }

  /// The name of an index in its design document; the name of any other.
  package var ownName: String {
    designDocument.flatMap { name.afterBytePrefix("\($0)/").map { String($0) } } ?? name
  }

  /// Whether both define the same index, ignoring the name.
  package func isSame(as other: IndexDefinition) -> Bool {
    hasSameFields(as: other) && filterJSON?.utf8Text == other.filterJSON?.utf8Text
      && isUnique == other.isUnique && collation == other.collation && groupedFields == other.groupedFields
      && expireAfter == other.expireAfter && expiryInMilliseconds == other.expiryInMilliseconds
  }

  /// Whether both have the same fields in the same order, and index them in the same way.
  func hasSameFields(as other: IndexDefinition) -> Bool {
    type == other.type && tokenizer == other.tokenizer
      && fields.map(\.fieldPath) == other.fields.map(\.fieldPath)
      && fields.map(\.isDescending) == other.fields.map(\.isDescending)
  }

  /// Generates a name from the definition, so that equal definitions get equal names: `age-desc_pet.species`,
  /// `unique_email`, `unicode_name`, `due_where_5d41402a`, `summary_city_of_total`, `expire_created`.
  private static func name(
    for fields: [Field], grouped: Int?, expireAfter: Double?, type: IndexType, where filter: QuerySelector?,
    isUnique: Bool, _ collation: Collation?
  ) -> String {
    let prefix =
      (type == .text ? ["text"] : []) + (isUnique ? ["unique"] : []) + (grouped == nil ? [] : ["summary"])
      + (expireAfter == nil ? [] : ["expire"]) + (collation.map { [$0.rawValue] } ?? [])
    let suffix = filter.map {
      ["where", String(Hexadecimal.text(Digest.hash($0.clause.selector.utf8Text, .md5)).prefix(8))]
    }
    var words = fields.map { $0.isDescending ? "\($0.path)-desc" : $0.path }
    if let grouped, grouped < words.count { words.insert("of", at: grouped) }
    return (prefix + words + (suffix ?? [])).joined(separator: "_")
  }
}
