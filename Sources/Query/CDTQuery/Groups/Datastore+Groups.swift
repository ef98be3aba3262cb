public import CDTDatastore
public import CDTJSON

extension ReadTransaction {
  /// Returns the rows of a query for groups.
  ///
  /// ```swift
  /// let cities = try store.read { try $0.group(GroupQuery(by: ["city"], [.count(as: "people")])) }
  /// ```
  ///
  /// - Returns: The rows in the order of the query's sort; ties, and rows without a sort, in that of the values of its fields.
  /// - Throws: ``QueryError`` for an invalid query, before it runs; `DatastoreError`.
  /// - Complexity: O(*n*) in the index rows, if an index has every field and decides the selector; otherwise each candidate is read.
  ///   The memory of groups is limited like that of a sort; the rows that are returned are not.
  ///
  /// See <doc:QueryingDocuments#Groups>.
  public func group(_ query: GroupQuery) throws -> [JSONObject] {
    try QueryEngine(self).groups(query)
  }

  /// Returns the rows of a query for groups, decoded.
  ///
  /// - Throws: The errors of `group`; ``QueryError`` with the code `.undecodable` and the row that does not fit the type.
  public func group<Row: Decodable>(_ type: Row.Type, _ query: GroupQuery) throws -> [Row] {
    try group(query).map { try $0.decodeRow(type) }
  }

  /// Returns the distinct values of a field in the documents that match a query, in the order of values.
  ///
  /// Each element of an array is a value. A missing field has none; null is one.
  public func distinct(_ path: String, _ query: Query? = nil) throws -> [JSONValue] {
    let query = try GroupQuery(distinct: path, query)
    return query.values(of: try group(query))
  }
}

extension JSONObject {
  func decodeRow<Row: Decodable>(_ type: Row.Type) throws -> Row {
    do {
      return try decode(type)
    } catch let error as DecodingError {
      throw QueryError(.undecodableRow(self, type, error.text))
    }
  }
}

extension Datastore {
  /// Returns one row for each combination of values of some fields.
  ///
  /// ```swift
  /// let rows = try store.group(
  ///   by: ["city"], .count(as: "orders"), .sum("amount", as: "total"),
  ///   where: ["type": "order"], having: ["orders": ["$gte": 2]], sort: [.descending("total")], limit: 10)
  /// for row in rows { print(row.text) }  // {"city":"Bonn","orders":2,"total":30}
  /// ```
  ///
  /// - Parameters:
  ///   - fields: The paths of the fields; without fields, all documents are one group.
  ///   - aggregates: The values to compute for each group.
  ///   - selector: The selector of the documents.
  ///   - unwind: The path of an array whose elements are grouped one by one.
  ///   - having: The selector of the rows.
  ///   - sort: The order of the rows. Without one, they are in the order of their fields.
  ///   - skip: The number of rows to skip.
  ///   - limit: The maximum number of rows, or `nil` for all.
  /// - Throws: ``QueryError`` with the path of an invalid part, before the query runs; `DatastoreError`.
  /// - Complexity: O(*n*) in the index rows, if an index has every field and decides the selector; otherwise each candidate is read.
  ///
  /// See <doc:QueryingDocuments#Groups>.
  public func group(
    by fields: [String], _ aggregates: GroupQuery.Aggregate..., where selector: JSONObject = [:],
    unwind: String? = nil, having: JSONObject = [:], sort: [SortField] = [], skip: Int = 0, limit: Int? = nil
  ) throws -> [JSONObject] {
    let documents = try Query(selector, skip: skip, limit: limit, sort: sort)
    let query = try GroupQuery(documents, by: fields, aggregates, unwind: unwind, having: having)
    return try readForQuery { try $0.group(query) }
  }

  /// Returns one row for each combination of values of some fields, on one of the datastore's threads.
  public func group(
    by fields: [String], _ aggregates: GroupQuery.Aggregate..., where selector: JSONObject = [:],
    unwind: String? = nil, having: JSONObject = [:], sort: [SortField] = [], skip: Int = 0, limit: Int? = nil
  ) async throws -> [JSONObject] {
    let documents = try Query(selector, skip: skip, limit: limit, sort: sort)
    let query = try GroupQuery(documents, by: fields, aggregates, unwind: unwind, having: having)
    return try await readForQuery { try $0.group(query) }
  }

  /// Returns one row for each combination of values of some fields, decoded.
  ///
  /// ```swift
  /// struct City: Decodable { var city: String?, orders: Int, total: Double }
  /// let cities = try store.group(City.self, by: ["city"], .count(as: "orders"), .sum("amount", as: "total"))
  /// ```
  ///
  /// - Throws: The errors of `group`; ``QueryError`` with the code `.undecodable` and the row that does not fit the type.
  public func group<Row: Decodable>(
    _ type: Row.Type, by fields: [String], _ aggregates: GroupQuery.Aggregate...,
    where selector: JSONObject = [:], unwind: String? = nil, having: JSONObject = [:], sort: [SortField] = [],
    skip: Int = 0, limit: Int? = nil
  ) throws -> [Row] {
    let documents = try Query(selector, skip: skip, limit: limit, sort: sort)
    let query = try GroupQuery(documents, by: fields, aggregates, unwind: unwind, having: having)
    return try readForQuery { try $0.group(type, query) }
  }

  /// Returns one row for each combination of values of some fields, computed on one of the datastore's threads and decoded where it is
  /// called.
  nonisolated(nonsending) public func group<Row: Decodable>(
    _ type: Row.Type, by fields: [String], _ aggregates: GroupQuery.Aggregate...,
    where selector: JSONObject = [:], unwind: String? = nil, having: JSONObject = [:], sort: [SortField] = [],
    skip: Int = 0, limit: Int? = nil
  ) async throws -> [Row] {
    let documents = try Query(selector, skip: skip, limit: limit, sort: sort)
    let query = try GroupQuery(documents, by: fields, aggregates, unwind: unwind, having: having)
    return try await readForQuery { try $0.group(query) }.map { try $0.decodeRow(type) }
  }

  /// Returns the distinct values of a field, in the order of values.
  ///
  /// ```swift
  /// let cities = try store.distinct("city", where: ["type": "order"])
  /// ```
  ///
  /// Each element of an array is a value. A missing field has none; null is one.
  ///
  /// - Throws: ``QueryError`` for an invalid path or selector, before the query runs; `DatastoreError`.
  public func distinct(_ path: String, where selector: JSONObject = [:]) throws -> [JSONValue] {
    let query = try Query(selector)
    return try readForQuery { try $0.distinct(path, query) }
  }

  /// Returns the distinct values of a field, on one of the datastore's threads.
  public func distinct(_ path: String, where selector: JSONObject = [:]) async throws -> [JSONValue] {
    let query = try Query(selector)
    return try await readForQuery { try $0.distinct(path, query) }
  }
}
