import CDTDatastore
import CDTImport
import CDTJSON
import CDTPlatform
import CDTQuery
import CouchDB
import HTTPTypes
import Hummingbird
import Synchronization

/// Imports a file that a client sends.
extension RequestContext {
  /// Takes the whole file, then imports it and says on lines of JSON how far that is.
  func importFile() async throws -> Response {
    guard let onConflict = DocumentImporter.ConflictRule(rawValue: parameters["on_conflict"] ?? "fail") else {
      throw CouchError.badRequest("`on_conflict` must be fail, skip or replace.")
    }
    let options = try importOptions()
    // What is compressed for the transfer is as good as a file of gzip.
    _ = try isCompressed
    let (name, database, place) = (
      parameters["file"] ?? "documents", try database, try server.imports.enter()
    )
    // One that is sent slowly would keep others waiting.
    client.leastProgress.store(Self.leastProgress, ordering: .relaxed)
    let file = try await upload()
    let feed = ImportFeed { [server, request] in server.logger.note($0, of: request) }
    let largest = (
      document: limits.documentLength, value: max(limits.documentLength, limits.requestLength),
      decompressed: Int64(Self.longestImport)
    )
    return Reply.stream(type: "application/x-ndjson") { out in
      // It ends with the last reference.
      defer { withExtendedLifetime(place) {} }
      async let end = feed.ending {
        try await database.importDocuments { stop in
          var reader = ImportReader(name, file.pieces(until: stop))
          options.apply(to: &reader)
          (reader.onConflict, reader.limits) = (onConflict, largest)
          reader.onNotice = { feed.tell($0) }
          reader.onInvalidDocument = { feed.tell("\($0)") }
          reader.onProgress = { feed.show($0) }
          return reader
        } refusal: {
          refusal(of: $0, $1, $2, feed)
        }
      }
      async let _ = feed.tick()
      // A write to a client that is gone fails, which cancels the import.
      while let lines = await feed.next() {
        try Task.checkCancellation()
        for line in lines { try await out.write(line.utf8Text + "\n".utf8) }
        try await out.flush()
      }
      try await out.write(await end.utf8Text + "\n".utf8)
    }
  }

  /// The most bytes of a file, as it is sent and when it is decompressed: more than dumps of large databases have, and few enough
  /// that an endless one does not fill the disk.
  static let longestImport = 16 << 30

  /// The bytes of a file that a client must send in the idle time.
  private static let leastProgress = 128 * 1_024

  private func upload() async throws -> ScratchFile {
    let tooLong = CouchError.tooLarge(Self.longestImport)
    var rest = Self.longestImport
    if let text = request.headers[.contentLength], let length = Int(text), length > rest { throw tooLong }
    var file = try FileSystem.perform("write", ScratchFile.directory, ScratchFile())
    var piece: [UInt8] = []
    func append(_ bytes: [UInt8]) async throws {
      file = try await Datastore.useFiles { [file] in
        var file = file
        try FileSystem.perform("write", ScratchFile.directory, file.append(bytes))
        return file
      }
    }
    for try await buffer in request.body {
      rest -= buffer.readableBytes
      guard rest >= 0 else { throw tooLong }
      piece += buffer.readableBytesView
      while piece.count >= ScratchFile.longestPiece {
        try await append(Array(piece.prefix(ScratchFile.longestPiece)))
        piece.removeFirst(ScratchFile.longestPiece)
      }
    }
    if !piece.isEmpty { try await append(piece) }
    return file
  }

  /// The reason why the user may not save a document, apart from rules; `nil` if there is none.
  private func refusal(
    of id: String, _ body: BodyText, _ attachments: Attachments?, _ feed: ImportFeed
  ) -> String? {
    do throws(CouchError) {
      try checkDesign(id)
      for attachment in attachments ?? [] { try IncomingAttachment.checkName(attachment.name) }
      let isStrict = server.configuration.isStrictAboutDesign
      if let warning = try DesignDocument.warning(of: id, body, isStrict: isStrict) {
        feed.tell("\(id): \(warning)")
      }
      return nil
    } catch {
      return error.reason
    }
  }
}

extension ScratchFile {
  /// As long as an import reads at once.
  fileprivate static let longestPiece = 256 * 1024

  /// The pieces, one after another.
  fileprivate func pieces(until stop: StopSignal) -> ImportReader.Pieces {
    let next = Mutex(0)
    return {
      // A small compressed file can be a long one.
      if stop.isSet { return .failure(DatastoreError(.timedOut)) }
      let number = next.withLock { next in
        defer { next += 1 }
        return next
      }
      guard number < count else { return .success([]) }
      return Result { () throws(DatastoreError) in try piece(number) }
    }
  }
}

/// The notices and the progress of an import, until they are sent.
private final class ImportFeed: Sendable {
  private struct State {
    var report = DocumentImporter.Report()
    var notices: [String] = []
    var noticeCount = 0
    var isOver = false
  }

  private let state = Mutex(State())
  private let news = AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingNewest(1))
  /// Logs an error of the server.
  private let log: @Sendable (any Error) -> Void

  init(log: @escaping @Sendable (any Error) -> Void) {
    self.log = log
  }

  /// The notices of an import that are sent. A file can cause any number.
  private static let maximumNotices = 100
  /// The time after which something is sent in any case, so that clients that are gone are noticed.
  private static let pause = Duration.seconds(5)

  func tell(_ notice: String) {
    state.withLock { state in
      state.noticeCount += 1
      if state.noticeCount <= Self.maximumNotices { state.notices.append(notice) }
    }
  }

  func show(_ report: DocumentImporter.Report) {
    state.withLock { $0.report = report }
    news.continuation.yield()
  }

  func tick() async {
    while (try? await Task.sleep(for: Self.pause)) != nil { news.continuation.yield() }
  }

  /// The next lines; `nil` after the last.
  func next() async -> [JSONObject]? {
    var iterator = news.stream.makeAsyncIterator()
    _ = await iterator.next()
    return state.withLock { state in
      defer { state.notices = [] }
      if state.isOver, state.notices.isEmpty { return nil }
      return state.notices.map { ["notice": .string($0)] } + [["progress": .object(Self.json(state.report))]]
    }
  }

  /// Runs an import.
  ///
  /// - Returns: The last line.
  func ending(_ run: () async throws -> DocumentImporter.Report) async -> JSONObject {
    var line: JSONObject
    do {
      show(try await run())
      line = Reply.ok
    } catch let error as ImportError {
      line = CouchError.badRequest(error.description).json
    } catch {
      log(error)
      line = CouchError(of: error).json
    }
    state.withLock { state in
      state.isOver = true
      let unsent = state.noticeCount - Self.maximumNotices
      if unsent > 0 { state.notices.append("and \(unsent) more") }
    }
    news.continuation.finish()
    for (name, value) in Self.json(state.withLock { $0.report }) { line[name] = value }
    return line
  }

  private static func json(_ report: DocumentImporter.Report) -> JSONObject {
    [
      "imported": .int(Int64(report.imported)), "replaced": .int(Int64(report.replaced)),
      "skipped": .int(Int64(report.skipped)), "stale": .int(Int64(report.stale)), "bytes": .int(report.bytes),
    ]
  }
}
