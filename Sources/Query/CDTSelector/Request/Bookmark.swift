package import CDTJSON
import CDTPlatform

/// A position in the results of a query, from which the next page continues.
///
/// ```swift
/// var query = try Query(["species": "cat"], sort: ["name"])
/// query.limit = 10
/// let page = try store.results(for: query)
/// let cats = try page.documents()
/// query.bookmark = try page.bookmark()
/// let next = try store.read { try $0.find(query) }
/// ```
///
/// To read the page before one, set ``Query/isBackward`` and use the bookmark of its first document:
///
/// ```swift
/// query.bookmark = try page.firstBookmark()
/// query.isBackward = true
/// let previous = try store.read { try $0.find(query) }
/// ```
///
/// It holds what the document is sorted by, not its number, so a page begins after this document, or ends before it, also if
/// documents were written or indexes were changed in the meantime. Without a sort it also holds the order of the results,
/// which the next page has too.
///
/// See <doc:QueryingDocuments#Pages>.
public struct Bookmark: Sendable, Hashable {
  /// The order of the results.
  package let sort: SortOrder
  /// The values of the document for the fields of the order.
  package let values: [JSONValue]
  /// The id of the document.
  package let id: String
  /// Its score in an order of scores, if it had one.
  package let rank: Double?

  package init(sort: SortOrder, values: [JSONValue], id: String, rank: Double? = nil) {
    self.sort = sort
    self.values = values
    self.id = id
    self.rank = rank
  }

  /// The bookmark as text without a meaning for users.
  public var text: String {
    var json: JSONObject = ["id": .string(id)]
    if sort.isByScore { json["score"] = rank.map { .double($0) } ?? .null }
    if !sort.fields.isEmpty {
      json["sort"] = .array(sort.fields.map(\.json))
      json["values"] = .array(values)
    }
    if let collation = sort.collation { json["collation"] = .string(collation.rawValue) }
    return Data(json.utf8Text).base64EncodedString()
  }

  /// Creates a bookmark from its text.
  ///
  /// - Throws: ``QueryError`` with the code `.invalidRequest` if the text is not that of a bookmark.
  public init(_ text: String) throws(QueryError) {
    guard let data = Data(base64Encoded: text), var json = try? JSONObject(parsing: Array(data)),
      case .string(let id)? = json["id"]
    else { throw QueryError(.notABookmark) }
    let collation: Collation?
    do {
      collation = try Collation(json: json.removeValue(forKey: "collation"), at: "bookmark")
    } catch {
      throw QueryError(.notABookmark)
    }
    self.id = id
    switch (json["score"], json["sort"], json["values"], json.count) {
    case (nil, nil, nil, 1):
      (sort, values, rank) = (.byID, [], nil)
    case (let score?, nil, nil, 2):
      guard score == .null || score.doubleValue != nil else { throw QueryError(.notABookmark) }
      (sort, values, rank) = (SortOrder(fields: [], isByScore: true), [], score.doubleValue)
    case (nil, .array(let clauses)?, .array(let values)?, 3):
      guard !clauses.isEmpty, clauses.count == values.count, clauses.count <= Query.maximumSortFields,
        let fields = try? SortOrder.fields(SortField.fields(clauses, at: "bookmark"))
      else { throw QueryError(.notABookmark) }
      (sort, self.values, rank) = (SortOrder(fields: fields, collation: collation), values, nil)
    default: throw QueryError(.notABookmark)
    }
  }
}

extension SortOrder.Field {
  fileprivate var json: JSONValue { SortField(path.text, isDescending ? .descending : .ascending).json }
}
