package import CDTDatastore
package import CDTJSON
package import CDTQuery

/// A golden file: documents, indexes, and queries with their expected answers.
///
/// ```
/// # A comment.
///
/// == documents
/// {"_id": "mike", "age": 36}
/// {"_id": "zoe", "age": 12}
///
/// == indexes
/// age:desc
///
/// == who is of age
/// {"age": {"$gte": 18}}
/// ----
/// mike
/// ```
///
/// A case is a heading, a selector or a whole request, a line `----`, and the golden answer: ids; documents, one per
/// line, if the request has `fields`; `none`; or `error: ` and the message. Ids are in order if the request has a
/// sort.
///
/// With a section `rules`, the members of a design document, the cases are writes, and the answer is the failures:
///
/// ```
/// == rules
/// {"validate_doc_update": {"newDoc": {"title": {"$type": "string"}}}}
///
/// == a title is text
/// {"old": {"_id": "a", "title": "x"}, "new": {"_id": "a", "title": 7}, "user": "anna", "roles": ["team"]}
/// ----
/// newDoc.title: expected a string
/// ```
public struct QueryFixture: Sendable {
  /// The name of the file in messages.
  public let name: String

  /// The documents, in the order of the file.
  package let documents: [DocumentRevision]

  /// The indexes with which the cases are run.
  package let indexes: [IndexDefinition]

  /// The rules of which the cases are writes; `nil` for queries.
  package let rules: JSONObject?

  /// The cases, in the order of the file.
  public let cases: [Case]

  /// The lines of the file, which recording edits.
  let lines: [String]

  /// The text of the fixture.
  public var text: String { lines.joined(separator: "\n") }

  /// A query with its golden answer.
  public struct Case: Sendable {
    /// The heading.
    public let name: String
    /// The line of the heading, starting at 1.
    public let line: Int
    /// The selector or request, as text.
    public let request: String
    /// The golden answer; `nil` if there is none yet.
    package let golden: FixtureAnswer?
    /// The positions of the golden answer's lines.
    let goldenLines: Range<Int>
  }

  /// Parses a fixture.
  ///
  /// - Throws: ``FixtureError`` with the invalid line.
  public init(parsing text: String, name: String) throws(FixtureError) {
    var parser = FixtureParser(text, name: name)
    try parser.parse()
    self.name = name
    documents = parser.documents
    indexes = parser.indexes
    rules = parser.rules
    cases = parser.cases
    lines = parser.lines
  }
}

/// An error in a line of a fixture.
public struct FixtureError: Error, Hashable, Sendable, CustomStringConvertible {
  /// The file's name.
  public let file: String
  /// The line, starting at 1.
  public let line: Int
  /// The message: the problem, then the remedy.
  public let message: String

  /// The place and the message, as in `eq.test:12: the document has no _id`.
  public var description: String { "\(file):\(line): \(message)" }
}
