public import CDTJSON

/// The fields of the documents of a datastore, as `Datastore.summarizeFields()` finds them.
///
/// ```swift
/// let summary = try store.summarizeFields()
/// for field in summary.fields { print(field.path, field.types.keys, field.documents) }
/// ```
public struct FieldSummary: Sendable, Hashable {
  /// The number of documents.
  public let documents: Int
  /// The fields, each behind the one that it is in, otherwise in the order in which they were found.
  public let fields: [Field]
  /// The approximate number of fields that were left out, because there are more than 1,000, or more than 200 in one object
  /// of a document, or because a path is longer than 1,024 bytes.
  public let omittedFields: Int
  /// The indexes that may help, the most selective first.
  public let proposedIndexes: [ProposedIndex]

  /// The maximum number of fields.
  package static let maximumFields = 1_000
  /// The maximum number of fields of one object below the document itself.
  package static let maximumFieldsOfObject = 200
  /// The maximum length of a path in bytes.
  package static let maximumPathLength = 1_024
  /// The maximum number of distinct values of a field that are counted one by one.
  static let maximumCounts = 100
  /// The maximum number of values in the sample of a field.
  static let maximumSample = 200

  /// A field, or the elements of an array.
  public struct Field: Sendable, Hashable {
    /// The path, as in `pet.species`; `tags[]` are the elements of the array `tags`.
    public let path: String
    /// The number of documents that have it.
    public let documents: Int
    /// The number of values of each type: `null`, `boolean`, `number`, `string`, `array`, `object`.
    public let types: [String: Int]
    /// The number of distinct values that are neither arrays nor objects.
    public let distinct: Int
    /// Whether ``distinct`` is exact. Above 500 it is an estimate with a standard error of 2.3 %.
    public let isDistinctExact: Bool
    /// The first distinct values, at most three. Long strings are cut.
    public let examples: [JSONValue]
    /// The distinct values, the most frequent first; `nil` if they are more than ``FieldSummary/maximumCounts``. Long strings are cut.
    package let counts: [ValueCount]?
    /// Values that were chosen at random, from about half of ``FieldSummary/maximumSample`` to all of it; `nil` if the values are counted,
    /// or no sample was asked for. Long strings are cut.
    package let sample: [JSONValue]?

    /// The path in a query: without the marks of arrays.
    package let queryPath: String

    /// A value and how often it occurs.
    package struct ValueCount: Sendable, Hashable {
      package let value: JSONValue
      package var count = 0
    }
  }

  /// An index that may help.
  public struct ProposedIndex: Sendable, Hashable {
    /// The field to index.
    public let field: String
    /// The reason, as a sentence.
    public let reason: String
  }

  /// The summary as `cdtquery describe --format json` prints it.
  public var json: JSONObject {
    [
      "documents": .int(Int64(documents)),
      "fields": .array(fields.map { .object($0.json) }),
      "omittedFields": .int(Int64(omittedFields)),
      "indexes": .array(proposedIndexes.map { ["field": .string($0.field), "reason": .string($0.reason)] }),
    ]
  }
}

extension FieldSummary.Field {
  var json: JSONObject {
    var counts = JSONObject()
    for name in JSONType.allCases.map(\.rawValue) { counts[name] = types[name].map { .int(Int64($0)) } }
    var json: JSONObject = [
      "path": .string(path), "documents": .int(Int64(documents)), "types": .object(counts),
      "distinct": .int(Int64(distinct)), "isDistinctExact": .bool(isDistinctExact),
      "examples": .array(examples),
    ]
    json["counts"] = self.counts.map { .array($0.map { [$0.value, .int(Int64($0.count))] }) }
    json["sample"] = sample.map { .array($0) }
    return json
  }
}

extension FieldSummary {
  /// Below this number of documents, a query without an index is fast enough.
  private static let fewDocuments = 1_000
  private static let maximumProposals = 5

  /// The indexes for fields whose values are in half of the documents or more, and each in few of them.
  static func proposals(
    for fields: [Field], of documents: Int, indexed: Set<String>
  ) -> [ProposedIndex] {
    guard documents >= fewDocuments else { return [] }
    let useful = fields.filter { field in
      let hasValues = field.types.keys.contains { ["string", "number"].contains($0) }
      return hasValues && field.documents >= documents / 2 && field.distinct >= 20
        && !indexed.contains(field.queryPath)
    }
    return useful.sorted { $0.distinct > $1.distinct }.prefix(maximumProposals).map { field in
      let share = max(1, documents / field.distinct)
      let found = share == 1 ? "a single document" : "about \(share) of \(documents) documents"
      return ProposedIndex(
        field: field.queryPath,
        reason: "a value finds \(found) on average; without an index, all are read")
    }
  }
}
