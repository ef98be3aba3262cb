import CDTJSON

/// A view of a design document that names fields in place of a function, and a function of CouchDB that reduces.
///
/// ```json
/// {"map": {"fields": {"city": "asc"}, "value": "total"}, "reduce": "_sum"}
/// ```
///
/// It has a row for each document with all of the fields and the value, design documents excepted. The key of a row is the value of the
/// field, or the array of those of several fields. Its summary has the groups.
package struct DesignView: Sendable {
  package enum Reduce: String, Sendable {
    case count = "_count"
    case sum = "_sum"
    case statistics = "_stats"
  }

  package let summary: IndexDefinition
  package let reduce: Reduce

  /// The number of fields of a key.
  package var fields: Int { summary.groupedFields ?? 0 }

  /// - Returns: `nil` if the member of `views` is an ordinary index: one that `_index` made, which CouchDB writes with
  ///   `options.def`, or one without a function that reduces.
  static func reduce(of view: JSONValue) -> Reduce? {
    guard view["options"]?["def"] == nil else { return nil }
    return view["reduce"]?.stringValue.flatMap(Reduce.init)
  }

  /// The selector of the documents that a view holds.
  static func filter(_ paths: [String], and partial: JSONValue) -> JSONObject {
    let exists: JSONValue = ["$exists": true]
    let present = paths.map { JSONValue.object(JSONObject([($0, exists)])) }
    return ["$and": .array(present + ([.null, [:]].contains(partial) ? [] : [partial]))]
  }

  /// The paths of the value: none for counts, if none is named.
  static func value(_ map: JSONValue?, _ reduce: Reduce) throws(QueryError) -> [String] {
    switch map?["value"] {
    case .string(let path)?: return [path]
    case nil where reduce == .count: return []
    case nil: throw QueryError(.viewWithoutValue(reduce.rawValue))
    case let other?: throw QueryError(.invalidGroup(other, "the path of a field"), at: "map.value")
    }
  }
}
