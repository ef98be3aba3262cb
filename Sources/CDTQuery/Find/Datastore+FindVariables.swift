public import CDTDatastore
public import CDTJSON

// A dictionary literal with variables is not a JSONObject. These forms accept one: `find(["age": ["$gte": minimum]])`.
// If a nested dictionary has values of different types, convert it to a JSONObject, or write `.init(minimum)`.

extension ReadTransaction {
  /// Returns the documents that match a selector with variables.
  @_disfavoredOverload
  public func find(
    _ selector: KeyValuePairs<String, any JSONConvertible>, skip: Int = 0, limit: Int? = nil,
    fields: [String] = [],
    sort: [SortField] = []
  ) throws -> [DocumentRevision] {
    try find(JSONObject(selector), skip: skip, limit: limit, fields: fields, sort: sort)
  }

  /// The number of documents that match a selector with variables.
  @_disfavoredOverload
  public func count(_ selector: KeyValuePairs<String, any JSONConvertible>) throws -> Int {
    try count(JSONObject(selector))
  }

  /// Whether any document matches a selector with variables.
  @_disfavoredOverload
  public func containsDocuments(matching selector: KeyValuePairs<String, any JSONConvertible>) throws -> Bool
  {
    try containsDocuments(matching: JSONObject(selector))
  }

  /// The first document in sort order that matches a selector with variables.
  @_disfavoredOverload
  public func firstDocument(
    matching selector: KeyValuePairs<String, any JSONConvertible>, sort: [SortField] = []
  ) throws -> DocumentRevision? {
    try firstDocument(matching: JSONObject(selector), sort: sort)
  }
}

extension Datastore {
  /// Returns the documents that match a selector with variables.
  ///
  /// ```swift
  /// let adults = try store.find(["age": ["$gte": minimum], "name": name])
  /// ```
  @_disfavoredOverload
  public func find(
    _ selector: KeyValuePairs<String, any JSONConvertible>, skip: Int = 0, limit: Int? = nil,
    fields: [String] = [],
    sort: [SortField] = []
  ) throws -> [DocumentRevision] {
    try find(JSONObject(selector), skip: skip, limit: limit, fields: fields, sort: sort)
  }

  /// Returns the documents that match a selector with variables, decoded.
  @_disfavoredOverload
  public func find<T: Decodable>(
    _ type: T.Type, _ selector: KeyValuePairs<String, any JSONConvertible>, skip: Int = 0, limit: Int? = nil,
    sort: [SortField] = []
  ) throws -> [T] {
    try find(type, JSONObject(selector), skip: skip, limit: limit, sort: sort)
  }

  /// The number of documents that match a selector with variables.
  @_disfavoredOverload
  public func count(_ selector: KeyValuePairs<String, any JSONConvertible>) throws -> Int {
    try count(JSONObject(selector))
  }

  /// Whether any document matches a selector with variables.
  @_disfavoredOverload
  public func containsDocuments(matching selector: KeyValuePairs<String, any JSONConvertible>) throws -> Bool
  {
    try containsDocuments(matching: JSONObject(selector))
  }

  /// The first document in sort order that matches a selector with variables.
  @_disfavoredOverload
  public func firstDocument(
    matching selector: KeyValuePairs<String, any JSONConvertible>, sort: [SortField] = []
  ) throws -> DocumentRevision? {
    try firstDocument(matching: JSONObject(selector), sort: sort)
  }
}

extension Datastore {
  /// Returns the documents that match a selector with variables, on one of the datastore's threads.
  @_disfavoredOverload
  public func find(
    _ selector: KeyValuePairs<String, any JSONConvertible>, skip: Int = 0, limit: Int? = nil,
    fields: [String] = [],
    sort: [SortField] = []
  ) async throws -> [DocumentRevision] {
    try await find(JSONObject(selector), skip: skip, limit: limit, fields: fields, sort: sort)
  }

  /// Returns the documents that match a selector with variables, decoded.
  @_disfavoredOverload
  public func find<T: Decodable & Sendable>(
    _ type: T.Type, _ selector: KeyValuePairs<String, any JSONConvertible>, skip: Int = 0, limit: Int? = nil,
    sort: [SortField] = []
  ) async throws -> [T] {
    try await find(type, JSONObject(selector), skip: skip, limit: limit, sort: sort)
  }

  /// The number of documents that match a selector with variables.
  @_disfavoredOverload
  public func count(_ selector: KeyValuePairs<String, any JSONConvertible>) async throws -> Int {
    try await count(JSONObject(selector))
  }

  /// Whether any document matches a selector with variables.
  @_disfavoredOverload
  public func containsDocuments(
    matching selector: KeyValuePairs<String, any JSONConvertible>
  ) async throws -> Bool {
    try await containsDocuments(matching: JSONObject(selector))
  }

  /// The first document in sort order that matches a selector with variables.
  @_disfavoredOverload
  public func firstDocument(
    matching selector: KeyValuePairs<String, any JSONConvertible>, sort: [SortField] = []
  ) async throws -> DocumentRevision? {
    try await firstDocument(matching: JSONObject(selector), sort: sort)
  }
}
