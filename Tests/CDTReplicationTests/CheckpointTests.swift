import CDTJSON
import Testing

@testable import CDTReplication

/// Where a run goes on after earlier ones.
@Suite struct CheckpointTests {
  @Test func `a run goes on from the newest session that both ends know`() {
    func checkpoint(_ sessions: [(String, JSONValue)]) -> Checkpoint {
      Checkpoint([
        "session_id": .string(sessions[0].0), "source_last_seq": sessions[0].1,
        "history": .array(sessions.map { ["session_id": .string($0.0), "recorded_seq": $0.1] }),
      ])
    }
    let (one, two, three): ((String, JSONValue), (String, JSONValue), (String, JSONValue)) = (
      ("one", "10-x"), ("two", "20-x"), ("three", "30-x")
    )
    func start(_ source: Checkpoint?, _ target: Checkpoint?) -> JSONValue {
      Checkpoint.resumption(source, target).sequence
    }
    #expect(start(checkpoint([two, one]), checkpoint([two, one])) == "20-x")
    // One end was restored from a backup.
    #expect(start(checkpoint([three, two, one]), checkpoint([two, one])) == "20-x")
    #expect(start(checkpoint([two, one]), checkpoint([three, one])) == "10-x")
    #expect(start(checkpoint([two]), checkpoint([one])) == 0)
    #expect(start(nil, checkpoint([one])) == 0)
    // From a backup of the time of the run; or the run had not saved its checkpoint at both ends.
    #expect(start(checkpoint([two]), checkpoint([("two", "15-y")])) == "15-y")
    #expect(start(checkpoint([("two", 9)]), checkpoint([("two", 10)])) == 9)
    #expect(start(checkpoint([("two", "a"), one]), checkpoint([("two", "b"), one])) == "10-x")
  }

  @Test func `a run that one end has lost is not taken for known after the next one`() {
    func next(_ sequence: JSONValue, after known: Checkpoint.Resumption) -> Checkpoint {
      Checkpoint(Checkpoint.Run(from: known), sequence: sequence, counts: .init())
    }
    let first = next(100, after: .init())
    // The target is created again; a run saves its checkpoint there, and ends before it saves that of the source.
    let second = next(10, after: Checkpoint.resumption(first, nil))
    #expect(Checkpoint.resumption(first, second).sequence == 0)
    // The target is restored from a backup of the time of the first run.
    let backup = Checkpoint([
      "history": [["session_id": first.json["session_id"] ?? .null, "recorded_seq": 40]]
    ])
    let third = next(50, after: Checkpoint.resumption(first, backup))
    #expect(Checkpoint.resumption(first, third).sequence == 40)
  }
}
