import CDTJSON
import CDTQuery
import CDTRandomDocuments
import CDTTestSupport

/// One round of looking for a query that an index answers differently: bounded in `make test`, for as long as one likes
/// in `make fuzz`.
enum Fuzz {
  /// What came of a round, counted.
  struct Tally {
    var steps = 0
    var queries = 0
  }

  /// Draws a history while it runs.
  ///
  /// - Returns: The report of the first failure, or `nil` when everything agreed.
  static func round(
    seed: UInt64, steps: Int, against reference: @escaping ReferenceAnswers = History.matcher
  ) throws -> FailureReport? {
    var tally = Tally()
    return try round(seed: seed, steps: steps, tally: &tally, against: reference)
  }

  /// - Parameter isOver: Asked after each step.
  static func round(
    seed: UInt64, steps: Int, tally: inout Tally,
    against reference: @escaping ReferenceAnswers = History.matcher,
    isOver: () -> Bool = { false }
  ) throws -> FailureReport? {
    var random = RandomDocuments(seed: seed, scope: .everything)
    random.hasArrays = random.chance(65)
    var history = History([])
    let failure = try withTemporaryDirectory(inMemory: true) { directory -> HistoryFailure? in
      let world = try World(directory: directory, form: seed)
      var upcoming = random.beginning()[...]
      for number in 0..<(upcoming.count + steps) {
        let step = upcoming.popFirst() ?? random.step()
        history.steps.append(step)
        tally.steps += 1
        if step.name == .find { tally.queries += 1 }
        if let failure = world.run(step, number: number, against: reference) { return failure }
        if isOver() { return nil }
      }
      return nil
    }
    return failure.map {
      FailureReport(history, $0, title: "found by make fuzz SEED=\(seed)", against: reference)
    }
  }

  /// Puts a drawn selector, a drawn projection and a drawn document to the engine and to the oracle.
  ///
  /// - Returns: What they differ in, or `nil` when they agree.
  static func compareWithOracle(_ random: inout RandomDocuments) throws -> String? {
    let body = random.body()
    let json = random.selector()
    let collation = random.collation()
    let selector = try ResolvedQuery(Query(json, collation: collation)).selector
    let expected = Oracle.$collation.withValue(collation) { Oracle.matches(json, body, id: "doc") }
    guard try selector.matches(body, id: "doc", revision: "1-a") == expected else {
      return "\(json.text) of \(body.text) by \(collation?.rawValue ?? "bytes"): the oracle says \(expected)"
    }
    let fields = random.fields(of: body)
    let wanted = Oracle.project(fields, body).text
    let given = try ResolvedQuery(Query([:], fields: fields)).projection.apply(to: body).text
    guard given.hasSameBytes(as: wanted) else {
      return "fields \(fields) of \(body.text): the oracle says \(wanted), the engine \(given)"
    }
    return nil
  }
}

extension FailureReport: CustomStringConvertible {
  var description: String { text }
}
