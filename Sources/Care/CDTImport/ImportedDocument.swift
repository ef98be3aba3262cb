import CDTDatastore
import CDTJSON
import CDTPlatform

/// The reserved members of a document that is imported.
struct ImportedDocument {
  var id: String?
  /// The revision that it replaces.
  var revision: RevisionID?
  /// `nil` if there is no `_attachments`.
  var attachments: Attachments?
  /// The number of attachments that came without their content.
  var stubs = 0
  /// Whether it is a tombstone.
  var isDeleted = false
  /// The members that no document can have.
  private(set) var foreign: [ReservedField] = []

  /// CouchDB's own members, which are left out as the revision is: an import writes new documents, not histories.
  private static let leftOut: Set<String> = [
    "_revisions", "_revs_info", "_conflicts", "_deleted_conflicts", "_local_seq",
  ]

  init() {}

  /// - Parameters:
  ///   - readsRevisions: Whether `_rev` is used.
  ///   - leavesOutStubs: Whether attachments may come without content.
  ///   - names: The action for members that no document can have.
  /// - Throws: `DatastoreError` for a member that is invalid.
  init(
    _ reserved: [ReservedField], readsRevisions: Bool, leavesOutStubs: Bool,
    _ names: DocumentImporter.ReservedNames
  ) throws(DatastoreError) {
    for (name, value) in reserved where name == "_id" { id = try Self.id(value) }
    for (name, value) in reserved {
      switch name {
      case "_id": continue
      case "_rev":
        guard readsRevisions else { continue }
        guard let text = value.stringValue, let revision = RevisionID(text) else {
          throw DatastoreError(.importedRevision(value))
        }
        self.revision = revision
      case "_deleted": isDeleted = value == true
      case "_attachments":
        let inline = leavesOutStubs ? withoutStubs(value) : value
        if let inline { attachments = try Attachments(inlineJSON: inline) }
      case _ where Self.leftOut.contains(name): continue
      case _ where names == .fail: throw DatastoreError(.importedKey(name, id: id))
      default: foreign.append((name, value))
      }
    }
  }

  private static func id(_ value: JSONValue) throws(DatastoreError) -> String {
    guard case .string(let text) = value else { throw DatastoreError(.importedID) }
    return text
  }

  /// The attachments that have content; `nil` if none has.
  private mutating func withoutStubs(_ value: JSONValue) -> JSONValue? {
    guard case .object(let entries) = value else { return value }
    let whole = entries.filter { $0.value["data"] != nil || $0.value["stub"] != true }
    stubs = entries.count - whole.count
    return whole.isEmpty && stubs > 0 ? nil : .object(whole)
  }
}
