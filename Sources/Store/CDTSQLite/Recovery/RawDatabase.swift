package import CDTPlatform

/// A database file read page by page, without SQLite and its tree of pages: what is left of a damaged file.
///
/// The rows of the pages are found whatever happened to the pages that lead to them. Nothing in the file is changed, and the
/// log is read where it is, also what follows damage in it.
///
/// Source: https://sqlite.org/fileformat2.html
package final class RawDatabase {
  /// The location of a row.
  package struct Location: Hashable, Sendable {
    package let page: Int64
    let cell: Int
  }

  /// The numbers of the pages that differ from what was written, after ``forEachRow(progress:_:)``.
  package private(set) var damagedPages: [Int64] = []
  /// The numbers of the pages that another program has copied into the file (``CopiedPages``), likewise.
  package private(set) var copiedPages: [Int64] = []
  /// The number of pages that are there.
  package let pageCount: Int64
  /// The number of pages that are missing at the end of the file.
  package let missingPages: Int64
  /// The loss of the log, if it is known.
  package let logLoss: LogLoss?

  private let file: SystemFile
  private let logFile: OpenFile?
  private let log: WriteAheadLog?
  /// Whether pages may be of different times, as the log is damaged. A row that continues on other pages may then be joined
  /// with what another row had there.
  private let isMixed: Bool
  private let pageSize: Int
  /// The size of a page without its reserved bytes.
  private let usableSize: Int
  private let hasChecksums: Bool
  /// The form of the pages of an encrypted database.
  private let seals: SealCodec?
  /// The number of times that each page was read as the continuation of a row. Rows share no pages; but in a damaged file any number
  /// of them may continue on the same pages, also in circles.
  private var continuations: [Int64: Int] = [:]
  /// A row is found more than once if there are former copies of its page.
  private static let maximumContinuations = 8

  /// - Parameters:
  ///   - versionsWithChecksums: The `user_version` of files that have checksums.
  ///   - cipher: The keys of an encrypted database.
  /// - Returns: `nil` if it is not a regular file.
  /// - Throws: `SystemError`, ``SQLiteError``.
  package init?(_ path: String, versionsWithChecksums: Set<Int64>, cipher: DatabaseCipher? = nil) throws {
    guard try FileStatus(path).kind == .file else { return nil }
    file = try SystemFile(path)
    let seals = cipher.map { SealCodec($0, path: path, isWritable: false) }
    self.seals = seals
    let header = Self.header(of: file, seals)
    // Without its key, an encrypted database has no header.
    let isHeader =
      header.starts(with: "SQLite format 3\0".utf8) && (seals != nil || !DatabaseCipher.isMarked(header))
    // In a file that is only begun, the version is still in the log.
    let hasChecksums =
      seals != nil || !isHeader || Int(header[20]) == PageChecksum.length
      || versionsWithChecksums.contains(Int64(header.bigEndian(at: 60)))
    self.hasChecksums = hasChecksums
    let sizes = Self.pageSizes(header, isHeader: isHeader && seals == nil, hasChecksums: hasChecksums)
    let validSize =
      seals != nil && isHeader
      ? DatabaseCipher.pageSize
      : sizes.first { [file] in Self.isFirstPageValid(file, size: $0, hasChecksums: hasChecksums) }
    pageSize = validSize ?? sizes[0]
    let seal = seals == nil ? PageChecksum.length : DatabaseCipher.reservedLength
    usableSize = pageSize - (hasChecksums ? seal : Int(header[20]))
    logFile = try? OpenFile.regular(LogFile.path(of: path))
    var loss = try LogLoss.find(inLogOf: path, cipher: cipher)
    if let logFile {
      var log = try WriteAheadLog(logFile, pageSize: pageSize, cipher: cipher)
      let rest = try log.rest(of: logFile, pageSize: pageSize)
      // Without the index, a last transaction that is not whole counts as lost: a process that ended while it wrote it may
      // have left it, but so may one that committed it.
      if try rest.hasCommits || loss == nil && rest.frames > 1 && !Files.exists("\(path)-shm") {
        let valid = log.validFrames + (rest.hasCommits ? rest.verifiedFrames : 0)
        loss = .frames(found: valid, of: log.validFrames + rest.frames)
      }
      log.add(rest)
      self.log = log.pageCount > 0 ? log : nil
      isMixed = rest.hasCommits
    } else {
      log = nil
      isMixed = false
    }
    logLoss = loss
    // The sizes in the header and in the log may be anything.
    let inFile = file.size / Int64(pageSize)
    let inLog = Int64(log?.offsets.count ?? 0)
    let present = min(max(inFile, log?.offsets.keys.max() ?? 0), inFile + inLog)
    let wanted = log?.pageCount ?? (validSize != nil ? Int64(header.bigEndian(at: 28)) : inFile)
    pageCount = min(wanted, present)
    missingPages = wanted - pageCount
  }

  /// The header of a database; nothing valid if the first page of an encrypted one is damaged.
  private static func header(of file: SystemFile, _ seals: SealCodec?) -> [UInt8] {
    guard let seals else { return file.bytes(at: 0, count: 100) }
    let page = file.bytes(at: 0, count: DatabaseCipher.pageSize)
    return Array((seals.content(of: page, number: 1) ?? [UInt8](repeating: 0, count: 100))[..<100])
  }

  /// The sizes that pages may have, the most probable one first. Only checksums tell whether it is the usual one.
  private static func pageSizes(_ header: [UInt8], isHeader: Bool, hasChecksums: Bool) -> [Int] {
    let size = header.bigEndian16(at: 16)
    let isSize = isHeader && (size == 1 || (512...32_768).contains(size) && size & (size - 1) == 0)
    guard isSize, size != usualPageSize else { return [usualPageSize] }
    let other = size == 1 ? 65_536 : size
    return hasChecksums ? [usualPageSize, other] : [other, usualPageSize]
  }

  private static let usualPageSize = 4_096

  /// Whether the first page, with the size of the file, is as it was written. Without its checksum, it is if the two numbers
  /// agree that SQLite compares before it relies on that size.
  private static func isFirstPageValid(_ file: SystemFile, size: Int, hasChecksums: Bool) -> Bool {
    let page = file.bytes(at: 0, count: size)
    if hasChecksums, file.size >= size {
      return page.withUnsafeBytes { PageChecksum.isValid($0, number: 1) }
    }
    return page.bigEndian(at: 24) == page.bigEndian(at: 92)
  }

  // MARK: Pages

  private enum PageState {
    case verified
    /// It has no checksum, but its layout is right.
    case copied
    /// It was once sealed, but it is not known to be the last state of the page.
    case earlier
    case damaged

    /// Whether its rows are those that were written.
    var isVerified: Bool { self == .verified || self == .copied }
  }

  /// A page without its reserved bytes; `nil` if it is missing.
  private func rawPage(_ number: Int64) throws(SystemError) -> (bytes: [UInt8], state: PageState)? {
    guard number >= 1, number <= pageCount else { return nil }
    var page: [UInt8]
    var state = PageState.verified
    if let logFile, let offset = log?.offsets[number] {
      guard let found = try log?.page(at: offset, in: logFile, pageSize: pageSize) else { return nil }
      page = found
    } else {
      guard number * Int64(pageSize) <= file.size else { return nil }
      page = file.bytes(at: (number - 1) * Int64(pageSize), count: pageSize)
      if let seals {
        // What can't be decrypted has no rows. An earlier state of the page has.
        let isCurrent = try? page.withUnsafeBytes { bytes throws(SQLiteError) in
          try seals.isCurrentSeal(of: bytes, number: number)
        }
        guard let opened = seals.content(of: page, number: number) else { return nil }
        page = opened
        if isCurrent != true { state = .earlier }
      } else if hasChecksums, !page.withUnsafeBytes({ PageChecksum.isValid($0, number: number) }) {
        state = page.withUnsafeBytes { PageChecksum.isMissing($0) } ? .copied : .damaged
      }
    }
    page.removeLast(pageSize - usableSize)
    if state == .copied, !PageLayout.isWhole(page, isFirst: number == 1) { state = .damaged }
    return (page, state)
  }

  /// The `user_version` of the file; `nil` if no checksum verifies it.
  package func userVersion() throws(SystemError) -> Int64? {
    guard hasChecksums, let first = try rawPage(1), first.state == .verified else { return nil }
    return Int64(first.bytes.bigEndian(at: 60))
  }

  /// A page without its reserved bytes; `nil` if it is damaged.
  private func page(_ number: Int64) throws(SystemError) -> [UInt8]? {
    guard let page = try rawPage(number), page.state != .damaged else { return nil }
    return page.bytes
  }

  /// The numbers of the pages of a file that have zeros in place of their checksums.
  ///
  /// - Parameter exceptInLog: Whether to leave out those of which the log has other content, which a checkpoint writes. A
  ///   power failure in a checkpoint may have left a part of it in the file.
  package static func pagesWithoutChecksum(
    in path: String, exceptInLog: Bool = false
  ) throws(SQLiteError) -> Set<Int64> {
    let file = try SystemFile(path)
    let header = file.bytes(at: 0, count: 100)
    guard Int(header[20]) == PageChecksum.length,
      let size = pageSizes(header, isHeader: true, hasChecksums: true).last
    else { return [] }
    func lacksChecksum(_ number: Int64) -> Bool {
      guard number * Int64(size) <= file.size else { return false }
      let checksum = file.bytes(
        at: number * Int64(size) - Int64(PageChecksum.length), count: PageChecksum.length)
      return checksum.allSatisfy { $0 == 0 }
    }
    let pages = Set((1...max(1, file.size / Int64(size))).filter(lacksChecksum))
    guard exceptInLog, !pages.isEmpty, let logFile = try? OpenFile.regular(LogFile.path(of: path)),
      let log = try? WriteAheadLog(logFile, pageSize: size, cipher: nil)
    else { return pages }
    return pages.filter { number in
      let page = file.bytes(at: (number - 1) * Int64(size), count: size)
      let isCopied = log.offsets[number].map { (try? logFile.bytes(at: $0, count: size)) == page } ?? true
      // A checkpoint may have ended since the pages were looked at.
      return isCopied && lacksChecksum(number)
    }
  }

  /// The pages that hold nothing, and may have former rows.
  private func freePages() throws(SystemError) -> Set<Int64> {
    var free: Set<Int64> = []
    guard let header = try page(1) else { return free }
    var trunk = Int64(header.bigEndian(at: 32))
    while trunk > 0, free.insert(trunk).inserted, let page = try page(trunk) {
      let count = min(Int(page.bigEndian(at: 4)), usableSize / 4 - 2)
      for leaf in 0..<max(0, count) { free.insert(Int64(page.bigEndian(at: 8 + 4 * leaf))) }
      trunk = Int64(page.bigEndian(at: 0))
    }
    return free
  }

  // MARK: Rows

  /// Calls `body` with every row of every table and index that can be read, also those on damaged pages, as they are.
  package func forEachRow(
    progress: (_ done: Int64) throws -> Void = { _ in }, _ body: (RawRow) throws -> Void
  ) throws {
    let free = try freePages()
    (damagedPages, copiedPages) = ([], [])
    continuations = [:]
    for number in 1...max(1, pageCount) where !free.contains(number) {
      let page = try rawPage(number)
      if page?.state.isVerified != true { damagedPages.append(number) }
      if page?.state == .copied { copiedPages.append(number) }
      if let page {
        for cell in 0..<Self.cellCount(of: page.bytes, number) {
          let location = Location(page: number, cell: cell)
          if let row = try row(at: location, in: page.bytes, isVerified: page.state.isVerified) {
            try body(row)
          }
        }
      }
      if number % 256 == 0 || number == pageCount { try progress(number) }
    }
  }

  /// Reads a row again.
  package func row(at location: Location) throws(SystemError) -> RawRow? {
    guard let page = try rawPage(location.page) else { return nil }
    continuations = [:]
    return try row(at: location, in: page.bytes, isVerified: page.state.isVerified)
  }

  /// The first page begins with the file's header.
  private static func start(of page: Int64) -> Int { page == 1 ? 100 : 0 }

  private static func cellCount(of page: [UInt8], _ number: Int64) -> Int {
    let start = start(of: number)
    guard start < page.count, PageKind(rawValue: page[start]) != nil else { return 0 }
    return min(page.bigEndian16(at: start + 3), page.count / 2)
  }

  /// The kinds of pages with rows. Those of a table's tree that are not leaves have none.
  private enum PageKind: UInt8 {
    case indexInterior = 0x02
    case indexLeaf = 0x0A
    case tableLeaf = 0x0D
  }

  private func row(
    at location: Location, in page: [UInt8], isVerified: Bool
  ) throws(SystemError) -> RawRow? {
    let start = Self.start(of: location.page)
    guard let kind = PageKind(rawValue: page[start]) else { return nil }
    let pointers = start + (kind == .indexInterior ? 12 : 8)
    var reader = RawReader(page, at: page.bigEndian16(at: pointers + 2 * location.cell))
    if kind == .indexInterior { reader.skip(4) }
    guard let length = reader.varint(), length >= 0, length <= pageCount * Int64(pageSize) else { return nil }
    var rowID: Int64?
    if kind == .tableLeaf {
      guard let number = reader.varint() else { return nil }
      rowID = number
    }
    var isVerified = isVerified
    let payload = try payload(Int(length), &reader, isTable: kind == .tableLeaf, &isVerified)
    return RawRow(
      location: location, rowID: rowID, payload: payload, length: Int(length), isVerified: isVerified)
  }

  /// A row's bytes; fewer if a page on which it continues is missing, or belongs to too many others.
  private func payload(
    _ length: Int, _ reader: inout RawReader, isTable: Bool, _ isVerified: inout Bool
  ) throws(SystemError) -> [UInt8] {
    let most = isTable ? usableSize - 35 : (usableSize - 12) * 64 / 255 - 23
    guard length > most else { return reader.bytes(length) }
    if isMixed { isVerified = false }
    let least = (usableSize - 12) * 32 / 255 - 23
    let wanted = least + (length - least) % (usableSize - 4)
    var payload = reader.bytes(wanted <= most ? wanted : least)
    var next = Int64(reader.unsigned32() ?? 0)
    while payload.count < length, continuations[next, default: 0] < Self.maximumContinuations,
      let page = try rawPage(next)
    {
      continuations[next, default: 0] += 1
      if !page.state.isVerified { isVerified = false }
      payload += page.bytes[4..<min(page.bytes.count, 4 + length - payload.count)]
      next = Int64(page.bytes.bigEndian(at: 0))
    }
    return payload
  }
}
