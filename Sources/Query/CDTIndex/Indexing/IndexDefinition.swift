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

  /// The content of an index, and the options that only such an index has.
  package enum Kind: Sendable, Hashable {
    /// Values in order.
    case values(isUnique: Bool, Collation?)
    /// Values in order, and the sums of the groups that the leading fields make.
    case summary(groupedFields: Int)
    /// The times at which documents expire, in seconds after the date in the field.
    case expiry(after: Double, inMilliseconds: Bool)
    /// Words.
    case text(TextTokenizerName)
  }

  /// The index's name, unique in its datastore.
  public private(set) var name: String
  /// The fields, most significant first.
  public let fields: [Field]
  /// The selector of the documents that the index holds, in its canonical form; `nil` if it holds every document.
  public let filter: QuerySelector?
  package let kind: Kind
  /// The id of the design document that defines the index; `nil` if an app made it.
  public private(set) var designDocument: String?

  /// Values in order, or words.
  public var type: IndexType { if case .text = kind { .text } else { .json } }
  /// The tokenizer of a text index; `simple` and unused in other indexes.
  public var tokenizer: TextTokenizerName { if case .text(let name) = kind { name } else { .simple } }
  /// Whether a write may not give two documents the same key.
  public var isUnique: Bool { if case .values(true, _) = kind { true } else { false } }
  /// The collation by which the index compares strings; `nil` to compare their bytes.
  public var collation: Collation? { if case .values(_, let collation) = kind { collation } else { nil } }
  /// The time after the date in the field from which on a document has expired, in seconds; `nil` if documents don't expire.
  public var expireAfter: Double? { if case .expiry(let seconds, _) = kind { seconds } else { nil } }
  /// Whether a number in the field is one of milliseconds since 1970, not of seconds.
  public var expiryInMilliseconds: Bool { if case .expiry(_, true) = kind { true } else { false } }
  /// The number of leading fields whose values make the groups of a summary, which sums the numbers of the other fields; `nil` for
  /// any other index.
  public var groupedFields: Int? { if case .summary(let fields) = kind { fields } else { nil } }

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
  /// The parameters are those of `Datastore.ensureIndexed`.
  ///
  /// - Parameters:
  ///   - sums: For a summary, the paths of its last fields, whose numbers are summed.
  ///   - designDocument: The id of the design document that defines it.
  package init(
    fields: [SortField], name: String?, type: IndexType, settings: JSONObject = [:],
    where filter: JSONObject = [:], isUnique: Bool = false, collation: Collation? = nil,
    sum sums: [String]? = nil, expireAfter: Double? = nil, milliseconds isInMilliseconds: Bool = false,
    designDocument: String? = nil
  ) throws(QueryError) {
    self.designDocument = designDocument
    let fields = fields + (sums ?? []).map { SortField($0) }
    self.filter = try IndexFilter.selector(filter)
    let tokenizer = try Self.tokenizer(settings, type: type)
    kind =
      switch (type, sums, expireAfter) {
      case (.text, _, _): .text(tokenizer)
      case (_, let sums?, _): .summary(groupedFields: fields.count - sums.count)
      case (_, _, let seconds?) where !isUnique:
        .expiry(after: seconds, inMilliseconds: isInMilliseconds)
      default: .values(isUnique: isUnique, collation)
      }
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
        throw QueryError(.invalidPath(path, error), at: place)
      }
      guard seen.insert(fieldPath).inserted else { throw .indexRepeatsField(path, at: place) }
      // Words have no direction.
      parsed.append(Field(path: path, isDescending: isDescending && type == .json, fieldPath: fieldPath))
    }
    self.fields = parsed
    if let name, name.isEmpty { throw .indexWithoutName }
    self.name = name ?? Self.name(for: parsed, kind, where: self.filter)
    let given: [(Option, Bool)] = [
      (.filter, self.filter != nil), (.unique, isUnique), (.collation, collation != nil), (.sum, sums != nil),
      (.expireAfter, expireAfter != nil), (.milliseconds, isInMilliseconds),
    ]
    for (option, isGiven) in given where isGiven && value(of: option) == nil {
      throw .unusableOption(option, of: kind)
    }
    switch kind {
    case .expiry(let seconds, _):
      guard (0...Self.longestExpiry).contains(seconds) else {
        throw .invalidExpiry(seconds, most: Self.longestExpiry)
      }
      guard parsed.count == 1, !parsed[0].isDescending else { throw .unusableOption(.expireAfter, of: kind) }
    case .summary:
      for (number, field) in parsed.enumerated() where field.isDescending {
        throw .descendingSummary(field.path, at: "fields[\(number)]")
      }
    case .values, .text: break
    }
  }

  private static let longestExpiry = 1e11

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

  /// The selector of ``filter``; `nil` if the index holds every document.
  package var filterJSON: JSONObject? { filter?.clause.selector }

  /// The paths of the fields whose numbers a summary sums; `nil` for any other index.
  package var summedPaths: [String]? { groupedFields.map { fields.dropFirst($0).map(\.path) } }

  /// The name of an index in its design document; the name of any other.
  package var ownName: String {
    designDocument.flatMap { name.afterBytePrefix("\($0)/").map { String($0) } } ?? name
  }

  /// The same definition as a member of a design document.
  package func named(_ name: String, in designDocument: String) -> IndexDefinition {
    var definition = self
    (definition.name, definition.designDocument) = (name, designDocument)
    return definition
  }

  /// Whether both define the same index, ignoring the name.
  package func isSame(as other: IndexDefinition) -> Bool {
    hasSameFields(as: other) && kind == other.kind
      && filterJSON?.utf8Text == other.filterJSON?.utf8Text
  }

  /// Whether both have the same fields in the same order, and index them in the same way.
  func hasSameFields(as other: IndexDefinition) -> Bool {
    type == other.type && tokenizer == other.tokenizer
      && fields.map(\.fieldPath) == other.fields.map(\.fieldPath)
      && fields.map(\.isDescending) == other.fields.map(\.isDescending)
  }

  /// Generates a name from the definition, so that equal definitions get equal names: `age-desc_pet.species`,
  /// `unique_email`, `unicode_name`, `due_where_5d41402a`, `summary_city_of_total`, `expire_created`.
  private static func name(for fields: [Field], _ kind: Kind, where filter: QuerySelector?) -> String {
    var words = fields.map { $0.isDescending ? "\($0.path)-desc" : $0.path }
    switch kind {
    case .values(let isUnique, let collation):
      words = (isUnique ? ["unique"] : []) + (collation.map { [$0.rawValue] } ?? []) + words
    case .summary(let grouped):
      if grouped < words.count { words.insert("of", at: grouped) }
      words.insert("summary", at: 0)
    case .expiry: words.insert("expire", at: 0)
    case .text: words.insert("text", at: 0)
    }
    if let filter {
      words += [
        "where", String(Hexadecimal.text(Digest.hash(filter.clause.selector.utf8Text, .md5)).prefix(8)),
      ]
    }
    return words.joined(separator: "_")
  }
}

// MARK: JSON

extension IndexDefinition {
  /// The options of an index by their names in JSON.
  package enum Option: String, CaseIterable, Sendable {
    case filter = "where"
    case tokenize, unique, collation, expireAfter, milliseconds, sum

    /// The name in CouchDB's `_index` and in design documents.
    package var couchName: String { self == .filter ? "partial_filter_selector" : rawValue }

    /// Whether `_index` and design documents have the option for an index of a type. A view has a `value` instead of sums.
    package func isCouchDB(_ type: IndexType) -> Bool {
      self == .filter || self != .sum && (self == .tokenize) == (type == .text)
    }
  }

  /// The value of an option; `nil` if the index doesn't have it.
  private func value(of option: Option) -> JSONValue? {
    switch (option, kind) {
    case (.filter, .values), (.filter, .summary), (.filter, .expiry): filterJSON.map { .object($0) }
    case (.tokenize, .text(let tokenizer)): .string(tokenizer.rawValue)
    case (.unique, .values(true, _)): true
    case (.collation, .values(_, let collation?)): .string(collation.rawValue)
    case (.expireAfter, .expiry(let seconds, _)): JSONValue(number: seconds)
    case (.milliseconds, .expiry(_, true)): true
    case (.sum, .summary): .array((summedPaths ?? []).map { .string($0) })
    default: nil
    }
  }

  /// The definition as index files, the file of definitions, backups and `cdtquery index list` have it.
  ///
  /// ```json
  /// {"name": "by_age", "type": "json", "fields": ["name", {"age": "desc"}], "where": {"left": {"$exists": false}}}
  /// ```
  package var json: JSONObject {
    var json: JSONObject = [
      "name": .string(name), "type": .string(type.rawValue), "fields": fieldsJSON,
    ]
    if type == .text { json["settings"] = .object(settings) }
    for (name, value) in options { json[name] = value }
    return json
  }

  /// The settings of a text index.
  package var settings: JSONObject { value(of: .tokenize).map { ["tokenize": $0] } ?? [:] }

  /// The other options, and the design document.
  package var options: JSONObject {
    var options = JSONObject()
    for option in Option.allCases where option != .tokenize {
      if let value = value(of: option) { options[option.rawValue] = value }
    }
    if let designDocument { options["ddoc"] = .string(designDocument) }
    return options
  }

  /// Reads ``json``, in which `tokenize` may also be beside the other options. Other members are ignored; `name` and `type` may be missing.
  package init(json: JSONObject) throws(QueryError) {
    func read<T>(_ option: Option, _ wanted: String, _ value: (JSONValue) -> T?) throws(QueryError) -> T? {
      guard let json = json[option.rawValue] else { return nil }
      guard let value = value(json) else { throw .invalidOption(option, wanted, json) }
      return value
    }
    let type = json["type"] ?? "json"
    guard let type = type.stringValue.flatMap(IndexType.init) else {
      throw .unknownIndexType(type.stringValue ?? type.text)
    }
    let sums = try read(.sum, "an array of field paths") { $0.arrayValue?.compactMap(\.stringValue) }
    try self.init(
      fields: SortField.fields((json["fields"]?.arrayValue ?? []).dropLast(sums?.count ?? 0), at: "fields"),
      name: json["name"]?.stringValue, type: type,
      settings: json["tokenize"].map { ["tokenize": $0] } ?? json["settings"]?.objectValue ?? [:],
      where: read(.filter, "a selector") { $0 == .null ? [:] : $0.objectValue } ?? [:],
      isUnique: read(.unique, "true or false") { $0 == .null ? false : $0.boolValue } ?? false,
      collation: Collation(json: json["collation"], at: "collation"), sum: sums,
      expireAfter: read(.expireAfter, "a number of seconds", \.doubleValue),
      milliseconds: read(.milliseconds, "true or false") { $0 == .null ? false : $0.boolValue } ?? false,
      designDocument: json["ddoc"]?.stringValue)
  }
}
