public import JSON

/// The meaning of a selector: a function of a clause and a document, run on the document's JSON text.
///
/// Every other way to answer a query (an index, SQL) only narrows down the documents that are put to it. The text is
/// walked once, no tree is built, and the walk stops as soon as the clause is decided. Text that is damaged gives some
/// answer, never a read outside of it.
///
/// Source: `docs/query.md`, The three laws.
package final class Matcher: Sendable {
  private let condition: Condition
  private let names: MemberNames

  /// - Parameters:
  ///   - isDocument: Whether `_id` and `_rev` are the document's own; false for an array's element.
  ///   - text: The program of the clause's text search, if it has one.
  package init(_ clause: Clause, isDocument: Bool = true, text: TextProgram? = nil) {
    var names = MemberNames()
    condition = Condition.compile(clause, names: &names, isDocument: isDocument, text: text)
    self.names = names
  }

  /// Whether a document matches.
  ///
  /// - Parameters:
  ///   - bytes: JSON text whose strings have their one stored spelling, as ``JSONText`` and the writer give it.
  ///   - start: The offset of the object's opening brace.
  /// - Throws: ``MatchFailure`` when a pattern passes its limits: the query has no answer then.
  package func matches(
    _ bytes: JSONBytes, at start: Int = 0, id: UnsafeRawBufferPointer, revision: UnsafeRawBufferPointer
  ) throws(MatchFailure) -> Bool {
    var result: Result<Bool, MatchFailure> = .success(false)
    withUnsafeTemporaryAllocation(of: Int.self, capacity: names.count) { found in
      var view = DocumentView(
        bytes, objectAt: start, id: id, revision: revision, names: names, found: found)
      do throws(MatchFailure) {
        result = .success(try condition.holds(&view))
      } catch {
        result = .failure(error)
      }
    }
    return try result.get()
  }
}

/// A match that was given up because the pattern needs more work than any match is given.
package struct MatchFailure: Error, Hashable, Sendable {
  package let pattern: String
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
    return try matches(body, id: id, revision: revision, matcher: Matcher(clause))
  }

  func matches(
    _ body: JSONObject, id: String, revision: String, matcher: Matcher
  ) throws(QueryError) -> Bool {
    var text: [UInt8] = []
    body.write(to: &text)
    var id = id
    var revision = revision
    let outcome: Result<Bool, MatchFailure> = text.withUnsafeBytes { body in
      id.withUTF8 { id in
        revision.withUTF8 { revision in
          do throws(MatchFailure) {
            return .success(
              try matcher.matches(
                JSONBytes(body), id: UnsafeRawBufferPointer(id), revision: UnsafeRawBufferPointer(revision)))
          } catch {
            return .failure(error)
          }
        }
      }
    }
    switch outcome {
    case .success(let matches): return matches
    case .failure(let failure): throw .matchLimit(pattern: failure.pattern, documentID: id)
    }
  }
}
