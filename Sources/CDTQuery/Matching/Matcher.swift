public import JSON

/// The meaning of a selector: a function of a clause and a document, run on the document's JSON text.
///
/// Every other way to answer a query (an index, SQL) only narrows down the documents that are put to it. The text is
/// walked once, no tree is built, and the walk stops as soon as the clause is decided. Damaged text gives some answer,
/// never a read outside of it.
///
/// Source: `docs/query.md`, The three laws.
package struct Matcher: Sendable {
  private let condition: Condition
  private let names: MemberNames
  /// Bytes without which no document matches.
  private let required: RequiredText?
  /// Whether only objects match: the clause is a selector of an element's fields.
  private let needsObject: Bool

  /// - Parameter text: The program of the clause's text search, if it has one.
  package init(_ clause: Clause, text: TextProgram? = nil) {
    var names = MemberNames()
    condition = Condition(clause, names: &names, isDocument: true, text: text)
    self.names = names
    required = RequiredText(of: clause)
    needsObject = false
  }

  /// What is asked of one element of an array, or of a key.
  init(_ element: ElementCondition) {
    var names = MemberNames()
    switch element {
    case .fields(let clause):
      condition = Condition(clause, names: &names, isDocument: false, text: nil)
      needsObject = true
    case .operators(let clause):
      condition = Condition(clause, names: &names, isDocument: false, text: nil)
      needsObject = false
    }
    self.names = names
    required = nil
  }

  /// Whether a document matches.
  ///
  /// - Parameter document: Its strings have their one stored spelling, as ``JSONText`` and the writer give it.
  /// - Throws: ``MatchFailure`` when a pattern exceeds its limits: the query has no answer then.
  package func matches(_ document: DocumentBytes) throws(MatchFailure) -> Bool {
    if let required, !required.isIn(document.body) { return false }
    return try matches(document, at: 0)
  }

  /// Whether the value that starts at an offset satisfies what is asked of an element.
  func matches(valueAt start: Int, in bytes: JSONBytes) throws(MatchFailure) -> Bool {
    if needsObject, bytes.kind(at: start) != .object { return false }
    return try matches(DocumentBytes(element: bytes), at: start)
  }

  private func matches(_ document: DocumentBytes, at start: Int) throws(MatchFailure) -> Bool {
    var result: Result<Bool, MatchFailure> = .success(false)
    withUnsafeTemporaryAllocation(of: Int.self, capacity: names.count) { found in
      var view = DocumentView(document, at: start, names: names, found: found)
      result = Result { () throws(MatchFailure) in try condition.holds(&view) }
    }
    return try result.get()
  }
}

/// A match that was given up because the pattern needs more work than any match is given.
package struct MatchFailure: Error, Hashable, Sendable {
  package let pattern: String
}

extension DocumentBytes {
  /// Text in which an element lies; it has neither id nor revision.
  fileprivate init(element bytes: JSONBytes) {
    id = UnsafeRawBufferPointer(start: nil, count: 0)
    revision = UnsafeRawBufferPointer(start: nil, count: 0)
    body = bytes
  }
}

extension Selector {
  /// Whether a document matches, by the same function that decides in every query.
  ///
  /// ```swift
  /// try Selector(["tags": "red"]).matches(["tags": ["blue", "red"]])  // true
  /// ```
  ///
  /// - Parameters:
  ///   - body: The document's body.
  ///   - id: What `_id` stands for.
  ///   - revision: What `_rev` stands for.
  /// - Throws: ``QueryError`` with the code `.matchLimit` when a pattern needs more work than a match is given, and
  ///   `.textSearch` for a selector with `$text`, which only a text index gives a meaning.
  /// - Complexity: O(*n*) in the size of the body, which is written as text first.
  public func matches(_ body: JSONObject, id: String = "", revision: String = "") throws(QueryError) -> Bool {
    guard clause.textSearch == nil else { throw .textWithoutIndex(store: nil) }
    let matcher = Matcher(clause)
    return try DocumentBytes.with(body, id: id, revision: revision) { document throws(QueryError) in
      try matcher.accepts(document)
    }
  }
}

extension Matcher {
  /// Whether a document matches, a failure told as a query's.
  func accepts(_ document: DocumentBytes) throws(QueryError) -> Bool {
    do {
      return try matches(document)
    } catch {
      throw .matchLimit(pattern: error.pattern, documentID: String(decoding: document.id, as: UTF8.self))
    }
  }
}

extension DocumentBytes {
  /// Calls `body` with a document that is not stored, written as it would be.
  static func with<R>(
    _ object: JSONObject, id: String, revision: String, _ body: (DocumentBytes) throws(QueryError) -> R
  ) throws(QueryError) -> R {
    var text: [UInt8] = []
    object.write(to: &text)
    var (id, revision) = (id, revision)
    let result = text.withUnsafeBytes { text in
      id.withUTF8 { id in
        revision.withUTF8 { revision in
          Result { () throws(QueryError) in
            try body(
              DocumentBytes(
                id: UnsafeRawBufferPointer(id), revision: UnsafeRawBufferPointer(revision), body: text))
          }
        }
      }
    }
    return try result.get()
  }
}
