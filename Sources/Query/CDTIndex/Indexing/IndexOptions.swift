public import CDTJSON

/// The options of an index.
///
/// ```swift
/// try store.ensureIndexed(["email"], .unique)
/// try store.ensureIndexed(["title"], .text(.porter))
/// try store.ensureIndexed(["city", "place"], .place)
/// try store.ensureIndexed(["due"], IndexOptions(where: ["state": "open"], unique: true))
/// ```
///
/// See <doc:QueryingDocuments#Indexes>.
public struct IndexOptions: Sendable, Hashable {
  /// A selector of the documents that the index holds; `nil` if it holds every document. Only queries whose selector implies it use
  /// the index. It has no `$text` and no `$regex`.
  public var filter: JSONObject?
  /// The tokenizer of a text index; `nil` for any other index.
  public var tokenizer: TextTokenizerName?
  /// The length of the vectors that an index of vectors holds; `nil` for any other index.
  public var vectorLength: Int?
  /// Whether a write is refused with a ``UniqueViolation`` if it would give two documents the same values. The index is also created
  /// if there are such documents; `uniqueViolations()` lists them.
  public var isUnique: Bool
  /// The collation by which the index compares strings; `nil` to compare their bytes. Queries with the same collation use it for strings.
  public var collation: Collation?
  /// The paths of the numbers that a summary sums; `nil` for any other index.
  public var sums: [String]?
  /// The time after the date in the one field from which on a document has expired, in seconds; `nil` if documents don't expire.
  public var expireAfter: Double?
  /// Whether numbers in that field are milliseconds since 1970, as of JavaScript's `Date.now()`, not seconds.
  public var isInMilliseconds: Bool
  /// Whether the last field is a place, for `$near` and `$geoWithin`.
  public var isPlace: Bool

  /// Creates the options of an index. See the properties.
  public init(
    where filter: JSONObject? = nil, text tokenizer: TextTokenizerName? = nil,
    vector vectorLength: Int? = nil, unique isUnique: Bool = false, collation: Collation? = nil,
    sums: [String]? = nil, expireAfter lifetime: Duration? = nil, milliseconds isInMilliseconds: Bool = false,
    place isPlace: Bool = false
  ) {
    self.vectorLength = vectorLength
    (self.filter, self.tokenizer, self.isUnique, self.collation) = (filter, tokenizer, isUnique, collation)
    (self.sums, expireAfter) = (sums, lifetime.map { $0 / .seconds(1) })
    (self.isInMilliseconds, self.isPlace) = (isInMilliseconds, isPlace)
  }

  /// No two documents have the same values.
  public static let unique = IndexOptions(unique: true)
  /// The last field is a place: a GeoJSON Point, or an array of a longitude and a latitude in degrees.
  ///
  /// ```swift
  /// try store.ensureIndexed(["city", "place"], .place)  // "place_city_place"
  /// ```
  ///
  /// Queries use it for `$geoWithin`, for `$near` with a `$geometry`, and for the order of these distances if the fields before the place
  /// have one value each.
  public static let place = IndexOptions(place: true)
  /// Words, for `$text`.
  public static let text = IndexOptions(text: .simple)

  /// Words, for `$text`, by a tokenizer.
  public static func text(_ tokenizer: TextTokenizerName) -> IndexOptions { IndexOptions(text: tokenizer) }

  /// Vectors of a length, for `$near` with a `$vector`.
  ///
  /// ```swift
  /// try store.ensureIndexed(["embedding"], .vector(384))  // "vector_embedding"
  /// ```
  ///
  /// The index has a code of each vector in the one field: a byte for each number. A query without a sort then reads the codes and
  /// few documents. Arrays of another length, which have no distance to such a vector, are not in the index.
  public static func vector(_ length: Int) -> IndexOptions { IndexOptions(vector: length) }

  /// Only documents that a selector matches.
  public static func `where`(_ filter: JSONObject) -> IndexOptions { IndexOptions(where: filter) }

  /// Strings compared by a collation.
  public static func collation(_ collation: Collation) -> IndexOptions { IndexOptions(collation: collation) }

  /// A summary: the index also keeps the number of documents and the sums of some values, for each combination of values of its fields.
  ///
  /// ```swift
  /// try store.ensureIndexed(["city"], .summary(of: "total"))  // "summary_city_of_total"
  /// let rows = try store.group(by: ["city"], .count(), .sum("total", as: "total"))
  /// ```
  ///
  /// Each write updates the groups of the documents that it changes. `group(by:)` then reads groups and no documents, if it groups by
  /// all of the fields or the first of them and asks for counts, sums and averages of the values, or for the least and greatest value
  /// of the first of these. Its selector may have conditions on the fields, and must imply the filter. Other queries use the summary
  /// like an index on the fields and values. Without fields, a summary has one group of all documents.
  ///
  /// See <doc:QueryingDocuments#Summaries>.
  public static func summary(of values: String...) -> IndexOptions { IndexOptions(sums: values) }

  /// Documents expire some time after the date in the one field.
  ///
  /// ```swift
  /// try store.ensureIndexed(["seen"], .expiring(after: .seconds(86_400)))
  /// ```
  ///
  /// At that time a document is left out of every read, and soon afterwards it is deleted. The date is a number of seconds since 1970,
  /// or text such as `2026-11-27T12:00:00Z`; `documentsThatNeverExpire()` counts the documents with other values. The index
  /// answers no queries, and is in force until it is deleted.
  ///
  /// See <doc:QueryingDocuments#Documents-that-expire>.
  public static func expiring(after lifetime: Duration, milliseconds: Bool = false) -> IndexOptions {
    IndexOptions(expireAfter: lifetime, milliseconds: milliseconds)
  }
}

extension IndexOptions {
  /// The content of an index, which decides what options it can have.
  package enum Kind: Sendable {
    /// Values in order.
    case values
    /// Values in order, and the sums of the groups that the leading fields make.
    case summary
    /// The times at which documents expire.
    case expiry
    /// Words.
    case text
    /// Values in order, of which the last are places.
    case place
    /// Codes of vectors.
    case vector
  }

  var kind: Kind {
    if isPlace { return .place }
    if tokenizer != nil { return .text }
    if vectorLength != nil { return .vector }
    if sums != nil { return .summary }
    return expireAfter != nil && !isUnique ? .expiry : .values
  }

  /// The names of options in JSON.
  package enum Name: String, CaseIterable, Sendable {
    case filter = "where"
    case tokenize, vector, unique, collation, sum, expireAfter, milliseconds

    /// The name in CouchDB's `_index` and in design documents.
    package var couchName: String { self == .filter ? "partial_filter_selector" : rawValue }

    /// Whether `_index` and design documents have the option for an index of a type. A view has a `value` instead of sums.
    package func isCouchDB(_ type: IndexType) -> Bool {
      switch self {
      case .filter: true
      case .tokenize: type == .text
      case .vector: type == .vector
      case .sum: false
      case .unique, .collation, .expireAfter, .milliseconds: type == .json
      }
    }

    /// The functions that write and read the option, and the kinds of index that have it.
    fileprivate var rule: Rule {
      switch self {
      case .filter:
        Rule(kinds: [.values, .summary, .expiry, .place, .vector], write: { $0.filter.map { .object($0) } }) {
          options, json throws(QueryError) in
          options.filter = try json == .null ? nil : value(json, "a selector", \.objectValue)
        }
      case .tokenize:
        Rule(kinds: [.text], write: { $0.tokenizer.map { .string($0.rawValue) } }) {
          options, json throws(QueryError) in
          options.tokenizer = json.stringValue.flatMap(TextTokenizerName.init)
          if options.tokenizer == nil { throw .unknownTokenizer(json) }
        }
      case .vector:
        Rule(kinds: [.vector], write: { $0.vectorLength.map { .int(Int64($0)) } }) {
          options, json throws(QueryError) in
          options.vectorLength = try value(json, "a whole number") {
            if case .int(let length) = $0 { Int(exactly: length) } else { nil }
          }
        }
      case .unique:
        Rule(kinds: [.values], write: { $0.isUnique ? true : nil }) { options, json throws(QueryError) in
          options.isUnique = try flag(json)
        }
      case .collation:
        Rule(kinds: [.values], write: { $0.collation.map { .string($0.rawValue) } }) {
          options, json throws(QueryError) in
          options.collation = try Collation(json: json, at: rawValue)
        }
      case .sum:
        Rule(kinds: [.summary], write: { $0.sums.map { .array($0.map { .string($0) }) } }) {
          options, json throws(QueryError) in
          options.sums = try value(json, "an array of field paths") {
            $0.arrayValue?.compactMap(\.stringValue)
          }
        }
      case .expireAfter:
        Rule(kinds: [.expiry], write: { $0.expireAfter.map { JSONValue(number: $0) } }) {
          options, json throws(QueryError) in
          options.expireAfter = try value(json, "a number of seconds", \.doubleValue)
        }
      case .milliseconds:
        Rule(kinds: [.expiry], write: { $0.isInMilliseconds ? true : nil }) {
          options, json throws(QueryError) in
          options.isInMilliseconds = try flag(json)
        }
      }
    }

    private func flag(_ json: JSONValue) throws(QueryError) -> Bool {
      try json == .null ? false : value(json, "true or false", \.boolValue)
    }

    private func value<T>(
      _ json: JSONValue, _ wanted: String, _ convert: (JSONValue) -> T?
    ) throws(QueryError) -> T {
      guard let value = convert(json) else { throw .invalidOption(self, wanted, json) }
      return value
    }
  }

  fileprivate struct Rule {
    let kinds: [Kind]
    let write: (IndexOptions) -> JSONValue?
    let read: (inout IndexOptions, JSONValue) throws(QueryError) -> Void
  }

  /// The value of an option; `nil` if it is not given.
  subscript(name: Name) -> JSONValue? { name.rule.write(self) }

  /// Throws if an option is given that an index of this kind doesn't have.
  func checkUsable() throws(QueryError) {
    for name in Name.allCases where self[name] != nil && !name.rule.kinds.contains(kind) {
      throw .unusableOption(name, of: kind)
    }
  }

  /// Values in order, words, values and a place, or vectors.
  package var type: IndexType {
    switch kind {
    case .text: .text
    case .vector: .vector
    case .place: .place
    case .values, .summary, .expiry: .json
    }
  }

  /// The options as members of the JSON of an index.
  package var json: JSONObject {
    var json: JSONObject = ["type": .string(type.rawValue)]
    for name in Name.allCases {
      if let value = self[name] { json[name.rawValue] = value }
    }
    return json
  }

  /// Reads ``json``, in which `tokenize` may also be a member of `settings`. Other members are ignored; `type` may be missing.
  package init(json: JSONObject) throws(QueryError) {
    self.init()
    let type = json["type"] ?? (json["vector"] == nil ? "json" : "vector")
    guard let type = type.stringValue.flatMap(IndexType.init) else {
      throw .unknownIndexType(type.stringValue ?? type.text)
    }
    let settings = json["tokenize"].map { ["tokenize": $0] } ?? json["settings"]?.objectValue ?? [:]
    for (key, _) in settings {
      guard type == .text else { throw .settingsOfJSONIndex(key) }
      guard key == "tokenize" else { throw .unknownSetting(key) }
    }
    if type == .text { tokenizer = .simple }
    isPlace = type == .place
    for name in Name.allCases {
      guard let value = name == .tokenize ? settings["tokenize"] : json[name.rawValue] else { continue }
      try name.rule.read(&self, value)
    }
    if type == .vector, vectorLength == nil { throw .vectorIndexWithoutLength }
    if type == .json, vectorLength != nil { throw .unusableOption(.vector, of: .values) }
  }
}

extension IndexOptions: Codable {
  /// Reads the options from members as `cdtquery index list` prints them.
  public init(from decoder: any Decoder) throws {
    try self.init(json: JSONObject(from: decoder))
  }

  /// Writes the options as members, as `cdtquery index list` prints them.
  public func encode(to encoder: any Encoder) throws {
    try json.encode(to: encoder)
  }
}
