import CDTJSON

/// What happens to a datastore and what is asked of it, as a value: it can be run, shrunk and kept in a file.
///
/// ```
/// {"put":{"_id":"a","x":1}}
/// {"index":{"fields":["x"]}}
/// {"find":{"selector":{"x":{"$gt":0}},"sort":["x"]}}
/// ```
struct History: Sendable {
  var steps: [Step]

  init(_ steps: [Step]) {
    self.steps = steps
  }

  /// Reads a step a line; blank lines and comments, which begin with `#`, are passed over.
  init(parsing text: String) throws {
    steps = try text.split(separator: "\n").filter { !$0.hasPrefix("#") }.map { line in
      let object = try JSONObject(parsing: String(line))
      guard object.count == 1, let member = object.first(where: { _ in true }),
        let name = Step.Name(rawValue: member.key)
      else { throw NotAStep(line: String(line)) }
      return Step(name, member.value)
    }
  }

  struct NotAStep: Error {
    let line: String
  }

  /// The steps, one a line.
  var text: String { steps.map(\.text).joined(separator: "\n") }
}

/// One thing that happens. A step that can't be done, such as deleting what is not there, does nothing, so that steps
/// can be taken out of a history.
struct Step: Sendable {
  enum Name: String, Sendable {
    /// Creates a document, or gives it a new body.
    case put
    /// Deletes the winner of a document.
    case delete
    /// Inserts a revision that was made elsewhere, which conflicts with those there are.
    case rival
    /// Does one of these as a process does that knows no indexes: puts a document, deletes the one of an id, or inserts the
    /// revision that a document has.
    case miss
    /// Makes an index and fills it.
    case index
    /// Makes an index with nothing in it yet.
    case begin
    /// Takes so many documents into the indexes that are behind.
    case advance
    /// Deletes the index at this place of the list.
    case drop
    /// Brings every index up to date.
    case update
    /// Empties every index and leaves it so.
    case rewind
    /// Fills every index anew.
    case rebuild
    case compact
    case reopen
    /// Has documents expire so many seconds after the number in a field.
    case expire
    /// Sets the clock.
    case clock
    /// Puts a request to every way of answering it, and compares.
    case find
  }

  var name: Name
  var argument: JSONValue

  init(_ name: Name, _ argument: JSONValue = true) {
    self.name = name
    self.argument = argument
  }

  var text: String { JSONObject([(name.rawValue, argument)]).text }
}
