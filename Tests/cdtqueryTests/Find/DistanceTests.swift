import CDTTestSupport
import Testing

/// Queries by distance on the command line.
@Suite struct DistanceTests {
  private let space: Workspace

  init() throws {
    space = try Workspace(
      """
      {"_id":"bern","place":{"type":"Point","coordinates":[7.44,46.95]},"canton":"BE"}
      {"_id":"chur","place":[9.53,46.85],"canton":"GR"}
      {"_id":"nowhere","canton":"BE"}
      {"_id":"zurich","place":{"type":"Point","coordinates":[8.54,47.37]},"canton":"ZH"}

      """)
  }

  private static let near = #"{"place":{"$near":{"$geometry":{"type":"Point","coordinates":[8.54,47.37]}}}}"#

  private static func near(within metres: Int) -> String {
    "\(near.dropLast(3)),\"$maxDistance\":\(metres)}}}"
  }

  private func find(_ options: String...) throws -> [String] {
    let result = try space.run(Built.cdtquery, ["find", "people/contacts", Self.near] + options)
    #expect(result.status == 0 && result.errors == "")
    // The last digits depend on the system's functions.
    return result.lines.map { $0.replacing(/(\d{5}\.)\d+/) { "\($0.output.1)…" } }
  }

  @Test func `the distance is a member of each result, and a column`() throws {
    #expect(
      try find("--no-rev", "--distance") == [
        #"{"_id":"zurich","place":{"type":"Point","coordinates":[8.54,47.37]},"canton":"ZH","_distance":0.0}"#,
        #"{"_id":"chur","place":[9.53,46.85],"canton":"GR","_distance":94743.…}"#,
        #"{"_id":"bern","place":{"type":"Point","coordinates":[7.44,46.95]},"canton":"BE","_distance":95488.…}"#,
      ])
    #expect(try !find("--no-rev").joined().contains("_distance"))
    #expect(
      try find("--no-rev", "--distance", "--format", "csv", "--fields", "canton", "--limit", "2")
        == ["_id,canton,_distance", "zurich,ZH,0.0", "chur,GR,94743.…"])
    #expect(
      try find("--no-rev", "--distance", "--format", "tsv", "--sort", "_id", "--limit", "1").first
        == "_id\tplace\tcanton\t_distance")
    #expect(try find("--no-rev", "--distance", "--format", "json").joined().contains(#""_distance":0.0"#))
    #expect(try find("--ids") == ["zurich", "chur", "bern"])
    #expect(try find("--count") == ["3"])
  }

  @Test func `a request asks for distances, and groups refuse them`() throws {
    let request = #"{"selector":\#(Self.near),"distance":true,"fields":["canton"],"limit":1}"#
    let found = try space.run("find", "people/contacts", "--batch", "-", input: request + "\n")
    #expect(found.output.contains(#""canton":"ZH","_distance":0.0}]}"#))
    let groups = try space.run("group", "people/contacts", Self.near(within: 95_000), "--by", "canton")
    #expect(groups.lines.count == 2)
    let distances = #"{"selector":\#(Self.near),"distance":true}"#
    let refused = try space.run("group", "people/contacts", distances, "--by", "canton")
    #expect(refused.status == 65 && refused.errors.contains("leave it out, as rows are not documents"))
    let without = try space.run("find", "people/contacts", "{}", "--distance")
    #expect(
      without.errors
        == "cdtquery: distance: a distance needs a \"$near\" in the selector; add one, or leave it out\n")
  }

  @Test func `update and delete take it as a condition`() throws {
    let updated = try space.run(
      "update", "people/contacts", Self.near(within: 95_000), "--set", "isNear=true", "--yes")
    #expect(updated.output == "2 updated\n")
    #expect(try space.run("count", "people/contacts", #"{"isNear":true}"#).output == "2\n")
    let deleted = try space.run(
      "delete", "people/contacts", "--matching", Self.near(within: 10), "--yes")
    #expect(deleted.output == "1 deleted\n")
    #expect(try find("--ids") == ["chur", "bern"])
  }

  @Test(arguments: [("[1,2]", true), ("[1,2,3]", false), ("7", false)])
  func `an index for vectors of another length is noted`(_ value: String, _ isNoted: Bool) throws {
    let space = try Workspace("{\"v\":\(value)}\n")
    let created = try space.run("index", "create", "people/contacts", "v", "--vector", "3")
    #expect(created.output == "vector_v\n")
    #expect(
      created.errors == (isNoted ? "cdtquery: no array in \"v\" is a vector of 3 numbers\n" : ""))
  }

  @Test func `a file of documents is queried, too`() throws {
    try space.write("{\"_id\":\"a\",\"v\":[1,0]}\n{\"_id\":\"b\",\"v\":[1,1]}\n", to: "v.jsonl")
    let found = try space.run("find", "v.jsonl", #"{"v":{"$near":{"$vector":[0,3]}}}"#, "--distance")
    #expect(found.lines.first?.hasPrefix(#"{"_id":"b","v":[1,1],"_distance":0.29289321881345"#) == true)
    #expect(found.lines.count == 2)
  }
}
