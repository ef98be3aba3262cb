import CDTTestSupport
import Foundation
import Testing

/// `cdtquery find --watch`.
@Suite(.timeLimit(.usual)) struct WatchTests {
  private func watch(
    _ space: Workspace, _ options: [String]
  ) throws -> (program: SpawnedProcess, output: Int32, errors: Int32) {
    let (output, errors) = (try Pipe(), try Pipe())
    let program = try Program.start(
      Built.cdtquery, ["find", "people/contacts", "--watch"] + options, directory: space.directory,
      input: .file("/dev/null"), output: .descriptor(output.writing), errors: .descriptor(errors.writing))
    close(output.writing)
    close(errors.writing)
    return (program, output.reading, errors.reading)
  }

  private func read(_ lines: Int, from output: Int32) throws -> [String] {
    let text = try Descriptor.read(from: output) {
      $0.split(separator: "\n").count == lines && $0.hasSuffix("\n")
    }
    return text.split(separator: "\n").map(String.init)
  }

  @Test func `results are followed by their changes, until it is interrupted`() throws {
    let space = try Workspace(Workspace.people)
    let (program, output, errors) = try watch(space, ["{\"age\": {\"$gt\": 20}}", "--fields", "age"])
    let first = try read(
      try Int(space.run("count", "people/contacts", "{\"age\": {\"$gt\": 20}}").output.dropLast()) ?? 0,
      from: output)
    #expect(first.allSatisfy { $0.hasPrefix("{\"_id\":\"") })
    try space.run("put", "people/contacts", "aaa", "{\"age\": 70}")
    #expect(
      try read(1, from: output)[0].hasPrefix("{\"change\":\"insert\",\"at\":0,\"doc\":{\"_id\":\"aaa\","))
    try space.run("put", "people/contacts", "other", "{\"age\": 7}")
    try space.run("delete", "people/contacts", "aaa")
    #expect(try read(1, from: output) == ["{\"change\":\"remove\",\"at\":0,\"id\":\"aaa\"}"])
    program.send(SIGINT)
    #expect(program.wait() == -SIGINT)
    #expect(try Descriptor.read(from: errors) == "")
    close(output)
    close(errors)
  }

  @Test func `a change of an included document is a line`() throws {
    let space = try Workspace(#"{"_id":"o1","n":1,"owner":"ann"}"#)
    let (program, output, errors) = try watch(space, [#"{"n": 1}"#, "--include", "owner=owner"])
    #expect(try read(2, from: output)[1] == #"{"included":{"owner":{}}}"#)
    try space.run("put", "people/contacts", "ann", #"{"name": "Ann"}"#)
    #expect(
      try read(1, from: output)[0].hasPrefix(
        #"{"change":"included","included":{"owner":{"ann":{"_id":"ann","#))
    program.send(SIGINT)
    #expect(program.wait() == -SIGINT)
    close(output)
    close(errors)
  }

  @Test func `it ends quietly when its reader is gone`() throws {
    let space = try Workspace(Workspace.people)
    let result = try space.shell("set -o pipefail; cdtquery find people/contacts --watch | head -1")
    #expect(result.output.split(separator: "\n").count == 1)
    #expect(result.errors == "" && result.status == 0)
  }

  @Test func `it ends when the store is deleted`() throws {
    let space = try Workspace(Workspace.people)
    let (program, output, errors) = try watch(space, [])
    _ = try read(3, from: output)
    try space.run("drop", "people/contacts", "--yes")
    #expect(program.wait() == 66)
    #expect(
      try Descriptor.read(from: errors)
        == "cdtquery: the store people/contacts was deleted, which ends its results\n")
    close(output)
    close(errors)
  }

  @Test(arguments: [["--count"], ["--ids"], ["--explain"], ["--format", "csv"]])
  func `it has its own format`(_ options: [String]) throws {
    let space = try Workspace(Workspace.people)
    let result = try space.run(Built.cdtquery, ["find", "people/contacts", "--watch"] + options)
    #expect(result.status == 64 && result.errors.contains("--watch is for stores"))
  }
}
