public import CDTJSON

/// A query whose results are not documents but groups of them: one row for each combination of values of some fields, with counts,
/// sums, averages, and the least and greatest values.
///
/// ```swift
/// let query = try GroupQuery(
///   Query(["type": "order"], limit: 10, sort: [.descending("total")]),
///   by: ["city"], [.count(as: "orders"), .sum("amount", as: "total")], having: ["orders": ["$gte": 2]])
/// let rows = try store.read { try $0.group(query) }  // [{"city": "Bern", "orders": 3, "total": 70.5}]
/// ```
///
/// A row is a JSON object: the fields under their paths, nested as in a document, then the aggregates under their names. The selector
/// of ``query`` selects the documents; its ``Query/sort``, ``Query/skip`` and ``Query/limit`` are those of the rows.
///
/// See <doc:QueryingDocuments#Groups>.
public struct GroupQuery: Sendable, Hashable {
  /// The maximum number of fields, and of aggregates.
  package static let maximumFields = 32

  /// The documents, and the order and page of the rows. Rows are ordered by the fields unless there is a sort.
  public var query: Query

  /// The paths of the fields whose values make the groups; without fields, all documents are one group.
  public var fields: [String]

  /// The values that are computed for each group.
  public var aggregates: [Aggregate]

  /// The path of an array: each of its elements is grouped as if the document had this element in its place. A value that is not an
  /// array is grouped once; a document without the field, or with an empty array, is not.
  public var unwind: String?

  /// The condition on the rows.
  public var having: QuerySelector

  /// The names of the rows' members for the fields; `nil` if a row has them under their paths.
  let names: [String]?

  /// Creates a query for groups.
  ///
  /// - Parameters:
  ///   - query: The documents, and the sort, skip and limit of the rows; `nil` for every document.
  ///   - fields: The paths of the fields whose values make the groups.
  ///   - aggregates: The values to compute for each group.
  ///   - unwind: The path of an array whose elements are grouped one by one.
  ///   - having: The selector of the rows.
  /// - Throws: ``QueryError`` with the path of the invalid part, such as `by[0]` or `aggregates.total`.
  public init(
    _ query: Query? = nil, by fields: [String], _ aggregates: [Aggregate] = [],
    unwind: String? = nil, having: JSONObject = [:]
  ) throws(QueryError) {
    let rows: QuerySelector
    do {
      rows = try QuerySelector(having)
    } catch {
      throw error.below("having")
    }
    try self.init(query, by: fields, named: nil, aggregates, unwind: unwind, having: rows)
  }

  init(
    _ query: Query?, by fields: [String], named names: [String]?, _ aggregates: [Aggregate],
    unwind: String? = nil, having: QuerySelector
  ) throws(QueryError) {
    self.query = query ?? Query(QuerySelector(clause: .always))
    (self.fields, self.names, self.aggregates) = (fields, names, aggregates)
    (self.unwind, self.having) = (unwind, having)
    _ = try ResolvedGroups(self)
  }
}

extension GroupQuery {
  /// Creates a query for the distinct values of a field.
  package init(distinct path: String, _ query: Query?) throws(QueryError) {
    let isArray = (try? FieldPath(path))?.documentField == nil
    try self.init(query, by: [path], unwind: isArray ? path : nil)
  }

  /// The values of the first field in rows.
  package func values(of rows: [JSONObject]) -> [JSONValue] {
    let segments = fields.first.flatMap { try? FieldPath($0) }?.segments ?? []
    let names = segments.map { String(decoding: $0.name, as: UTF8.self) }
    return rows.map { row in
      names.reduce(JSONValue.object(row)) { value, name in value.objectValue?[name] ?? .null }
    }
  }
}

extension GroupQuery {
  /// A value that is computed of the documents of a group.
  ///
  /// Sums and averages are of the numbers at a path, and ignore other values. They are computed without rounding, and rounded once at
  /// their end. So they don't depend on the order of the documents.
  public struct Aggregate: Sendable, Hashable {
    package enum Function: String, Sendable, CaseIterable {
      case count, sum, average = "avg", minimum = "min", maximum = "max"

      /// As in a request.
      package var name: String { "$\(rawValue)" }
    }

    /// The name of the row's member.
    public let name: String
    package let function: Function
    /// The path of the values; `nil` for a count.
    package let path: String?

    package init(_ function: Function, of path: String?, as name: String) {
      self.function = function
      self.path = path
      self.name = name
    }

    /// The number of documents, or of elements if an array is unwound.
    public static func count(as name: String = "count") -> Aggregate {
      Aggregate(.count, of: nil, as: name)
    }

    /// The sum of the numbers at a path, 0 if there are none.
    ///
    /// If all of them are 64-bit integers, it is exact, also beyond 64 bits. Otherwise it is the double nearest to the exact sum, or
    /// null beyond the range of a double.
    public static func sum(_ path: String, as name: String) -> Aggregate {
      Aggregate(.sum, of: path, as: name)
    }

    /// The double nearest to the average of the numbers at a path, null if there are none.
    public static func average(_ path: String, as name: String) -> Aggregate {
      Aggregate(.average, of: path, as: name)
    }

    /// The least value at a path in the order of values, null if there is none but null.
    public static func minimum(_ path: String, as name: String) -> Aggregate {
      Aggregate(.minimum, of: path, as: name)
    }

    /// The greatest value at a path in the order of values, null if there is none but null.
    public static func maximum(_ path: String, as name: String) -> Aggregate {
      Aggregate(.maximum, of: path, as: name)
    }
  }
}
