import CDTDatastore
import CDTJSON
import CDTQuery
import CDTQueryTesting
import CDTTestSupport

/// A failure as it is printed: shrunk, as a fixture to paste, with the history that leads to it.
struct FailureReport {
  /// The shrunk history, which fails.
  let history: History
  let failure: HistoryFailure
  private let title: String

  /// Shrinks a history that fails.
  init(
    _ history: History, _ failure: HistoryFailure, title: String,
    against reference: @escaping ReferenceAnswers = History.matcher
  ) {
    var upToFailure = history
    upToFailure.steps.removeSubrange((failure.step + 1)...)
    let kind = Self.kind(failure)
    var shrinker = Shrinker { candidate in
      guard let failure = try? candidate.run(against: reference) else { return false }
      return Self.kind(failure) == kind
    }
    let shrunk = shrinker.shrink(upToFailure)
    // A failure that does not come again is reported as it was seen.
    let again = try? shrunk.run(against: reference)
    self.history = again == nil ? upToFailure : shrunk
    self.failure = (again ?? nil) ?? failure
    self.title = title
  }

  /// A disagreement must not shrink into an error of another kind.
  private static func kind(_ failure: HistoryFailure) -> String {
    failure.error is Disagreement ? "disagreement" : "\(type(of: failure.error))"
  }

  /// The documents and indexes as they are when the query fails, and the query, in the format of `QueryFixtures/`.
  func fixture() -> String {
    var lines = ["# \(title)", "", "== documents"]
    for document in failure.documents {
      lines.append(
        JSONObject([("_id", .string(document.id))] + document.body.map { ($0.key, $0.value) }).text)
    }
    if !failure.indexes.isEmpty { lines += ["", "== indexes"] }
    for index in failure.indexes {
      var json: JSONObject = ["fields": index.fieldsJSON]
      if index.type == .text { (json["type"], json["settings"]) = ("text", .object(index.settings)) }
      for (name, value) in index.otherOptions { json[name] = value }
      lines.append(json.text)
    }
    let step = history.steps.last
    lines += ["", "== \(title)", step?.name == .find ? step?.argument.text ?? "" : "{}", "----", ""]
    let text = lines.joined(separator: "\n")
    return (try? QueryFixture(parsing: text, name: "fixture").recorded()) ?? text
  }

  /// Whether the fixture fails by itself, or only after the history's other steps.
  private func fixtureFails() -> Bool {
    guard let fixture = try? QueryFixture(parsing: fixture(), name: "fixture"),
      let outcomes = try? withTemporaryDirectory(inMemory: true, { try fixture.run(in: $0) })
    else { return false }
    return outcomes.contains { !$0.hasPassed }
  }

  var text: String {
    """
    \(failure.error)
    \(failure.explanation)

    As a fixture for QueryFixtures/\(fixtureFails() ? "" : ", which passes by itself: the steps below matter"):

    \(fixture())
    As a history for Tests/CDTQueryTests/Fuzz/Histories/:

    # \(title)
    \(history.text)
    """
  }
}
