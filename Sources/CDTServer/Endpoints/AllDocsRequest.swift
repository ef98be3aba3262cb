import CDTDatastore
import CDTJSON
import CouchDB

/// What `_all_docs` and `_design_docs` list.
struct AllDocsRequest: Sendable {
  let options: ListOptions
  let onlyDesign: Bool

  // MARK: Ranges

  /// Every document that the resource lists. `0` is the character after `/`.
  var wholeRange: DocumentRange {
    onlyDesign
      ? DocumentRange(from: .init(DocumentID.designPrefix), to: .init("_design0", isIncluded: false))
      : DocumentRange()
  }

  /// The wanted documents; `nil` if there can be none.
  var range: DocumentRange? {
    var range = wholeRange
    range.isDescending = options.isDescending
    switch options.lower {
    case nil, (.before, _)?: break
    case (.after, _)?: return nil
    case (.id(let id), let isIncluded)?:
      if range.lower.map({ $0.id.precedes(id) }) ?? true { range.lower = .init(id, isIncluded: isIncluded) }
    }
    switch options.upper {
    case nil, (.after, _)?: break
    case (.before, _)?: return nil
    case (.id(let id), let isIncluded)?:
      if range.upper.map({ id.precedes($0.id) }) ?? true { range.upper = .init(id, isIncluded: isIncluded) }
    }
    return range
  }

  /// The documents that come before the first key; `nil` without one.
  var rangeBefore: DocumentRange? {
    guard options.keys == nil, case .id(let id)? = options.start else { return nil }
    var range = wholeRange
    if options.isDescending {
      range.lower = .init(id, isIncluded: false)
    } else {
      range.upper = .init(id, isIncluded: false)
    }
    return range
  }

  // MARK: Rows

  struct Page: Sendable {
    /// The rows, a comma before each. They are one piece of memory, as many clients may read slowly.
    private(set) var text: [UInt8] = []
    private(set) var count = 0
    private(set) var lastID: String?

    var isLong: Bool { text.count >= ReplyStream.pageLength }

    fileprivate mutating func append(_ row: [UInt8], id: String? = nil) {
      text += ",\n".utf8
      text += row
      count += 1
      lastID = id
    }
  }

  func rows(in range: DocumentRange, offset: Int, limit: Int, _ transaction: ReadTransaction) throws -> Page {
    var page = Page()
    if options.includesDocuments {
      let text = DocumentText(transaction, options.documents)
      try transaction.forEachDocument(in: range, offset: offset, limit: limit) { document in
        page.append(
          Self.row(document.id, document.revisionID, document: try text.text(of: document)), id: document.id)
        return !page.isLong
      }
    } else {
      for entry in try transaction.documentEntries(in: range, offset: offset, limit: limit) {
        page.append(Self.row(entry.id, entry.revisionID), id: entry.id)
      }
    }
    return page
  }

  /// The rows of given keys, or of the first of them, in their order; also of documents that do not exist or are deleted.
  func rows(for keys: ArraySlice<JSONValue>, in transaction: ReadTransaction) throws -> Page {
    var page = Page()
    for key in keys where !page.isLong { page.append(try row(for: key, transaction)) }
    return page
  }

  private func row(for key: JSONValue, _ transaction: ReadTransaction) throws -> [UInt8] {
    let text = DocumentText(transaction, options.documents)
    guard case .string(let id) = key else { return Self.missingRow(key) }
    guard let entry = try transaction.entry(ofDocument: id) else {
      // As at CouchDB, a local document that is named is listed.
      return try LocalDocumentEndpoint.row(id, withDocument: options.includesDocuments, transaction)
        ?? Self.missingRow(key)
    }
    guard options.includesDocuments else {
      return Self.row(id, entry.revisionID, isDeleted: entry.isDeleted)
    }
    guard !entry.isDeleted, let document = try transaction.documents(withIDs: [id]).first else {
      return Self.row(id, entry.revisionID, isDeleted: true, document: Array("null".utf8))
    }
    return Self.row(id, entry.revisionID, document: try text.text(of: document))
  }

  static func missingRow(_ key: JSONValue) -> [UInt8] {
    Array(#"{"key":\#(key.text),"error":"not_found"}"#.utf8)
  }

  private static func row(
    _ id: String, _ revision: RevisionID, isDeleted: Bool = false, document: [UInt8]? = nil
  ) -> [UInt8] {
    let spelled = JSONString.quoted(id)
    var row: [UInt8] = Array(#"{"id":"#.utf8) + spelled + #","key":"#.utf8 + spelled
    row += #","value":{"rev":"\#(revision)""#.utf8
    row += isDeleted ? #","deleted":true}"#.utf8 : "}".utf8
    if let document { row += Array(#","doc":"#.utf8) + document }
    row.append(UInt8(ascii: "}"))
    return row
  }
}
