public import CDTDatastore
import CDTJSON
import CDTPlatform
import CDTQuery

/// A document in which two datastores differ.
public struct StoreDifference: Sendable, Hashable, CustomStringConvertible {
  /// The kind of a difference.
  public enum Kind: Sendable, Hashable {
    /// Only the first datastore has the document.
    case missing
    /// Only the second datastore has the document.
    case added
    /// Leaves that only the first has, and those that only the second has.
    case leaves(missing: [RevisionID], added: [RevisionID])
    /// A leaf has another body.
    case body(RevisionID)
    /// A leaf has other attachments.
    case attachments(RevisionID)
  }

  /// The document's id.
  public let documentID: String
  /// The kind of the difference.
  public let kind: Kind
  /// The winner in the first datastore; `nil` if the document is not there or is deleted.
  public let first: DocumentRevision?
  /// The winner in the second datastore.
  public let second: DocumentRevision?

  /// The fields that differ between the two winners; empty if only revision ids or other leaves differ.
  ///
  /// ```swift
  /// try before.compare(with: store) { difference in
  ///   for field in difference.fields {
  ///     print(difference.documentID, field.path, field.old ?? .null, field.new ?? .null)
  ///   }
  /// }
  /// ```
  public var fields: [FieldDifference] {
    guard let some = second ?? first else { return [] }
    let absent = DocumentRevision(id: some.id, revisionID: some.revisionID, body: nil)
    return (second ?? absent).differences(from: first)
  }

  /// Such as `document "a": the first has 2-b, the second 2-c`.
  public var description: String {
    let what =
      switch kind {
      case .missing: "only the first has it"
      case .added: "only the second has it"
      case .leaves(let missing, let added):
        "the first has \(Self.list(missing)), the second \(Self.list(added))"
      case .body(let revision): "the bodies of \(revision) differ"
      case .attachments(let revision): "the attachments of \(revision) differ"
      }
    return "document \(DatastoreError.quoted(documentID)): \(what)"
  }

  private static func list(_ revisions: [RevisionID]) -> String {
    guard revisions.count > 5 else {
      return revisions.isEmpty ? "no other" : revisions.map(\.description).joined(separator: ", ")
    }
    return "\(revisions.prefix(5).map(\.description).joined(separator: ", ")) and \(revisions.count - 5) more"
  }
}

extension Datastore {
  /// Compares the leaves of all documents, deleted ones too, and what they contain, with those of another datastore.
  ///
  /// ```swift
  /// try store.compare(with: restored) { difference in
  ///   print(difference)
  /// }
  /// ```
  ///
  /// Documents that have expired when the call begins are left out of both; of the state of a backup, those that had expired then.
  ///
  /// Bodies are equal if they have the same members with the same values, whatever their order; attachments if they have the same
  /// names, types and digests.
  ///
  /// - Parameters:
  ///   - progress: Called with the number of documents compared, and their total in the first.
  ///   - body: Called with each difference, in the order of the ids.
  /// - Returns: The number of documents that at least one of them has.
  /// - Throws: `DatastoreError`; the errors of the closure.
  /// - Complexity: O(*n*); the memory does not depend on *n*.
  @discardableResult
  public func compare(
    with other: Datastore, progress: (_ done: Int, _ total: Int) -> Void = { _, _ in },
    _ body: (StoreDifference) throws -> Void
  ) throws -> Int {
    Datastore.registerExtension(QueryExtension.self)
    return try readSnapshot { first in
      first.ignoreRules()
      return try other.readSnapshot { second in
        second.ignoreRules()
        if stateTime == nil, other.stateTime == nil { second.takeInstant(of: first) }
        func report(_ id: String, _ kind: StoreDifference.Kind) throws {
          func winner(_ transaction: ReadTransaction) throws -> DocumentRevision? {
            try transaction.documents(withIDs: [id]).first { !$0.isDeleted }
          }
          try body(
            StoreDifference(documentID: id, kind: kind, first: winner(first), second: winner(second)))
        }
        let total = try first.allDocumentCount()
        var (left, right) = (DocumentEntries(first), DocumentEntries(second))
        var done = 0
        while true {
          let (mine, theirs) = (try left.peek(), try right.peek())
          let id: String
          switch (mine, theirs) {
          case (nil, nil): return done
          case (let mine?, nil): id = mine
          case (nil, let theirs?): id = theirs
          case (let mine?, let theirs?): id = mine.utf8.lexicographicallyPrecedes(theirs.utf8) ? mine : theirs
          }
          let (hasMine, hasTheirs) = (
            mine?.hasSameBytes(as: id) == true, theirs?.hasSameBytes(as: id) == true
          )
          if hasMine, hasTheirs {
            try Self.compare(id, first, second) { try report(id, $0) }
          } else {
            try report(id, hasMine ? .missing : .added)
          }
          if hasMine { left.take() }
          if hasTheirs { right.take() }
          done += 1
          progress(done, max(done, total))
        }
      }
    }
  }

  private static func compare(
    _ id: String, _ first: ReadTransaction, _ second: ReadTransaction,
    _ body: (StoreDifference.Kind) throws -> Void
  ) throws {
    let (mine, theirs) = (try leaves(of: id, first), try leaves(of: id, second))
    let (missing, added) = (mine.filter { !theirs.contains($0) }, theirs.filter { !mine.contains($0) })
    if !missing.isEmpty || !added.isEmpty { try body(.leaves(missing: missing, added: added)) }
    for leaf in mine where theirs.contains(leaf) {
      let (left, right) = (
        try first.document(withID: id, revisionID: leaf), try second.document(withID: id, revisionID: leaf)
      )
      if left.bodyText != right.bodyText,
        BodyText(stored: left.bodyText).canonical != BodyText(stored: right.bodyText).canonical
      {
        try body(.body(leaf))
      }
      if contents(of: left) != contents(of: right) { try body(.attachments(leaf)) }
    }
  }

  private static func leaves(of id: String, _ transaction: ReadTransaction) throws -> [RevisionID] {
    try transaction.tree(ofDocument: id)?.leaves.map(\.id) ?? []
  }

  /// The names, types and digests of a revision's attachments.
  private static func contents(of revision: DocumentRevision) -> [[UInt8]] {
    revision.attachments.map { Array("\($0.name)\u{0}\($0.contentType)\u{0}\($0.digest ?? "")".utf8) }
  }
}

/// The ids of a datastore in order, read a page at a time.
private struct DocumentEntries {
  private let transaction: ReadTransaction
  private var page: ArraySlice<DocumentEntry> = []
  private var last: String?
  private var isAtEnd = false

  private static let count = 1_000

  init(_ transaction: ReadTransaction) {
    self.transaction = transaction
  }

  /// The next id; `nil` at the end.
  mutating func peek() throws -> String? {
    if page.isEmpty, !isAtEnd {
      let range = DocumentRange(
        from: last.map { DocumentRange.Bound($0, isIncluded: false) }, includesDeleted: true)
      page = try transaction.documentEntries(in: range, limit: Self.count)[...]
      isAtEnd = page.count < Self.count
      last = page.last?.id
    }
    return page.first?.id
  }

  mutating func take() {
    page.removeFirst()
  }
}
