import CDTCSQLite

/// Pages with a ``PageChecksum``, which is computed when they are written to the file, and verified when they are read.
///
/// The pages have checksums if the header of the file reserves 8 bytes in each page (byte 20). The write-ahead log has checksums of
/// its own, which SQLite verifies when it opens the log. The pages that SQLite gets, and writes to the log, have zeros in place
/// of the checksum. Source: https://sqlite.org/fileformat2.html
final class ChecksumCodec: PageCodec {
  /// The pages without checksums that are used.
  var copiedPages: CopiedPages?
  /// `nil` until pages with checksums were found; they are never taken away again.
  private var size: Int?

  init(_ copiedPages: CopiedPages?) { self.copiedPages = copiedPages }

  // MARK: The header

  private static let headerLength = 100

  /// Looks for checksums at each call until there are some: the file may get them while it is open, from another process.
  func pageSize(of file: File) -> Int? {
    if size == nil {
      withUnsafeTemporaryAllocation(byteCount: Self.headerLength, alignment: 8) { header in
        if file.read(header, at: 0) == SQLITE_OK { note(UnsafeRawBufferPointer(header)) }
      }
    }
    return size
  }

  /// Reads the size of the pages and their reserved space from the file's header.
  private func note(_ header: UnsafeRawBufferPointer) {
    guard header.count >= Self.headerLength, header.starts(with: "SQLite format 3\0".utf8),
      Int(header[20]) == PageChecksum.length
    else { return }
    let stored = Int(header[16]) << 8 | Int(header[17])
    // 65536 does not fit.
    let size = stored == 1 ? 65_536 : stored
    if size >= 512, size & (size - 1) == 0 { self.size = size }
  }

  func readHeader(_ bytes: UnsafeMutableRawBufferPointer, at offset: Int64, of file: File) -> Int32 {
    let code = file.read(bytes, at: offset)
    if code == SQLITE_OK, offset == 0 { note(UnsafeRawBufferPointer(bytes)) }
    return code
  }

  // MARK: Pages

  func open(_ page: UnsafeMutableRawBufferPointer, number: Int64, of _: File) -> Int32 {
    let read = UnsafeRawBufferPointer(page)
    if number == 1 {
      note(read)
      // SQLite reads the page again with the size that is in it.
      guard size == page.count else { return SQLITE_OK }
    }
    if PageChecksum.isValid(read, number: number) {
      PageChecksum.clear(in: page)
      return SQLITE_OK
    }
    guard PageChecksum.isMissing(read), let copiedPages else { return SQLiteError.damagedPageCode }
    do {
      return try copiedPages.accepts(number) ? SQLITE_OK : SQLiteError.damagedPageCode
    } catch {
      // Whether it is damaged can't be known now.
      return SQLiteError.failureToRead(error)
    }
  }

  func write(_ bytes: UnsafeRawBufferPointer, at offset: Int64, to file: File) -> Int32 {
    if offset == 0 { note(bytes) }
    // SQLite writes whole pages only, the first one first.
    guard pageSize(of: file) != nil, bytes.count >= 512, offset % Int64(bytes.count) == 0 else {
      return file.write(bytes, at: offset)
    }
    return file.write(bytes, at: offset) { copy in
      PageChecksum.store(in: copy, number: offset / Int64(bytes.count) + 1)
      return SQLITE_OK
    }
  }

  /// Writes the checksums of copied pages, if that was asked for.
  func beginCheckpoint(of file: File) -> Int32 {
    guard let copiedPages, let numbers = copiedPages.takePagesToSeal(), let size = pageSize(of: file) else {
      return SQLITE_OK
    }
    return withUnsafeTemporaryAllocation(byteCount: size, alignment: 8) { page in
      for number in numbers {
        let offset = (number - 1) * Int64(size)
        var code = file.read(page, at: offset)
        guard code == SQLITE_OK else { return code }
        // It may have been written in the meantime.
        guard PageChecksum.isMissing(UnsafeRawBufferPointer(page)) else { continue }
        PageChecksum.store(in: page, number: number)
        code = file.write(UnsafeRawBufferPointer(page), at: offset)
        guard code == SQLITE_OK else { return code }
      }
      copiedPages.noteSealed(numbers)
      return SQLITE_OK
    }
  }
}
