package import SQLite
import Synchronization

/// Something that keeps data of its own beside a datastore's documents, and keeps it up to date.
///
/// The calls of a write come in this order, on the thread that writes and in its turn: ``willCommit(_:)``, and then
/// ``didCommit()`` or ``didRollBack()``.
package protocol DatastoreExtension: AnyObject, Sendable {
  /// The name of the directory in which the extension keeps its data: one of the reversed-domain kind.
  static var extensionName: String { get }

  /// Creates the extension of a datastore that is being opened or has just been asked for it.
  ///
  /// - Parameter directory: The extension's own directory, which is there.
  init(of store: Datastore, directory: String)

  /// Releases its files: the datastore closes.
  func close()

  /// Is told of a write that is about to be committed. A failure of the extension's own must not keep it from that.
  func willCommit(_ write: PendingWrite)

  /// The write is on disk.
  func didCommit()

  /// The write has left nothing.
  func didRollBack()
}

/// A write before it is committed: its own connection sees the documents as they will be, every other one as they were.
package struct PendingWrite {
  /// The connection that writes.
  package let connection: Connection
  /// The newest sequence before the write.
  package let previousSequence: Int64
  /// The newest sequence after it; every document with a higher sequence than the previous one has changed.
  package let lastSequence: Int64
}

/// The extensions of one datastore.
final class DatastoreExtensions: Sendable {
  private struct State {
    var isClosed = false
    var extensions: [any DatastoreExtension] = []
  }

  private let state = Mutex(State())

  /// The kinds of extensions that this process has used. A datastore that is opened later and has data of one of them gets
  /// its extension at once, so that no write goes past it.
  private static let known = Mutex<[any DatastoreExtension.Type]>([])

  static var knownTypes: [any DatastoreExtension.Type] { known.withLock { $0 } }

  var all: [any DatastoreExtension] { state.withLock { $0.extensions } }

  func has(_ wanted: any DatastoreExtension.Type) -> Bool {
    state.withLock { state in state.extensions.contains { type(of: $0) == wanted } }
  }

  func existing<E: DatastoreExtension>(_ type: E.Type) -> E? {
    state.withLock { state in
      for each in state.extensions { if let found = each as? E { return found } }
      return nil
    }
  }

  /// The extension of a type, made by a closure if there is none; `nil` after closing.
  func extensionObject<E: DatastoreExtension>(_ type: E.Type, make: () -> E) -> E? {
    Self.known.withLock { known in
      if !known.contains(where: { $0 == type }) { known.append(type) }
    }
    return state.withLock { state in
      for each in state.extensions { if let found = each as? E { return found } }
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
