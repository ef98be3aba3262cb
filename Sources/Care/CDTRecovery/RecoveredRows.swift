import CDTDatastore
import CDTJSON
import CDTSQLite

/// The documents in the rows that were found on the pages of a damaged `db.sync`.
///
/// A row may be found more than once, also in a state that it no longer has: its page may have become unreachable, or
/// its winner may have moved to `revisions`. Every such row was true when it was written, so the revisions of a
/// document are those of all its rows. Rows are recognized by the number and the types of their values.
///
/// Rows on damaged pages are added last, and only where no other row says something else. What they say has to be verified.
struct RecoveredRows {
  struct Revision {
    var parent: RevisionID?
    var isDeleted: Bool
    /// The location of its body; `nil` if it has no body.
    var body: RawDatabase.Location?
    /// Whether it had a body, or attachments, that can't be read.
    var isIncomplete = false
    /// Whether its row is on pages that are as they were written.
    var isVerified = true
  }

  struct Document {
    var id: String?
    var lastSequence: Int64 = 0
    /// The sequence of the newest row of the document itself, and the number of leaves that it says.
    private var newestRow: (sequence: Int64, leaves: Int64) = (0, 0)
    /// The number of leaves that the document had.
    var leaves: Int { Int(clamping: newestRow.leaves) }
    var revisions: [RevisionID: Revision] = [:]
    var attachments: [RevisionID: [KeyBytes: AttachmentRow]] = [:]
    /// Attachments from damaged pages.
    var unverifiedAttachments: [RevisionID: [KeyBytes: AttachmentRow]] = [:]

    /// The parent of a revision, if it is one generation older. Rows of a damaged file may say anything, also that a
    /// revision descends from itself.
    func parent(of id: RevisionID) -> RevisionID? {
      guard let parent = revisions[id]?.parent, parent.generation == id.generation - 1 else { return nil }
      return parent
    }

    /// Whether another revision is a child of this one, or its parent.
    func isRelated(_ id: RevisionID, to parent: RevisionID?) -> Bool {
      parent.map { revisions[$0] != nil } ?? false || revisions.values.contains { $0.parent == id }
    }

    /// The newest revision with a body from which each revision descends, or which it is.
    func newestReadable() -> [RevisionID: RevisionID] {
      var newest: [RevisionID: RevisionID] = [:]
      // Ancestors first.
      for id in revisions.keys.sorted() {
        newest[id] = revisions[id]?.body != nil ? id : parent(of: id).flatMap { newest[$0] }
      }
      return newest
    }

    fileprivate mutating func note(leaves: Int64, at sequence: Int64) {
      if sequence >= newestRow.sequence { newestRow = (sequence, leaves) }
    }

    fileprivate mutating func add(_ found: Revision, _ id: RevisionID, _ sequence: Int64) {
      lastSequence = max(lastSequence, sequence)
      var found = found
      if let known = revisions[id] {
        found.parent = found.parent ?? known.parent
        found.body = found.body ?? known.body
        found.isIncomplete = found.body == nil && found.isIncomplete && known.isIncomplete
      }
      revisions[id] = found
    }
  }

  /// By number.
  private(set) var documents: [Int64: Document] = [:]
  private(set) var localDocuments: [KeyBytes: RawDatabase.Location] = [:]
  /// The rows on damaged pages.
  private(set) var unverified: [RawDatabase.Location] = []

  mutating func add(_ row: RawRow) {
    guard row.isVerified else {
      unverified.append(row.location)
      return
    }
    switch row.values.count {
    case 10, 11: addDocument(row)
    case 9: addRevision(row)
    case 7: addAttachment(row)
    case 2: addEntry(row)
    default: break
    }
  }

  /// Adds a row of a damaged page. Call it when all other rows were added.
  mutating func addUnverified(_ row: RawRow) {
    switch row.values.count {
    case 10, 11:
      // Another document's number would give it this content.
      guard let number = row.rowID, let id = row.values[2].string, let revision = row.winner,
        documents[number]?.id ?? id == id, documents[number]?.revisions[revision]?.body == nil
      else { return }
      addDocument(row)
    case 9:
      guard let number = row.values[0].integer, let revision = row.values[2].revision,
        let document = documents[number], document.revisions[revision]?.body == nil,
        document.isRelated(revision, to: row.values[3].revision)
      else { return }
      addRevision(row)
    case 7: addAttachment(row)
    default: return
    }
  }

  /// `number, sequence, id, stored_revision, parent, written, leaves, deleted, attachments, head, text`, or, up to version 6,
  /// `number, sequence, id, revision, parent, written, leaves, deleted, attachments, body`
  private mutating func addDocument(_ row: RawRow) {
    let values = row.values
    guard let number = row.rowID, let sequence = values[1].integer, let id = values[2].string,
      let revision = row.winner
    else { return }
    documents[number, default: Document()].id = id
    if row.isVerified, let leaves = values[6].integer {
      documents[number]?.note(leaves: leaves, at: sequence)
    }
    add(
      Revision(
        parent: values[4].revision, isDeleted: values[7].integer == 1, body: row.location,
        isVerified: row.isVerified), revision,
      hasBody: values.last?.isText == true, to: number, sequence)
  }

  /// `document, generation, revision, parent, sequence, leaf, deleted, attachments, body`
  private mutating func addRevision(_ row: RawRow) {
    let values = row.values
    guard row.rowID != nil, let number = values[0].integer, let revision = values[2].revision,
      values[1].integer == Int64(revision.generation), let sequence = values[4].integer
    else { return }
    add(
      Revision(
        parent: values[3].revision, isDeleted: values[6].integer == 1,
        body: values[8] == .null ? nil : row.location, isVerified: row.isVerified), revision,
      hasBody: values[8] == .null || values[8].isText, to: number, sequence)
  }

  private mutating func add(
    _ found: Revision, _ id: RevisionID, hasBody: Bool, to number: Int64, _ sequence: Int64
  ) {
    var found = found
    if !hasBody { (found.body, found.isIncomplete) = (nil, true) }
    documents[number, default: Document()].add(found, id, sequence)
  }

  /// `document, revision, name, key, type, length, revpos`
  private mutating func addAttachment(_ row: RawRow) {
    let values = row.values
    guard let number = values[0].integer, let revision = values[1].revision, let name = values[2].string,
      case .blob(let key) = values[3], key.count == 20, let type = values[4].string,
      let length = values[5].integer,
      let generation = values[6].integer
    else { return }
    let attachment = AttachmentRow(
      name: name, key: key, type: type, storedLength: length, generation: generation)
    if row.isVerified {
      documents[number, default: Document()].attachments[revision, default: [:]][KeyBytes(name)] = attachment
    } else {
      documents[number]?.unverifiedAttachments[revision, default: [:]][KeyBytes(name)] = attachment
    }
  }

  /// An entry of the index of ids, or a local document.
  private mutating func addEntry(_ row: RawRow) {
    guard row.rowID == nil, let id = row.values[0].string else { return }
    if let number = row.values[1].integer {
      if documents[number]?.id == nil { documents[number, default: Document()].id = id }
    } else if case .text(let text) = row.values[1], text.first == UInt8(ascii: "{") {
      localDocuments[KeyBytes(id)] = row.location
    }
  }
}

extension RawRow.Value {
  fileprivate var isText: Bool {
    if case .text = self { true } else { false }
  }
}
