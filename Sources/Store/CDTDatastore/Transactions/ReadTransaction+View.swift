extension ReadTransaction {
  /// The part of a state that a transaction shows, as far as it is known.
  package struct View {
    /// The rules of the user who reads; `nil` if none are enforced.
    package private(set) var rules: (any DocumentRules)?
    /// Whether reads include documents that the user has seen until they were changed, for a replicator that sends this change.
    package var includesLeft = false
    /// The time at which documents are hidden, in seconds since 1970.
    package var instant: Double?
    /// The documents that are hidden.
    var hidden: HiddenDocuments?
    /// The tree that ``tree(ofDocument:)`` has read last; `nil` if the document does not exist.
    package var lastTree: (id: String, tree: DocumentTree?)?
    /// Whether the user sees every document.
    fileprivate var showsEverything: Bool
    /// The documents that the user sees, unless the user sees every document.
    fileprivate var seen: SeenDocuments?

    init(rules: (any DocumentRules)?) {
      self.rules = rules
      showsEverything = rules == nil
    }

    /// Shows what other rules let their user see.
    mutating func enforce(_ rules: (any DocumentRules)?) {
      (self.rules, showsEverything) = (rules, rules == nil)
      (seen, lastTree) = (nil, nil)
    }

    mutating func end() {
      seen?.show(nil)
      (seen, lastTree) = (nil, nil)
    }
  }

  /// The documents that the user sees; `nil` for all.
  package func visibility() throws -> (any DocumentVisibility)? { try seenDocuments()?.visibility }

  /// The documents that the user sees, as views; `nil` for all.
  func seenDocuments() throws -> SeenDocuments? {
    if view.showsEverything { return nil }
    if let known = view.seen { return known }
    guard let visibility = try view.rules?.visibility(in: self) else {
      view.showsEverything = true
      return nil
    }
    // A write has its own, as their creation ends with it.
    var seen = try reader?.seenDocuments ?? use { try SeenDocuments(on: $0) }
    seen.show(visibility)
    view.seen = seen
    return seen
  }

  /// The documents that are read: without those that are hidden, and those that the user does not see.
  func visibleDocuments() throws -> DocumentTable {
    let hidden = try hiddenDocuments()
    return try seenDocuments()?.table(hidesDocuments: !hidden.isEmpty, view.includesLeft) ?? hidden.visible
  }
}
