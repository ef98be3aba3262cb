public import CDTDatastore
import CDTJSON
import CDTPlatform
import CDTSQLite

/// The result of a recovery.
public struct RecoveryReport: Sendable, Hashable {
  /// The number of documents saved, including deleted ones.
  public var documents = 0
  /// The number of revisions saved with their content.
  public var revisions = 0
  /// The number of attachments saved, one for each revision that has it.
  public var attachments = 0
  /// The losses: findings about everything that could not be saved.
  public var losses: [IntegrityFinding] = []
}

extension Datastore {
  /// Saves everything that can still be read from the files of a damaged datastore in this one.
  ///
  /// ```swift
  /// let saved = try manager.datastore(named: "saved")
  /// let report = try saved.recoverDocuments(from: "/data/people/contacts")
  /// for loss in report.losses { print(loss) }
  /// ```
  ///
  /// The files are read page by page and not changed. Documents keep their revision trees and attachments. Where the
  /// newest revision of a branch can't be read, the newest one that can be read takes its place, and the report says
  /// so. Revisions on damaged pages are used if their digests verify them; if a document has only unverified ones, they are saved
  /// as a new revision. Nothing may write to the damaged datastore in the meantime. Recovering again adds nothing that is there
  /// already.
  ///
  /// - Parameters:
  ///   - directory: The damaged datastore's directory, with `db.sync` in it.
  ///   - progress: Called with the number of pages read, then of documents saved, and their total.
  /// - Returns: A report of the documents that were saved, and of the losses.
  /// - Throws: `DatastoreError`: `.notFound` if there is no `db.sync`, `.io` if the system can't read it, `.corrupt` if
  ///   no datastore has written it, `.newerFormat`; the errors of a write.
  /// - Complexity: O(*n*) in the size of the damaged datastore; memory for some hundred bytes for each revision.
  public func recoverDocuments(
    from directory: String, progress: (_ done: Int, _ total: Int) -> Void = { _, _ in }
  ) throws -> RecoveryReport {
    try StoreRecovery(from: directory, to: self, stop: nil).run(progress)
  }

  /// Saves everything that can still be read from a damaged datastore, on one of the datastore's threads.
  public func recoverDocuments(
    from directory: String, progress: @escaping @Sendable (_ done: Int, _ total: Int) -> Void = { _, _ in }
  ) async throws -> RecoveryReport {
    try await runLong { try StoreRecovery(from: directory, to: self, stop: $0).run(progress) }
  }
}

/// A recovery in progress.
private final class StoreRecovery {
  private let store: Datastore
  private let stop: StopSignal?
  private let path: String
  private let database: RawDatabase
  private let files: AttachmentFiles
  private var report = RecoveryReport()

  /// The number of documents per transaction.
  private static let batch = 200

  init(from directory: String, to store: Datastore, stop: StopSignal?) throws {
    self.store = store
    self.stop = stop
    let path = "\(directory)/\(DatabaseFile.name)"
    self.path = path
    // SQLite doesn't follow a link, and does not say so.
    let status = try FileSystem.perform("read", path, FileStatus.ofFile(at: path, followsLinks: false))
    guard status?.kind != .link else { throw DatastoreError(.link(path)) }
    let keys = try store.keys(ofDamagedStoreIn: directory)
    let database = try FileSystem.reading(path) {
      try RawDatabase(
        path, versionsWithChecksums: DatabaseFile.versionsWithChecksums, cipher: keys?.documents)
    }
    guard let database else { throw DatastoreError(.notARegularFile(path)) }
    try FileOwner.check(path)
    let version = try FileSystem.reading(path) { try database.userVersion() }
    if let version, version > DatabaseFile.version {
      throw DatastoreError(.newerFormat(path, version: version, known: DatabaseFile.version))
    }
    self.database = database
    files = AttachmentFiles(directory: "\(directory)/attachments", storeName: path, keys: keys)
  }

  func run(_ progress: (_ done: Int, _ total: Int) -> Void) throws -> RecoveryReport {
    var rows = RecoveredRows()
    try FileSystem.reading(path) {
      try database.forEachRow(
        progress: { done in
          try stop?.check()
          progress(Int(done), Int(database.pageCount))
        }, { rows.add($0) })
      for location in rows.unverified {
        try stop?.check()
        if let row = try database.row(at: location) { rows.addUnverified(row) }
      }
    }
    noteDamagedPages()
    try saveDocuments(of: rows, progress)
    try saveLocalDocuments(of: rows)
    return report
  }

  private func lose(_ kind: IntegrityFinding.Kind, _ id: String? = nil, _ message: String) {
    report.losses.append(IntegrityFinding(kind, documentID: id, message))
  }

  private func noteDamagedPages() {
    for page in database.damagedPages {
      lose(.database, nil, "page \(page) of \(path) differs from what was written")
    }
    if database.pageCount == 0 {
      lose(.database, nil, "there are no pages in \(path)")
    } else if database.missingPages > 0 {
      lose(.database, nil, "\(database.missingPages) pages are missing at the end of \(path)")
    }
    switch database.logLoss {
    case nil:
      if let pages = LogIndex.pagesOnlyInLog(of: path), pages > 0, isLogEmpty {
        lose(
          .database, nil,
          "\(LogFile.path(of: path)) is empty, but had \(pages) pages when the datastore was last used; writes that were only in them are lost"
        )
      }
    case .header:
      lose(.database, nil, "the header of \(LogFile.path(of: path)) is not valid; the writes in it are lost")
    case .frames(let found, let all):
      lose(
        .database, nil,
        "only \(found) of the \(all) pages in \(LogFile.path(of: path)) are valid; writes that were only in the others are lost"
      )
    }
  }

  private var isLogEmpty: Bool {
    (try? FileStatus.ofFile(at: LogFile.path(of: path)))?.size ?? 0 == 0
  }

  // MARK: Documents

  private func saveDocuments(of rows: RecoveredRows, _ progress: (_ done: Int, _ total: Int) -> Void) throws {
    // In the order of their changes.
    let numbers = rows.documents.keys.sorted {
      (rows.documents[$0]?.lastSequence ?? 0, $0) < (rows.documents[$1]?.lastSequence ?? 0, $1)
    }
    var done = 0
    while done < numbers.count {
      let batch = numbers[done..<min(numbers.count, done + Self.batch)]
      let before = report
      do {
        try store.write(stop: stop) { transaction in
          transaction.ignoreRules()
          for number in batch {
            if let document = rows.documents[number] { try save(document, number, in: transaction) }
          }
        }
      } catch {
        report = before
        throw error
      }
      done += batch.count
      progress(done, numbers.count)
    }
  }

  private func save(_ document: RecoveredRows.Document, _ number: Int64, in transaction: WriteTransaction)
    throws
  {
    guard let id = document.id else {
      return lose(
        .tree, nil, "the id of document number \(number) is lost, with \(document.revisions.count) revisions")
    }
    do {
      try DocumentID.check(id)
    } catch {
      return lose(.tree, id, "the document can't be saved: \(error.message)")
    }
    let parents = Set(document.revisions.values.compactMap(\.parent))
    var document = document
    var isSaved = false
    /// The newest revision whose content can be read and not be verified.
    var doubtful: Doubtful?
    // With their ancestors, which need not be told again.
    var known: Set<RevisionID> = []
    // Ancestors first, as their content is not added later.
    for revision in document.revisions.keys.sorted() {
      guard let found = document.revisions[revision], let content = try content(of: found, id: id) else {
        continue
      }
      let history = Self.history(of: revision, in: document, until: known)
      let rows = Self.attachmentRows(of: revision, in: document)
      let isRight =
        found.isVerified && rows.all.count == rows.verified.count
        || Self.isDigest(revision, of: content, found, rows.all)
      let attachments = attachments(isRight ? rows.all : rows.verified, id: id)
      guard found.isVerified || isRight else {
        document.revisions[revision]?.body = nil
        document.revisions[revision]?.isIncomplete = true
        if let body = content.body, !found.isDeleted {
          doubtful = Doubtful(revision: revision, body: body, rows: rows.all, attachments: attachments)
        }
        continue
      }
      do {
        try transaction.forceInsert(
          DocumentRevision(
            id: id, revisionID: revision, content: content.body, isDeleted: found.isDeleted,
            attachments: attachments, sequence: 0), history: history)
        isSaved = true
        known.formUnion(history)
        report.revisions += 1
        report.attachments += attachments.count
      } catch let error as DatastoreError where error.status == 400 {
        lose(.tree, id, "revision \(revision) can't be saved: \(error.message)")
      }
    }
    if !isSaved, let doubtful, let made = try save(doubtful, of: id, in: transaction) {
      report.documents += 1
      report.revisions += 1
      report.attachments += doubtful.attachments.count
      return lose(
        .body, id,
        "revision \(doubtful.revision) is on a damaged page and can't be verified; its content was saved as \(made)"
      )
    }
    if isSaved { report.documents += 1 }
    // A page in an earlier state is as it was written, and lacks what came later.
    let missing = document.leaves - document.revisions.keys.filter { !parents.contains($0) }.count
    if missing > 0 {
      lose(.tree, id, "conflicting revisions are not found: \(missing)")
    }
    let newest = document.newestReadable()
    for leaf in document.revisions.keys.sorted() where !parents.contains(leaf) {
      guard document.revisions[leaf]?.isIncomplete == true else { continue }
      let instead = newest[leaf].map { "; \($0) takes its place" } ?? ""
      lose(.body, id, "revision \(leaf) can't be read\(instead)")
    }
    if !isSaved { lose(.tree, id, "no revision of the document can be read") }
  }

  /// The content of a revision on damaged pages, which may be wrong.
  private struct Doubtful {
    let revision: RevisionID
    let body: DocumentBody
    let rows: [AttachmentRow]
    let attachments: Attachments
  }

  /// Saves content that may be wrong as a child of its revision: that revision may have other content elsewhere.
  ///
  /// - Returns: The id of the new revision; `nil` if it can't be saved.
  private func save(_ doubtful: Doubtful, of id: String, in transaction: WriteTransaction) throws
    -> RevisionID?
  {
    do {
      let child = try RevisionDigest.revision(
        after: doubtful.revision, isDeleted: false,
        attachments: doubtful.rows.filter { doubtful.attachments[$0.name] != nil }.map(\.key),
        canonicalBody: BodyText(stored: doubtful.body.text).canonical)
      try transaction.forceInsert(
        DocumentRevision(
          id: id, revisionID: child, content: doubtful.body, isDeleted: false,
          attachments: doubtful.attachments, sequence: 0), history: [child, doubtful.revision])
      return child
    } catch let error as DatastoreError where error.status == 400 {
      return nil
    }
  }

  /// Whether a revision id is the digest of content, as of every revision that was made by this library. Those that a
  /// CouchDB has made can't be computed.
  private static func isDigest(
    _ revision: RevisionID, of content: Content, _ found: RecoveredRows.Revision, _ rows: [AttachmentRow]
  ) -> Bool {
    let canonical = content.body.map { BodyText(stored: $0.text).canonical } ?? []
    let computed = try? RevisionDigest.revision(
      after: found.parent, isDeleted: found.isDeleted, attachments: rows.map(\.key), canonicalBody: canonical)
    return computed == revision
  }

  /// The attachments of a revision in the order of their names: those on pages that are as they were written, and all.
  private static func attachmentRows(
    of revision: RevisionID, in document: RecoveredRows.Document
  ) -> (verified: [AttachmentRow], all: [AttachmentRow]) {
    func sorted(_ rows: [KeyBytes: AttachmentRow]) -> [AttachmentRow] {
      rows.values.sorted { $0.name.utf16.lexicographicallyPrecedes($1.name.utf16) }
    }
    let verified = document.attachments[revision] ?? [:]
    let all = verified.merging(document.unverifiedAttachments[revision] ?? [:]) { known, _ in known }
    return (sorted(verified), sorted(all))
  }

  private struct Content {
    /// `nil` for a tombstone without one.
    let body: DocumentBody?
  }

  /// The content of a revision; `nil` if it can't be read.
  private func content(of revision: RecoveredRows.Revision, id: String) throws -> Content? {
    guard let location = revision.body else { return revision.isDeleted ? Content(body: nil) : nil }
    let row = try FileSystem.reading(path) { try database.row(at: location) }
    guard let body = row?.storedBody,
      let normal = try? body.text.withUnsafeBytes({ try JSONText.normalize($0) }),
      normal.end == body.text.count
    else {
      lose(.body, id, "a body is not a JSON object")
      return nil
    }
    return Content(body: .stored(body))
  }

  /// The ids from a revision back to its newest ancestor in the new tree, or else to its oldest known one.
  private static func history(
    of revision: RevisionID, in document: RecoveredRows.Document, until known: Set<RevisionID>
  ) -> [RevisionID] {
    var history = [revision]
    while let last = history.last, !known.contains(last), let parent = document.parent(of: last) {
      history.append(parent)
    }
    return history
  }

  private func attachments(_ rows: [AttachmentRow], id: String) -> Attachments {
    var attachments = Attachments()
    for row in rows {
      let attachment = DocumentAttachment(row, in: files)
      do {
        try attachment.verify()
        attachments[row.name] = attachment
      } catch {
        lose(.attachment, id, (error as? DatastoreError)?.message ?? "\(error)")
      }
    }
    return attachments
  }

  private func saveLocalDocuments(of rows: RecoveredRows) throws {
    try store.write(stop: stop) { transaction in
      for (id, location) in rows.localDocuments.sorted(by: { $0.key.precedes($1.key) }) {
        let row = try FileSystem.reading(path) { try database.row(at: location) }
        guard case .text(let text)? = row?.values.last, let body = try? JSONObject(parsing: text) else {
          lose(.body, nil, "the local document \(DatastoreError.quoted(id.string)) can't be read")
          continue
        }
        try transaction.setLocalDocument(LocalDocument(stored: body), withID: id.string)
      }
    }
  }
}
