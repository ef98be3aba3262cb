import CDTDatastore
import CDTJSON
import CDTPlatform

/// An object that CouchDB or one of its tools writes around documents, or beside them.
///
/// ```
/// {"docs": [{…}], "new_edits": false}       _bulk_docs, the reply of _find, a line of pouchdb-dump
/// {"total_rows": 2, "rows": [{"doc": {…}}]} the reply of _all_docs?include_docs=true
/// {"results": [{"doc": {…}}], "last_seq": …} the reply of _changes?include_docs=true
/// {"version": …, "db_info": {…}}            the first line of pouchdb-dump
/// {"name": "@cloudant/couchbackup", …}      the first line of couchbackup
/// {"seq": 2}                                a line of pouchdb-dump
/// ```
enum CouchWrapper: Equatable {
  case docs, rows, changes, pouchHeader, backupHeader, sequence

  /// The text can be a document, too.
  struct Doubt: Error {
    let message: String
  }

  /// The member with the documents.
  var array: String? {
    switch self {
    case .docs: "docs"
    case .rows: "rows"
    case .changes: "results"
    case .pouchHeader, .backupHeader, .sequence: nil
    }
  }

  /// The members that may stand beside the documents.
  private var companions: Set<String> {
    switch self {
    case .docs: ["new_edits", "w", "bookmark", "warning", "execution_stats"]
    case .rows: ["total_rows", "offset", "update_seq"]
    case .changes: ["last_seq", "pending"]
    case .pouchHeader, .backupHeader, .sequence: []
    }
  }

  private static let arrays: [CouchWrapper] = [.docs, .rows, .changes]
  private static let firstNames: Set<String> = [
    "docs", "new_edits", "w", "bookmark", "warning", "execution_stats", "rows", "total_rows", "offset",
    "update_seq",
    "results", "last_seq", "pending", "version", "db_type", "start_time", "db_info", "name", "mode",
    "attachments",
    "seq",
  ]

  /// Whether an object begins with a member that no wrapper has.
  static func isExcluded(_ text: UnsafeRawBufferPointer) -> Bool {
    let text = JSONBytes(text)
    var members = text.members(at: 0)
    guard let first = members.next() else { return false }
    return !firstNames.contains(text.string(at: first.keyStart - 1))
  }

  /// - Parameters:
  ///   - text: The object, or its beginning.
  ///   - isForced: Whether other members beside the documents are ignored.
  /// - Returns: `nil` for a document.
  init?(_ text: UnsafeRawBufferPointer, isWhole: Bool, isForced: Bool) throws(Doubt) {
    if Self.isExcluded(text), !isForced { return nil }
    let text = JSONBytes(text)
    var names: [String] = []
    var found: CouchWrapper?
    var members = text.members(at: 0)
    while let member = members.next() {
      let name = text.string(at: member.keyStart - 1)
      names.append(name)
      if let wrapper = Self.arrays.first(where: { $0.array == name }), found == nil,
        text.kind(at: member.value) == .array
      {
        guard wrapper.hasItsElements(text, member.value) else { return nil }
        found = wrapper
        // What is behind a long array is checked when it was read.
        if !isWhole { break }
      }
    }
    if names.contains("_id") { return nil }
    if let found {
      if !isForced, let other = names.first(where: { $0 != found.array && !found.companions.contains($0) }) {
        if found != .docs { return nil }
        throw found.doubt(other)
      }
      self = found
    } else if names.contains("db_info"), names.contains("version"), names.contains("start_time") {
      self = .pouchHeader
    } else if names.first == "name",
      text.member(spelled: Array("name".utf8), at: 0).map({ text.string(at: $0) })
        == "@cloudant/couchbackup"
    {
      self = .backupHeader
    } else if names == ["seq"] || names == ["last_seq"] || names == ["last_seq", "pending"] {
      self = .sequence
    } else {
      return nil
    }
  }

  /// Whether the first element is what such an array has.
  private func hasItsElements(_ text: JSONBytes, _ array: Int) -> Bool {
    var elements = text.elements(at: array)
    guard let first = elements.next() else { return true }
    guard text.kind(at: first) == .object else { return false }
    func has(_ name: String) -> Bool { text.member(spelled: Array(name.utf8), at: first) != nil }
    switch self {
    case .docs: return true
    case .rows:
      let value = text.member(spelled: Array("value".utf8), at: first)
      let hasRevision = value.map { text.member(spelled: Array("rev".utf8), at: $0) != nil } ?? false
      return has("key") && (hasRevision || has("doc") || has("error"))
    case .changes: return has("seq") && has("id") && has("changes")
    case .pouchHeader, .backupHeader, .sequence: return false
    }
  }

  /// The doubt about a member behind the documents; `nil` if it may stand there.
  func doubt(aboutMember name: String) -> Doubt? { companions.contains(name) ? nil : doubt(name) }

  private func doubt(_ other: String) -> Doubt {
    Doubt(
      message:
        "the object has a member \(DatastoreError.quoted(other)) beside \(DatastoreError.quoted(array ?? "")); give --format json to import it as one document, or --format couchdb to import the documents in \(DatastoreError.quoted(array ?? "")) alone"
    )
  }
}
