package import CDTSQLite
import Synchronization

/// Keeps derived data beside a datastore's documents, and keeps it up to date.
///
/// For each write, the writing thread calls ``willCommit(_:)`` and then ``didCommit(_:)`` or ``didRollBack()``, while it
/// holds the writer.
package protocol DatastoreExtension: AnyObject, Sendable {
  /// The name of the directory of the extension's data, a reverse domain name.
  static var extensionName: String { get }

  /// Creates the extension when its datastore is opened or first asks for it.
  ///
  /// - Parameter directory: The extension's directory, which exists.
  init(of store: Datastore, directory: String)

  /// Closes the extension's files when the datastore closes.
  func close()

  /// Closes the files that are open and not in use. It is called repeatedly while the datastore is being suspended.
  func closeIdleFiles()

  /// Continues background work after a suspension.
  func resume()

  /// Prepares a reader before it begins a transaction.
  func willBegin(on reader: StoreReader) throws

  /// Takes a snapshot of the extension's data for a transaction that has read nothing yet. The extension may end and
  /// restart the transaction on the connection.
  func didBegin(_ transaction: ReadTransaction, on reader: StoreReader) throws

  /// Whether the states of a reader's transaction, which goes on, are those that a new one would have.
  func isCurrent(_ states: ExtensionStates, on reader: StoreReader) -> Bool

  /// Decides which documents are hidden; `nil` if none can be. Only one extension of a datastore does.
  var hiding: (any DocumentHiding)? { get }

  /// Called before a write is committed.
  ///
  /// - Throws: An error that refuses the write, which is then rolled back. A failure of the extension must not prevent the commit.
  func willCommit(_ write: PendingWrite) throws

  /// Called when the write is on disk.
  func didCommit(_ write: PendingWrite)

  /// Called when the write was rolled back.
  func didRollBack()

  /// Called when the datastore enforces the rules of another user.
  func rulesDidChange()
}

extension DatastoreExtension {
  package func closeIdleFiles() {}
  package func resume() {}
  package func willBegin(on reader: StoreReader) throws {}
  package func didBegin(_ transaction: ReadTransaction, on reader: StoreReader) throws {}
  package func isCurrent(_ states: ExtensionStates, on reader: StoreReader) -> Bool { true }
  package var hiding: (any DocumentHiding)? { nil }
  package func rulesDidChange() {}
}

/// A write: before its commit its connection sees the new documents, and every other connection the old ones.
package struct PendingWrite {
  /// The writing connection.
  package let connection: Connection
  /// The newest sequence before the write.
  package let previousSequence: Int64
  /// The newest sequence after it; documents with a sequence above `previousSequence` have changed.
  package let lastSequence: Int64
  /// The sequences of documents that this write has only changed by inserting revisions made elsewhere.
  package let replicatedSequences: RangeSet<Int64>
  /// Whether design documents are among them.
  package let changesDesignDocuments: Bool
  /// Whether the user who writes sees a document.
  package let sees: (_ id: String) throws -> Bool

  /// Whether it has only inserted revisions made elsewhere.
  package var isReplicated: Bool {
    replicatedSequences.ranges.elementsEqual([previousSequence + 1..<lastSequence + 1])
  }
}

/// The extensions of one datastore.
final class DatastoreExtensions: Sendable {
  private struct State {
    var isClosed = false
    var extensions: [any DatastoreExtension] = []
  }

  private let state = Mutex(State())
  /// The number of types that a read has looked for.
  let checkedTypes = Atomic(0)

  /// The extension types used by this process. A datastore opened later that has data of one of them gets its
  /// extension immediately, so that the extension sees every write.
  private static let known = Mutex<[any DatastoreExtension.Type]>([])

  static var knownTypes: [any DatastoreExtension.Type] { known.withLock { $0 } }

  static func register(_ type: any DatastoreExtension.Type) {
    known.withLock { known in
      if !known.contains(where: { $0 == type }) { known.append(type) }
    }
  }

  var all: [any DatastoreExtension] { state.withLock { $0.extensions } }

  func has(_ wanted: any DatastoreExtension.Type) -> Bool {
    state.withLock { state in state.extensions.contains { type(of: $0) == wanted } }
  }

  /// A loop, since each transaction asks: generic code of the standard library took 5,000 instructions here, and a cast 1,000.
  private static func first<E: DatastoreExtension>(
    _ wanted: E.Type, among extensions: [any DatastoreExtension]
  ) -> E? {
    for each in extensions where type(of: each) == wanted { return unsafeDowncast(each, to: wanted) }
    return nil
  }

  func existing<E: DatastoreExtension>(_ type: E.Type) -> E? {
    state.withLock { Self.first(type, among: $0.extensions) }
  }

  /// The extension of a type, created by a closure if it does not exist; `nil` after closing.
  func extensionObject<E: DatastoreExtension>(_ type: E.Type, make: () -> E) -> E? {
    Self.register(type)
    return state.withLock { state in
      if let known = Self.first(type, among: state.extensions) { return known }
      if state.isClosed { return nil }
      let made = make()
      state.extensions.append(made)
      return made
    }
  }

  func close() {
    let all = state.withLock { state in
      state.isClosed = true
      defer { state.extensions = [] }
      return state.extensions
    }
    for each in all { each.close() }
  }
}
