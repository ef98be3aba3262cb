import CDTDigest
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
  /// The digest of the path and the distance of an order of distances, which the text has in their place.
  private let nearness: String?

  package init(sort: SortOrder, values: [JSONValue], id: String, rank: Double? = nil) {
    self.sort = sort
    self.values = values
    self.id = id
    self.rank = rank
    nearness = sort.nearness
  }

  /// The position in a query with an order, or without one.
  ///
  /// - Throws: ``QueryError`` if it is that of another order.
  func position(in sort: SortOrder) throws(QueryError) -> Bookmark {
    if let nearness {
      guard nearness == sort.nearness else { throw QueryError(.bookmarkOfAnotherSort) }
      return Bookmark(sort: sort, values: values, id: id)
    }
    guard sort.isEmpty || self.sort == sort else { throw QueryError(.bookmarkOfAnotherSort) }
    return self
  }

  /// The bookmark as text without a meaning for users.
  public var text: String {
    var json: JSONObject = ["id": .string(id)]
    if sort.isByScore { json["score"] = rank.map { .double($0) } ?? .null }
    if let nearness {
      json["near"] = .string(nearness)
      json["values"] = .array(values)
    } else if !sort.fields.isEmpty {
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
    if case .string(let near)? = json["near"] {
      guard json.count == 3, case .array(let values)? = json["values"], values.count == 1,
        values[0].doubleValue != nil
      else { throw QueryError(.notABookmark) }
      (sort, self.values, rank, nearness) = (.byID, values, nil, near)
      return
    }
    nearness = nil
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

extension SortOrder {
  /// The digest of the path and the distance, if it is an order of distances.
  fileprivate var nearness: String? {
    distance.map { path, distance in
      let near: JSONValue = [.string(path.text), .object(NearCondition(distance: distance).json)]
      return Hexadecimal.text(Digest.hash(near.utf8Text, .md5))
    }
  }
}

extension SortOrder.Field {
  fileprivate var json: JSONValue { SortField(path.text, isDescending ? .descending : .ascending).json }
}
