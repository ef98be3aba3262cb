/// The program that has written a database file, as far as the file shows it, also if it is damaged.
package enum DatabaseOwner: Hashable, Sendable {
  /// The file has no content, or its end was cut off within the header.
  case empty
  /// The `application_id` in the file's header.
  case application(Int64)
  /// An encrypted database.
  case encrypted
  /// It has no header, or one that its other pages contradict.
  case unknown(hasCheckedPages: Bool)

  /// - Throws: ``SQLiteError`` if the file can't be opened.
  package init(of path: String) throws(SQLiteError) {
    let file = try SystemFile(path)
    let magic = Array("SQLite format 3\0".utf8)
    let header = file.bytes(at: 0, count: 100)
    if file.size >= header.count, DatabaseCipher.isMarked(header) {
      self = .encrypted
      return
    }
    guard file.size >= header.count else {
      let length = min(Int(file.size), magic.count)
      self =
        header.prefix(length).elementsEqual(magic.prefix(length)) ? .empty : .unknown(hasCheckedPages: false)
      return
    }
    let isHeader = header.starts(with: magic)
    let application = Int64(header.bigEndian(at: 68))
    let hasCheckedPages = (!isHeader || Int(header[20]) == PageChecksum.length) && Self.hasCheckedPages(file)
    // Anything may have changed the header.
    self =
      isHeader && !hasCheckedPages ? .application(application) : .unknown(hasCheckedPages: hasCheckedPages)
  }

  /// Whether a page has a checksum of ours.
  private static func hasCheckedPages(_ file: SystemFile) -> Bool {
    let size = 4_096
    var number: Int64 = 1
    while number * Int64(size) <= file.size {
      let page = file.bytes(at: (number - 1) * Int64(size), count: size)
      if page.withUnsafeBytes({ PageChecksum.isValid($0, number: number) }) { return true }
      number += 1
    }
    return false
  }
}
