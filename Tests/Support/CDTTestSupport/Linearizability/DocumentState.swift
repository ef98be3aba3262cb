/// The state of a document without conflicts between two operations, if one operation follows another.
package enum DocumentState: Hashable, Sendable {
  case absent
  case live(DocumentOperation.Content)
  /// The document has a tombstone with this id.
  case deleted(String)

  /// The state after an operation; `nil` if in this state the operation has another outcome.
  package func after(_ operation: DocumentOperation) -> DocumentState? {
    switch (operation.call, operation.outcome) {
    case (.read, .found(let content)): self == .live(content) ? self : nil
    case (.read, .notFound), (.modify, .notFound): isLive ? nil : self

    case (.create(let value), .wrote(let revision)):
      isLive ? nil : next(revision, .live(.init(revision: revision, value: value)))
    case (.create, .conflict): isLive ? self : nil

    case (.update(let parent, let value), .wrote(let revision)):
      parent == leaf ? next(revision, .live(.init(revision: revision, value: value))) : nil
    case (.delete(let parent), .wrote(let revision)):
      isLive && parent == leaf ? next(revision, .deleted(revision)) : nil
    case (.update(let parent, _), .conflict), (.delete(let parent), .conflict):
      leaf != nil && parent != leaf ? self : nil
    case (.update, .notFound): self == .absent ? self : nil
    case (.delete(let parent), .notFound): self == .absent || self == .deleted(parent) ? self : nil

    case (.modify(let value), .modified(let content, let revision)):
      self == .live(content) ? next(revision, .live(.init(revision: revision, value: value))) : nil
    default: nil
    }
  }

  private var isLive: Bool {
    if case .live = self { true } else { false }
  }

  /// The id of the newest revision.
  private var leaf: String? {
    switch self {
    case .absent: nil
    case .live(let content): content.revision
    case .deleted(let revision): revision
    }
  }

  /// The state with a new revision, if its generation follows that of the leaf.
  private func next(_ revision: String, _ state: DocumentState) -> DocumentState? {
    Self.generation(revision) == (leaf.map(Self.generation) ?? 0) + 1 ? state : nil
  }

  private static func generation(_ revision: String) -> Int {
    Int(String(revision.prefix { $0 != "-" })) ?? 0
  }
}
