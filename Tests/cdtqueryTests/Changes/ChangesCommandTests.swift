import CDTDatastore
import CDTJSON
import CDTTestSupport
import Glibc
import Testing

@Suite struct ChangesCommandTests {
  private func ids(_ output: String) throws -> [JSONValue?] {
    try output.split(separator: "\n").map { try JSONObject(parsing: String($0))["id"] }
  }

  @Test func `each document that has changed is a line, in the order of its newest change`() throws {
    let space = try Workspace(Workspace.people)
    let mike = try JSONObject(parsing: try space.run("get", "people/contacts", "mike").output)
    let first = try #require(mike["_rev"]?.stringValue)
    let put = try space.run("put", "people/contacts", "mike", "{}", "--rev", first)
    let second = try #require(try JSONObject(parsing: put.output)["_rev"]?.stringValue)
    let deleted = try space.run("delete", "people/contacts", "zoe")
    let tombstone = try #require(try JSONObject(parsing: deleted.output)["_rev"]?.stringValue)
    let result = try space.run("changes", "people/contacts")
    #expect(result.status == 0 && result.errors == "")
    #expect(result.lines.count == 3)
    #expect(result.lines.first?.hasPrefix("{\"sequence\":3,\"id\":\"ann\",\"rev\":\"1-") == true)
    #expect(
      result.lines.dropFirst() == [
        "{\"sequence\":4,\"id\":\"mike\",\"rev\":\"\(second)\"}",
        "{\"sequence\":5,\"id\":\"zoe\",\"rev\":\"\(tombstone)\",\"deleted\":true}",
      ])
  }

  @Test func `since and limit give a part, and the last sequence goes on`() throws {
    let space = try Workspace((0..<2_500).map { "{\"_id\":\"\($0)\"}\n" }.joined())
    #expect(try space.run("changes", "people/contacts").lines.count == 2_500)
    #expect(try space.run("changes", "people/contacts", "--limit", "1200").lines.count == 1_200)
    let rest = try space.run("changes", "people/contacts", "--since", "1200", "--limit", "2")
    #expect(try ids(rest.output) == ["1200", "1201"])
    #expect(try space.run("changes", "people/contacts", "--since", "2500").output == "")
  }

  @Test(arguments: [[], ["--follow"]]) func `a sequence beyond the last is refused`(_ options: [String])
    throws
  {
    let space = try Workspace(Workspace.people)
    let result = try space.run(Built.cdtquery, ["changes", "people/contacts", "--since", "9999"] + options)
    #expect(result.status == 65 && result.output == "")
    #expect(
      result.errors
        == "cdtquery: the last sequence of \"contacts\" is 3, so it can't list changes since 9999; the store was probably "
        + "recreated or restored, so start again from 0\n")
  }

  @Test(arguments: [
    ["--since", "-1"], ["--since", "x"], ["--limit", "0"], ["--since", "9223372036854775808"],
  ])
  func `a sequence and a limit are whole numbers`(_ options: [String]) throws {
    let space = try Workspace(Workspace.people)
    #expect(try space.run(Built.cdtquery, ["changes", "people/contacts"] + options).status == 64)
  }

  /// A run of `changes --follow` with the pipe that it writes to.
  private func follow(
    _ space: Workspace, _ options: [String] = []
  ) throws -> (program: SpawnedProcess, output: Int32, errors: Int32) {
    let (output, errors) = (try Pipe(), try Pipe())
    let program = try Program.start(
      Built.cdtquery, ["changes", "people/contacts", "--follow"] + options, directory: space.directory,
      input: .file("/dev/null"), output: .descriptor(output.writing), errors: .descriptor(errors.writing))
    close(output.writing)
    close(errors.writing)
    return (program, output.reading, errors.reading)
  }

  private func read(_ lines: Int, from output: Int32) throws -> String {
    try Descriptor.read(from: output) { $0.split(separator: "\n").count == lines && $0.hasSuffix("\n") }
  }

  @Test func `follow goes on with what others write, until it is interrupted`() throws {
    let space = try Workspace(Workspace.people)
    let (program, output, errors) = try follow(space, ["--since", "1"])
    #expect(try ids(try read(2, from: output)) == ["zoe", "ann"])
    try space.run("put", "people/contacts", "kim", "{}")
    #expect(try ids(try read(1, from: output)) == ["kim"])
    try space.run("delete", "people/contacts", "kim")
    #expect(try read(1, from: output).hasSuffix(",\"deleted\":true}\n"))
    program.send(SIGINT)
    #expect(program.wait() == -SIGINT)
    #expect(try Descriptor.read(from: errors) == "")
    close(output)
    close(errors)
    #expect(try space.run("count", "people/contacts").output == "3\n")
  }

  @Test func `follow with a limit ends`() throws {
    let space = try Workspace(Workspace.people)
    let result = try space.run("changes", "people/contacts", "--follow", "--limit", "2")
    #expect(try ids(result.output) == ["mike", "zoe"])
    #expect(result.status == 0)
  }

  @Test func `follow ends quietly when its reader is gone, though nothing more is written`() throws {
    let space = try Workspace(Workspace.people)
    let result = try space.shell("set -o pipefail; cdtquery changes people/contacts --follow | head -1")
    #expect(try ids(result.output) == ["mike"])
    #expect(result.errors == "")
    #expect(result.status == 0)
    let (program, output, errors) = try follow(space)
    _ = try read(3, from: output)
    close(output)
    #expect(program.wait() == 0)
    #expect(try Descriptor.read(from: errors) == "")
    close(errors)
  }

  @Test func `follow ends when the store is deleted`() throws {
    let space = try Workspace(Workspace.people)
    let (program, output, errors) = try follow(space)
    _ = try read(3, from: output)
    try space.run("drop", "people/contacts", "--yes")
    #expect(program.wait() == 66)
    #expect(
      try Descriptor.read(from: errors)
        == "cdtquery: the store people/contacts was deleted, which ends its changes\n")
    close(output)
    close(errors)
  }
}
