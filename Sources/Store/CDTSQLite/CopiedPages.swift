import CDTPlatform
import Synchronization

/// The pages of a database file that another program has copied there from the write-ahead log: a plain SQLite does so when
/// it closes the database last, even if it has only read.
///
/// They are as they were written, but have no checksum (``PageChecksum``). Anything may also have put zeros in its place. So
/// the first time that such a page is read, the whole file is verified, and the page is only used if nothing is found. All
/// connections of the process to a file share the result, until the last of them is closed: a later file may have the same identity. See
/// decision 13.
package final class CopiedPages: Sendable {
  /// Whether the content of a database is right, as far as anything tells without the checksums of these pages.
  package typealias Verification = @Sendable (Connection) throws -> Bool

  private struct State: Sendable {
    /// The pages whose content was verified.
    var accepted: Set<Int64> = []
    /// The pages that were there when the content was found wrong.
    var refused: Set<Int64> = []
    var isSealing = false
    /// The path at which a connection has opened the file last, as its directory may be moved.
    var path: String
  }

  private let mode: Connection.Mode
  /// `nil` to use the pages without.
  private let verification: Verification?
  private let state: Mutex<State>

  /// The objects of open files.
  private static let all = Mutex<[FileIdentity: WeakReference<CopiedPages>]>([:])
  private static let reporter = Mutex<(@Sendable (_ path: String, _ count: Int) -> Void)?>(nil)

  private init(path: String, mode: Connection.Mode, verification: Verification?) {
    (self.mode, self.verification) = (mode, verification)
    state = Mutex(State(path: path))
  }

  /// The object of a file, which all its connections share.
  static func of(
    _ file: FileIdentity, at path: String, isImmutable: Bool, _ verification: @escaping Verification
  ) -> CopiedPages {
    let pages = all.withLock { all in
      if let known = all[file]?.value { return known }
      all = all.filter { $0.value.value != nil }
      let made = CopiedPages(
        path: path, mode: isImmutable ? .immutable : .readOnly, verification: verification)
      all[file] = WeakReference(made)
      return made
    }
    // A verification opens a file, which looks for its object.
    pages.state.withLock { $0.path = path }
    return pages
  }

  /// The object of a file that another connection has open, if there is one.
  static func ofOpenFile(_ path: String) -> CopiedPages? {
    guard all.withLock({ !$0.isEmpty }), let file = FileIdentity(path) else { return nil }
    return all.withLock { $0[file]?.value }
  }

  /// One that uses every page, for a connection that verifies the content.
  static func all(at path: String) -> CopiedPages {
    CopiedPages(path: path, mode: .readOnly, verification: nil)
  }

  /// Calls a closure when the pages of a file were verified, with their number.
  package static func setReporter(_ report: @escaping @Sendable (_ path: String, _ count: Int) -> Void) {
    reporter.withLock { $0 = report }
  }

  // MARK: Reading

  /// Whether the content of a page without a checksum is used. The first call takes as long as the verification, and others
  /// wait for it.
  ///
  /// - Throws: ``SQLiteError``, `SystemError` if the file can't be verified now. The next call tries again.
  func accepts(_ page: Int64) throws -> Bool {
    guard let verification else { return true }
    let (isAccepted, found) = try state.withLock { state -> (Bool, (path: String, count: Int)?) in
      if state.accepted.contains(page) { return (true, nil) }
      if state.refused.contains(page) { return (false, nil) }
      let pages = try RawDatabase.pagesWithoutChecksum(in: state.path)
      guard try isRight(state.path, verification) else {
        state.refused.formUnion(pages)
        return (false, nil)
      }
      state.accepted.formUnion(pages)
      return (state.accepted.contains(page), (state.path, pages.count))
    }
    if let found { Self.reporter.withLock { $0 }?(found.path, found.count) }
    return isAccepted
  }

  private func isRight(_ path: String, _ verification: Verification) throws -> Bool {
    let connection = try Connection(path: path, mode: mode, copiedPages: .all)
    defer { connection.close() }
    do {
      return try connection.transaction(.deferred) { try verification(connection) }
    } catch let error as SQLiteError where error.isCorrupt {
      return false
    }
  }

  // MARK: Sealing

  /// Lets the next checkpoint write the checksums of the pages whose content was verified.
  ///
  /// - Returns: Whether there are such pages; `false` also if their content is not right.
  /// - Throws: ``SQLiteError``, `SystemError` if the file can't be read.
  package func sealAtNextCheckpoint() throws -> Bool {
    let path = state.withLock(\.path)
    guard let page = try RawDatabase.pagesWithoutChecksum(in: path).first, try accepts(page) else {
      return false
    }
    state.withLock { $0.isSealing = true }
    return true
  }

  /// - Returns: `nil` unless they are to be sealed now.
  func takePagesToSeal() -> [Int64]? {
    state.withLock { state in
      guard state.isSealing else { return nil }
      state.isSealing = false
      return state.accepted.sorted()
    }
  }

  func noteSealed(_ pages: [Int64]) {
    state.withLock { $0.accepted.subtract(pages) }
  }
}
