package import CDTDatastore
package import CDTQuery
import JSON

/// A golden file: documents, indexes, and queries with the answers they must have.
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
/// A case is a heading, a selector or a whole request, a line `----`, and the golden answer: ids; documents, one a line,
/// where the request has `fields`; `none`; or `error: ` and the message. Ids are in order where the request sorts.
///
/// Source: `docs/cli.md`, Golden-file tests.
public struct QueryFixture: Sendable {
  /// What messages call the file.
  public let name: String

  /// The documents, in the order of the file.
  package let documents: [DocumentRevision]

  /// The indexes that the cases are run with.
  package let indexes: [IndexDefinition]

  /// The cases, in the order of the file.
  public let cases: [Case]

  /// The lines of the file, from which a recorded one is made.
  let lines: [String]

  /// The fixture as it was read.
  public var text: String { lines.joined(separator: "\n") }

  /// A query with its golden answer.
  public struct Case: Sendable {
    /// The heading.
    public let name: String
    /// The line of the heading, from 1.
    public let line: Int
    /// The selector or request, as text.
    public let request: String
    /// The answer it must have; `nil` when there is none yet.
    package let golden: FixtureAnswer?
    /// The lines that hold the golden answer, by their positions.
    let goldenLines: Range<Int>
  }

  /// Reads a fixture.
  ///
  /// - Throws: ``FixtureError`` with the line that is not understood.
  public init(parsing text: String, name: String) throws(FixtureError) {
    var parser = FixtureParser(text, name: name)
    try parser.parse()
    self.name = name
    documents = parser.documents
    indexes = parser.indexes
    cases = parser.cases
    lines = parser.lines
  }
}

/// A line of a fixture that is not understood.
public struct FixtureError: Error, Hashable, Sendable, CustomStringConvertible {
  /// The file's name.
  public let file: String
  /// The line, from 1.
  public let line: Int
  /// What is wrong with it, and what to do about it.
  public let message: String

  /// `eq.test:12: the document has no _id`
  public var description: String { "\(file):\(line): \(message)" }
}
