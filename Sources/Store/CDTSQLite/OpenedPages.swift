import Synchronization

/// Pages of encrypted databases as SQLite has them, for all connections of an open datastore. When another connection has
/// committed, SQLite forgets its pages and reads them again, and most of them are as they were.
///
/// A nonce is used once. So a sealed page whose nonce and tag are those of a page that was opened has its content.
package final class OpenedPages: Sendable {
  private struct Name: Hashable {
    let cipher: UInt64
    let number: Int64
  }

  private struct Page {
    let name: Name
    /// As SQLite has it, but with the nonce and the tag in the reserved bytes.
    var bytes: [UInt8]
    /// Whether it was asked for since the hand of the clock has passed it.
    var isUsed = false
  }

  private struct State {
    var limit = 0
    /// Pages that were opened once, which are most of what a pass over all documents reads.
    var once: Set<Name> = []
    var pages: [Page] = []
    var places: [Name: Int] = [:]
    /// The place of the page that is replaced next, unless it is used.
    var hand = 0
  }

  private let state = Mutex(State())

  /// The maximum number of pages, whatever the memory: 4 GB.
  private static let maximumPages = 1 << 20

  /// It keeps nothing until ``setLimit(_:)`` is called.
  package init() {}

  /// Forgets all pages.
  ///
  /// - Parameter bytes: The memory for pages from now on.
  package func setLimit(_ bytes: Int) {
    state.withLock { $0 = State(limit: min(bytes / DatabaseCipher.pageSize, Self.maximumPages)) }
  }

  /// Forgets all pages, so that damage of any page in the file is noticed.
  func removeAll() {
    state.withLock { $0 = State(limit: $0.limit) }
  }

  /// Puts the content of a sealed page in its place.
  ///
  /// - Returns: `false` if it is not known.
  func open(_ page: UnsafeMutableRawBufferPointer, number: Int64, of cipher: UInt64) -> Bool {
    state.withLock { state in
      guard let place = state.places[Name(cipher: cipher, number: number)] else { return false }
      let end = page.count - DatabaseCipher.reservedLength
      let isSame = state.pages[place].bytes.withUnsafeBytes { bytes in
        guard bytes.count == page.count,
          UnsafeRawBufferPointer(rebasing: bytes[end...])
            .elementsEqual(UnsafeRawBufferPointer(rebasing: page[end...]))
        else { return false }
        page.copyMemory(from: UnsafeRawBufferPointer(rebasing: bytes[..<end]))
        return true
      }
      guard isSame else { return false }
      UnsafeMutableRawBufferPointer(rebasing: page[end...]).initializeMemory(as: UInt8.self, repeating: 0)
      state.pages[place].isUsed = true
      return true
    }
  }

  /// Keeps a page that was opened, unless it is the first time.
  ///
  /// - Parameter seal: The nonce and the tag that it had.
  func keep(_ page: UnsafeRawBufferPointer, seal: [UInt8], number: Int64, of cipher: UInt64) {
    guard page.count == DatabaseCipher.pageSize, seal.count == DatabaseCipher.reservedLength else { return }
    let name = Name(cipher: cipher, number: number)
    state.withLock { state in
      guard state.limit > 0 else { return }
      if state.places[name] == nil, state.once.remove(name) == nil {
        if state.once.count >= 4 * state.limit { state.once.removeAll(keepingCapacity: true) }
        state.once.insert(name)
        return
      }
      var bytes = Array(page)
      bytes.replaceSubrange((page.count - seal.count)..., with: seal)
      if let place = state.places[name] {
        state.pages[place].bytes = bytes
        return
      }
      let page = Page(name: name, bytes: bytes)
      guard state.pages.count == state.limit else {
        state.places[name] = state.pages.count
        state.pages.append(page)
        return
      }
      while state.pages[state.hand].isUsed {
        state.pages[state.hand].isUsed = false
        state.hand = (state.hand + 1) % state.limit
      }
      state.places[state.pages[state.hand].name] = nil
      state.places[name] = state.hand
      state.pages[state.hand] = page
      state.hand = (state.hand + 1) % state.limit
    }
  }
}
