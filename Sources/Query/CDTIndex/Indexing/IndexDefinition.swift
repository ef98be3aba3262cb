import CDTDigest
package import CDTJSON
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
  public private(set) var name: String
  /// The fields, most significant first.
  public let fields: [Field]
  /// The selector of the documents that the index holds, in its canonical form; `nil` if it holds every document.
  public let filter: QuerySelector?
  /// The options, with the filter in its canonical form.
  public let options: IndexOptions
  /// The id of the design document that defines the index; `nil` if an app made it.
  public private(set) var designDocument: String?

  /// Values in order, words, values and a place, or vectors.
  public var type: IndexType { options.type }
  /// The collation by which the index compares strings; `nil` to compare their bytes.
  package var collation: Collation? { options.collation }
  /// The number of leading fields whose values make the groups of a summary, which sums the numbers of the other fields; `nil` for
  /// any other index.
  package var groupedFields: Int? { options.sums.map { fields.count - $0.count } }

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
  /// Values in order, of which the last are places: for `$near` and `$geoWithin`.
  case place
  /// Vectors, for `$near` with a `$vector`.
  case vector

  /// Whether the rows have the values in order.
  package var isOrdered: Bool { self == .json || self == .place }
}

extension IndexDefinition {
  /// The maximum number of fields of an index.
  package static let maximumFields = 32

  /// Validates a definition given by the user.
  ///
  /// - Parameters:
  ///   - fields: The fields without the sums of a summary.
  ///   - name: A name, or `nil` to generate one.
  ///   - designDocument: The id of the design document that defines it.
  package init(
    fields: [SortField], name: String? = nil, _ options: IndexOptions = .init(), designDocument: String? = nil
  ) throws(QueryError) {
    self.designDocument = designDocument
    let fields = fields + (options.sums ?? []).map { SortField($0) }
    filter = try IndexFilter.selector(options.filter ?? [:])
    var options = options
    options.filter = filter?.clause.selector
    self.options = options
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
      // Words and vectors have no direction.
      parsed.append(
        Field(path: path, isDescending: isDescending && options.type.isOrdered, fieldPath: fieldPath))
    }
    if options.isPlace, let place = parsed.popLast() {
      let position = "fields[\(parsed.count)]"
      guard !place.isDescending else { throw .descendingPlace(place.path, at: position) }
      guard place.fieldPath.documentField == nil else { throw .distanceOfDocument(place.path, at: position) }
      parsed.append(Field(path: place.path, isDescending: false, fieldPath: place.fieldPath.cells))
    }
    self.fields = parsed
    if let name, name.isEmpty { throw .indexWithoutName }
    self.name = name ?? Self.name(for: parsed, options)
    try options.checkUsable()
    try checkVectors()
    if let seconds = options.expireAfter {
      guard (0...Self.longestExpiry).contains(seconds) else {
        throw .invalidExpiry(seconds, most: Self.longestExpiry)
      }
      guard parsed.count == 1, !parsed[0].isDescending else {
        throw .unusableOption(.expireAfter, of: options.kind)
      }
    }
    if options.sums != nil {
      for (number, field) in parsed.enumerated() where field.isDescending {
        throw .descendingSummary(field.path, at: "fields[\(number)]")
      }
    }
  }

  private static let longestExpiry = 1e11

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
    hasSameFields(as: other) && options.json.utf8Text == other.options.json.utf8Text
  }

  /// Whether both have the same fields in the same order, and index them in the same way.
  func hasSameFields(as other: IndexDefinition) -> Bool {
    options.tokenizer == other.options.tokenizer
      && fields.map(\.fieldPath) == other.fields.map(\.fieldPath)
      && fields.map(\.isDescending) == other.fields.map(\.isDescending)
  }

  /// Generates a name from the definition, so that equal definitions get equal names: `age-desc_pet.species`,
  /// `unique_email`, `unicode_name`, `due_where_5d41402a`, `summary_city_of_total`, `expire_created`.
  private static func name(for fields: [Field], _ options: IndexOptions) -> String {
    var words = fields.map { $0.isDescending ? "\($0.path)-desc" : $0.path }
    switch options.kind {
    case .values:
      words = (options.isUnique ? ["unique"] : []) + (options.collation.map { [$0.rawValue] } ?? []) + words
    case .summary:
      if let sums = options.sums, !sums.isEmpty { words.insert("of", at: words.count - sums.count) }
      words.insert("summary", at: 0)
    case .expiry: words.insert("expire", at: 0)
    case .text: words.insert("text", at: 0)
    case .place: words.insert("place", at: 0)
    case .vector: words.insert("vector", at: 0)
    }
    if let filter = options.filter {
      words += ["where", String(Hexadecimal.text(Digest.hash(filter.utf8Text, .md5)).prefix(8))]
    }
    return words.joined(separator: "_")
  }
}

// MARK: JSON

extension IndexDefinition {
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
    for (name, value) in otherOptions { json[name] = value }
    return json
  }

  /// The settings of a text index.
  package var settings: JSONObject { options[.tokenize].map { ["tokenize": $0] } ?? [:] }

  /// The other options, and the design document.
  package var otherOptions: JSONObject {
    var json = options.json
    (json["type"], json[IndexOptions.Name.tokenize.rawValue]) = (nil, nil)
    if let designDocument { json["ddoc"] = .string(designDocument) }
    return json
  }

  /// Reads ``json``, in which `tokenize` may also be beside the other options. Other members are ignored; `name` and `type` may be missing.
  package init(json: JSONObject) throws(QueryError) {
    let options = try IndexOptions(json: json)
    try self.init(
      fields: SortField.fields(
        (json["fields"]?.arrayValue ?? []).dropLast(options.sums?.count ?? 0), at: "fields"),
      name: json["name"]?.stringValue, options, designDocument: json["ddoc"]?.stringValue)
  }
}
