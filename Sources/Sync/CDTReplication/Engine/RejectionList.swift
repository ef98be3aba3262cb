import CDTDatastore
import CDTJSON
import Synchronization

/// The revisions that the target has not taken, which every run tries again.
///
/// A checkpoint keeps so many of them. The first one beyond holds the checkpoint where its batch begins, so that the next
/// run finds it among the changes.
final class RejectionList: Sendable {
  /// The part that a checkpoint keeps.
  struct Record: Sendable, Hashable {
    /// The sequence before the batch with the first of them.
    let since: JSONValue
    /// The ids of the revisions by those of their documents.
    let revisions: JSONObject
  }

  private struct State {
    var since: JSONValue?
    var revisions: [KeyBytes: Set<String>] = [:]
    var (count, length) = (0, 0)
    var held: JSONValue?
  }

  private let state = Mutex(State())
  private let maximumCount: Int
  private let maximumLength: Int

  init(maximumCount: Int = 1_000, maximumLength: Int = 256 * 1024) {
    (self.maximumCount, self.maximumLength) = (maximumCount, maximumLength)
  }

  /// Adds revisions.
  ///
  /// - Parameter since: The sequence before their batch, which is not before that of revisions added earlier.
  func add(_ rejected: [RejectedRevision], since: JSONValue) {
    state.withLock { state in
      for revision in rejected where !revision.revision.isEmpty {
        let id = KeyBytes(revision.id)
        if state.revisions[id]?.contains(revision.revision) == true { continue }
        let length = revision.id.utf8.count + revision.revision.utf8.count
        guard state.count < maximumCount, length <= maximumLength - state.length else {
          state.held = state.held ?? since
          continue
        }
        state.revisions[id, default: []].insert(revision.revision)
        state.since = state.since ?? since
        state.count += 1
        state.length += length
      }
    }
  }

  /// `nil` if there are none.
  var record: Record? {
    state.withLock { state in
      guard let since = state.since else { return nil }
      let sorted = state.revisions.sorted { $0.key.precedes($1.key) }
      return Record(
        since: since,
        revisions: JSONObject(sorted.map { ($0.key.string, .array($0.value.sorted().map { .string($0) })) }))
    }
  }

  /// The sequence after which the next run may begin when everything up to a sequence has been dealt with.
  func checkpoint(after sequence: JSONValue) -> JSONValue { state.withLock { $0.held ?? sequence } }
}

extension RejectionList.Record {
  /// The documents with these revisions.
  var documents: [ChangedDocument] {
    revisions.map { id, list in
      var document = ChangedDocument(id: id)
      for text in (list.arrayValue ?? []).compactMap(\.stringValue) { document.add(text) }
      return document
    }
  }

  /// The documents with those of these revisions that are leaves.
  func documents(among leaves: [ChangedDocument]) -> [ChangedDocument] {
    leaves.map { leaf in
      let known = Set((revisions[leaf.id]?.arrayValue ?? []).compactMap(\.stringValue))
      return ChangedDocument(
        id: leaf.id, revisions: leaf.revisions.filter { known.contains($0.description) },
        invalid: leaf.invalid.filter { known.contains($0) })
    }
  }
}
