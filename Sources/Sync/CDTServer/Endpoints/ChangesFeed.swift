import CDTDatastore
import CDTJSON
import CDTQuery
import CouchDB

/// Writes the changes of a database, those that there are and, in a live feed, those that come.
struct ChangesFeed: Sendable {
  var request: ChangesRequest
  let database: Database
  var sequences: Sequences
  var access: FeedAccess
  let client: ClientConnection
  let shutdown: OneTimeEvent
  /// The time in which a filter must accept a change. The time in which the feed waits for changes does not count.
  let queryTime: Duration

  /// The sequence after which documents are listed that have left the selector; `nil` if none are.
  var leftFilterAfter: Int64?

  /// The documents that the user saw at earlier times, to list what has left.
  var earlier: [any DocumentVisibility] = []

  private var waiting: FeedWaiting {
    FeedWaiting(
      client: client, shutdown: shutdown, heartbeat: request.heartbeat, timeout: request.timeout,
      isEventSource: request.feed == .eventsource)
  }

  private var isDescending: Bool { request.isDescending && !request.feed.isLive }

  /// A change that passes the filter, as JSON text.
  private struct Row: Sendable {
    let sequence: Int64
    let text: [UInt8]
  }

  private struct Page: Sendable {
    var rows: [Row] = []
    /// The number of bytes of the rows.
    var length = 0
    /// The sequence after which the next page begins.
    var last: Int64
    /// Whether it is the beginning, before the first page.
    var isBeginning = true
    /// The changes that an index has found, see ``ChangesFeed/selectedChanges(since:_:)``.
    var selected: SelectedChanges?
    /// Whether there may be more.
    var isFull = false
    /// Whether it has all changes that there are.
    var isLast = false
    /// The number of changes after `last`, if it is known.
    var pending: Int?

    mutating func append(_ row: Row) {
      rows.append(row)
      length += row.text.count
    }
  }

  /// The number of changes, and of bytes, after which a page ends; also the time, as a selector may take long to decide.
  private static let page = 500
  private static let pageTime = Duration.seconds(1)

  // MARK: Writing

  /// - Parameter listener: Of the database, if the feed is live.
  mutating func write(listener: ChangeListener?, to out: inout ReplyStream) async throws {
    try await writeHead(to: &out)
    var (page, count, quietSince) = (begin(), 0, ContinuousClock.now)
    // As at CouchDB, 0 stands for 1 in feeds that wait.
    let limit = request.limit.map { request.feed.isLive ? max(1, $0) : $0 } ?? .max
    var end = ContinuousClock.now + queryTime
    var (restarts, isIdle, reason) = (0, false, CouchError?.none)
    while count < limit {
      // A commit after this is heard, whether the page has it or not.
      let heard = listener?.commits ?? 0
      do {
        try await access.check()
        if reason != nil {
          sequences = try await database.sequences(since: request.since)
          (page, reason) = (begin(), nil)
        }
        page = try await self.page(after: page, limit: limit - count)
      } catch let error as DatastoreError where error.code == .closed && listener != nil {
        // The database was deleted.
        page.pending = 0
        break
      } catch let error as CouchError {
        reason = error
        guard error == .rulesChanged else { break }
        page.pending = nil
        // A feed that has sent nothing of the former state begins again.
        guard listener == nil, count == 0, restarts < Self.maximumRestarts else { break }
        restarts += 1
        continue
      }
      for row in page.rows {
        try await write(row, isFirst: count == 0, to: &out)
        count += 1
      }
      if page.isLast { sequences = sequences.ended }
      if !page.rows.isEmpty { end = .now + queryTime }
      // Rows of a full page may still wait in memory.
      if !page.rows.isEmpty, !page.isFull { quietSince = .now }
      if page.isFull {
        // The client can go on after the page.
        guard !page.rows.isEmpty || .now < end else { break }
        try await waiting.writeHeartbeatIfDue(quietSince: &quietSince, to: &out)
        continue
      }
      guard let listener, count < limit, request.feed != .longpoll || count == 0 else { break }
      if request.feed != .longpoll, count == 0, !isIdle {
        try await writeIdle(to: &out)
        isIdle = true
      }
      do {
        let hasNews = try await waiting.wait(quietSince: &quietSince, &access, to: &out) {
          await listener.wait(since: heard)
        }
        guard hasNews else { break }
      } catch let error as CouchError {
        reason = error
        break
      }
      request.filter = try request.filter.renewed
      end = .now + queryTime
    }
    try await writeEnd(page.last, pending: page.pending, reason, to: &out)
  }

  private static let maximumRestarts = 8

  /// Begins the changes.
  private mutating func begin() -> Page {
    earlier = sequences.visibilities
    return Page(last: sequences.start)
  }

  /// Writes the newest changes first. A failure cuts the reply off, so that it is not taken for one without changes.
  func writeDescending(to out: inout ReplyStream) async throws {
    try await writeHead(to: &out)
    var (page, count, last) = (Page(last: .max), 0, Int64(0))
    var end = ContinuousClock.now + queryTime
    repeat {
      page = try await self.page(after: page, limit: (request.limit ?? .max) - count)
      for row in page.rows {
        try await write(row, isFirst: count == 0, to: &out)
        count += 1
        last = row.sequence
      }
      if !page.rows.isEmpty { end = .now + queryTime }
      // No sequence names the changes that are left.
      guard !page.isFull || !page.rows.isEmpty || .now < end else { throw CouchError.slowQuery }
    } while page.isFull
    // As at CouchDB, which counts only what follows the last one.
    try await writeEnd(last, pending: 0, to: &out)
  }

  private func writeHead(to out: inout ReplyStream) async throws {
    switch request.feed {
    case .normal: try await out.write("{\"results\":[\n")
    case .longpoll:
      try await out.write("{\"results\":[\n")
      try await out.flush()
    case .continuous, .eventsource: break
    }
  }

  private func writeIdle(to out: inout ReplyStream) async throws {
    try await out.write("\n")
    try await out.flush()
  }

  private func write(_ row: Row, isFirst: Bool, to out: inout ReplyStream) async throws {
    switch request.feed {
    case .normal, .longpoll:
      if !isFirst { try await out.write(",\n") }
      try await out.write(row.text)
    case .continuous: try await out.write(row.text + [UInt8(ascii: "\n")])
    case .eventsource:
      let id = "\nid: \"\(sequences.text(of: row.sequence))\"\n\n"
      try await out.write(Array("data: ".utf8) + row.text + Array(id.utf8))
    }
  }

  /// - Parameter reason: The reason for which the feed ends before its client wants it.
  private func writeEnd(
    _ last: Int64, pending known: Int?, _ reason: CouchError? = nil, to out: inout ReplyStream
  ) async throws {
    // There is more, whether or not it can be read now.
    let pending =
      if let known { known } else if reason != nil { 1 } else {
        try await database.read { try pendingCount(after: last, $0) }
      }
    var end = #""last_seq":"\#(sequences.text(of: last))","pending":\#(pending)"#
    if let reason { end += ",\(reason.json.text.dropFirst().dropLast())" }
    end += "}"
    switch request.feed {
    case .normal, .longpoll: try await out.write(Array("\n],\n\(end)\n".utf8))
    case .continuous: try await out.write(Array("{\(end)\n".utf8))
    case .eventsource: if reason != nil { try await out.write(Array("event: end\ndata: {\(end)\n\n".utf8)) }
    }
  }

  /// The number of changes after a sequence; for a user who does not see all documents, at most of those in a distance that can be looked
  /// at without an index.
  private func pendingCount(after last: Int64, _ transaction: ReadTransaction) throws -> Int {
    if isDescending { return 0 }
    let end = try !transaction.seesEverything ? last.addingReportingOverflow(10_000) : (.max, false)
    return try transaction.changeCount(since: last, upTo: end.overflow ? .max : end.partialValue)
  }

  // MARK: Reading

  /// Reads a page on the threads of queries if a selector or rules decide, which may take long.
  private func read(_ body: @escaping @Sendable (ReadTransaction) throws -> Page) async throws -> Page {
    let decides = request.filter.isOfBodies || sequences.visibility != nil
    return try await decides ? database.readForQuery(body) : database.read(body)
  }

  /// The changes that an index finds for a selector, or for the rules of reading, up to those among which documents are listed that have
  /// left it.
  private func selectedChanges(
    since start: Int64, _ transaction: ReadTransaction
  ) throws -> SelectedChanges? {
    let selector: SelectorFilter? = if case .selector(let filter, _) = request.filter { filter } else { nil }
    guard selector != nil || sequences.visibility != nil, !isDescending,
      earlier.isEmpty || sequences.leftAfter > 0,
      leftFilterAfter.map({ start < $0 }) ?? true
    else { return nil }
    let found = try SelectedChanges(of: selector, since: start, limit: request.limit, in: transaction)
    return leftFilterAfter.map { found?.upTo($0) } ?? found
  }

  /// The changes that follow a page, or precede it if the feed is descending.
  private func page(after previous: Page, limit: Int) async throws -> Page {
    try await read { transaction in
      let start = previous.last
      var page = Page(last: start)
      // A limit of 0 looks at nothing.
      guard limit > 0 else { return page }
      guard try database.isPresent(sequences, in: transaction) else { throw CouchError.rulesChanged }
      page.isBeginning = false
      let selected =
        try previous.isBeginning ? selectedChanges(since: start, transaction) : previous.selected
      page.selected = selected.flatMap { start < $0.last ? $0 : nil }
      let (changes, isFull, last) = try self.changes(after: start, page.selected, transaction)
      let end = ContinuousClock.now + Self.pageTime
      for change in changes {
        try transaction.stop?.check()
        guard page.rows.count < limit else {
          page.pending = try pendingCount(after: page.last, transaction)
          return page
        }
        guard page.length < ReplyStream.pageLength, page.last == start || .now < end else {
          page.isFull = true
          return page
        }
        page.last = change.sequence
        let row = try change.hasLeft ? leftRow(for: change, transaction) : row(for: change, transaction)
        if let row { page.append(row) }
      }
      page.last = last ?? page.last
      page.isFull = isFull
      page.isLast = !isFull && !isDescending
      if !isFull {
        page.pending = 0
      } else if page.rows.count >= limit {
        page.pending = try pendingCount(after: page.last, transaction)
      }
      return page
    }
  }

  /// Some changes, whether others follow, and the sequence after which these begin if it is not that of the last change.
  private func changes(
    after start: Int64, _ selected: SelectedChanges?, _ transaction: ReadTransaction
  ) throws -> (documents: [Change], isFull: Bool, last: Int64?) {
    if let selected {
      let part = try selected.changes(after: start, limit: Self.page, in: transaction)
      return (part.documents, true, part.last)
    }
    if isDescending {
      let changes = try transaction.changes(before: start, limit: Self.page)
      return (changes, changes.count == Self.page, nil)
    }
    let found = try transaction.changesSeen(
      since: start, limit: Self.page, comparedWith: earlier, leftAfter: sequences.leftAfter)
    return (found.changes, found.last != nil, found.last)
  }

  /// The row of a document that has left what the user sees. A filter of ids decides on it; the others would need a body.
  private func leftRow(for change: Change, _ transaction: ReadTransaction) throws -> Row? {
    guard request.filter.isOfBodies || (try? request.filter.accepts(change.id) { nil }) == true else {
      return nil
    }
    var text = head(of: change, [change.revisionID])
    // A replicator learns what it may remove: revisions that this database has. It keeps a document that has others.
    let known = try transaction.wholeTree(ofDocument: change.id)?.rows.prefix(1_000).map(\.id) ?? []
    text += #","removed":true,"revisions":["#.utf8
    text += known.map { #""\#($0)""# }.joined(separator: ",").utf8
    text.append(UInt8(ascii: "]"))
    if request.includesDocuments {
      let part = try DocumentPart.removed(change.id, change.revisionID, transaction, withHistory: false)
      text += Array(#","doc":"#.utf8) + part.text
    }
    text.append(UInt8(ascii: "}"))
    return Row(sequence: change.sequence, text: text)
  }

  private func head(of change: Change, _ leaves: [RevisionID]) -> [UInt8] {
    var text: [UInt8] = Array(#"{"seq":"\#(sequences.text(of: change.sequence))","id":"#.utf8)
    JSONString.write(change.id, to: &text)
    text += #","changes":["#.utf8
    text += leaves.map { #"{"rev":"\#($0)"}"# }.joined(separator: ",").utf8
    text.append(UInt8(ascii: "]"))
    return text
  }

  private func row(for change: Change, _ transaction: ReadTransaction) throws -> Row? {
    if change.isPurged { return nil }
    var found: DocumentRevision?
    func revision() throws -> DocumentRevision? {
      if found == nil { found = try transaction.document(of: change) }
      return found
    }
    let listed = request.listsLeaves ? try transaction.leaves(of: change) : [change.revisionID]
    // The filter decides on each leaf.
    var leaves = try listed.filter { leaf in
      try request.filter.accepts(change.id) {
        try leaf == change.revisionID ? revision() : transaction.documentIfStored(change.id, leaf)
      }
    }
    let leftFilter = try leaves.isEmpty ? self.leftFilter(change, transaction) : []
    if !leftFilter.isEmpty { leaves = listed }
    guard !leaves.isEmpty else { return nil }
    var text = head(of: change, leaves)
    if change.isDeleted { text += #","deleted":true"#.utf8 }
    if !leftFilter.isEmpty {
      text += #","left_filter":\#(JSONValue.array(leftFilter.map { .string($0.description) }).text)"#.utf8
    }
    if request.includesDocuments {
      text += #","doc":"#.utf8
      if let revision = try revision() {
        text += try DocumentText(transaction, request.options).lastMember(of: revision, projected)
      } else {
        text += "null".utf8
      }
    }
    text.append(UInt8(ascii: "}"))
    return Row(sequence: change.sequence, text: text)
  }

  /// The earlier revisions that the selector accepts, if a document has left it.
  private func leftFilter(_ change: Change, _ transaction: ReadTransaction) throws -> [RevisionID] {
    guard let leftFilterAfter, change.sequence > leftFilterAfter, case .selector = request.filter else {
      return []
    }
    let filter = try request.filter.renewed
    return try transaction.acceptedEarlier(change.id) { revision in
      try filter.accepts(change.id) { revision }
    }
  }

  private func projected(_ document: [UInt8]) throws -> [UInt8] {
    let projection = request.filter.projection
    guard !projection.isEverything else { return document }
    return projection.apply(to: try JSONObject(parsing: document)).utf8Text
  }
}
