public import CDTJSON

/// The semantics of a selector: a function of a clause and a document, evaluated on the document's JSON text.
///
/// Every other way to answer a query (an index, SQL) only narrows down the candidates. The text is scanned once, no
/// tree is built, and the scan stops as soon as the clause is decided. Damaged text yields an arbitrary result, but
/// never a read outside of it.
///
/// It is a class, as other modules would copy the parts of a structure for each document.
///
/// See <doc:QueryingDocuments#The-three-laws>.
package final class Matcher: Sendable {
  private let condition: Condition
  private let names: MemberNames
  /// Bytes that every matching document contains.
  private let required: RequiredText?
  /// Whether only objects match, because the clause is a selector of an element's fields.
  private let needsObject: Bool
  /// The budget that counts texts, if the clause has operands that are computed. The matcher is then for one thread at a time.
  private let texts: MatchBudget?

  /// - Parameters:
  ///   - text: The program of the clause's text search, if it has one.
  ///   - budget: The limits of its patterns.
  package init(_ clause: Clause, text: TextProgram? = nil, _ budget: MatchBudget = MatchBudget()) {
    var names = MemberNames()
    condition = Condition(clause, names: &names, isDocument: true, text: text, budget)
    self.names = names
    required = RequiredText(of: clause)
    needsObject = false
    texts = clause.isComputed ? budget : nil
  }

  /// Creates the matcher of an array element or a key.
  package init(_ element: ElementCondition, _ budget: MatchBudget) {
    var names = MemberNames()
    switch element {
    case .fields(let clause):
      condition = Condition(clause, names: &names, isDocument: false, text: nil, budget)
      needsObject = true
    case .operators(let clause):
      condition = Condition(clause, names: &names, isDocument: false, text: nil, budget)
      needsObject = false
    }
    self.names = names
    required = nil
    texts = nil
  }

  /// Whether a document matches.
  ///
  /// - Parameters:
  ///   - document: Its strings must be in the normalized form of ``JSONText`` and the writer.
  ///   - mayMatch: Whether ``mayAccept(_:)`` has said so of its text, which is then not searched again.
  /// - Throws: ``MatchFailure`` if a pattern exceeds its limits; the query then has no result.
  package func matches(_ document: DocumentBytes, mayMatch: Bool = false) throws(MatchFailure) -> Bool {
    guard mayMatch || required?.isIn(document.body) != false else { return false }
    return try matches(document, at: 0)
  }

  /// Whether the value at an offset satisfies the condition on an element.
  package func matches(valueAt start: Int, in bytes: JSONBytes) throws(MatchFailure) -> Bool {
    if needsObject, bytes.kind(at: start) != .object { return false }
    return try matches(DocumentBytes(element: bytes), at: start)
  }

  private func matches(_ document: DocumentBytes, at start: Int) throws(MatchFailure) -> Bool {
    // Of elements, it is that of their document.
    texts?.beginText()
    var result: Result<Bool, MatchFailure> = .success(false)
    withUnsafeTemporaryAllocation(of: Int.self, capacity: names.count) { found in
      var view = DocumentView(document, at: start, names: names, found: found)
      result = Result { () throws(MatchFailure) in try condition.holds(&view) }
    }
    return try result.get()
  }
}

/// A pattern exceeded the match limit, or its query must end.
package struct MatchFailure: Error, Hashable, Sendable {
  package let pattern: String
}

extension DocumentBytes {
  /// Text that contains an element, which has neither id nor revision.
  fileprivate init(element bytes: JSONBytes) {
    id = UnsafeRawBufferPointer(start: nil, count: 0)
    revision = UnsafeRawBufferPointer(start: nil, count: 0)
    body = bytes
  }
}

extension QuerySelector {
  /// Whether a document matches, with the same semantics as in a query.
  ///
  /// ```swift
  /// try QuerySelector(["tags": "red"]).matches(["tags": ["blue", "red"]])  // true
  /// ```
  ///
  /// - Parameters:
  ///   - body: The document's body.
  ///   - id: The value of `_id`.
  ///   - revision: The value of `_rev`.
  /// - Throws: ``QueryError`` with the code `.matchLimit` if a pattern exceeds the match limit, and `.textSearch` for
  ///   a selector with `$text`, which needs a text index.
  /// - Complexity: O(*n*) in the size of the body, which is first written as text.
  public func matches(_ body: JSONObject, id: String = "", revision: String = "") throws(QueryError) -> Bool {
    guard clause.textSearch == nil else { throw QueryError(.textWithoutIndex) }
    let matcher = Matcher(clause)
    return try DocumentBytes.with(body, id: id, revision: revision) { document throws(QueryError) in
      try matcher.accepts(document)
    }
  }
}

extension Matcher {
  /// Whether a document may match, by its text, in which its ids precede the body.
  package func mayAccept(_ text: UnsafeRawBufferPointer) -> Bool {
    required?.isIn(JSONBytes(text)) != false
  }

  /// Whether a document matches, with errors as a ``QueryError``.
  ///
  package func accepts(_ document: DocumentBytes, mayMatch: Bool = false) throws(QueryError) -> Bool {
    do {
      return try matches(document, mayMatch: mayMatch)
    } catch {
      throw QueryError(
        .matchLimit(pattern: error.pattern, documentID: String(decoding: document.id, as: UTF8.self)))
    }
  }
}

extension DocumentBytes {
  /// Calls `body` with an unsaved document in the form in which it would be stored.
  package static func with<R>(
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
