import CDTTestSupport
import Foundation
import Testing

/// `cdtquery look`, up to the address; `Tests/Page` uses the page.
@Suite(.timeLimit(.usual)) struct LookCommandTests {
  let directory: ServerDirectory

  init() throws {
    directory = try ServerDirectory()
  }

  @Test func `a directory that is not there`() throws {
    let run = try ToolRun.of(["look", "none"], in: directory)
    #expect(run.errors == "cdtquery: there is no directory none; check the path\n")
    #expect(run.status == 66)
  }

  @Test func `it prints an address whose token opens the page, and ends when it is asked to`() throws {
    let line = """
      mkdir people; cdtquery look people > address & pid=$!; \
      until grep -q token address; do sleep 0.1; done; \
      curl -s -o /dev/null -w '%{http_code} ' "$(cat address)"; \
      curl -s -L -c jar "$(cat address)" -o /dev/null -w '%{http_code} '; kill $pid; wait $pid; echo $?
      """
    let run = try ToolRun.shell(line, in: directory)
    #expect(run.output == "303 401 0\n", "\(run.errors)")
  }

  @Test(arguments: [true, false]) func `it opens a browser on a desktop, from a terminal`(
    hasDesktop: Bool
  ) throws {
    try FileManager.default.createDirectory(
      atPath: directory.path("people"), withIntermediateDirectories: true)
    try FileManager.default.createDirectory(
      atPath: directory.path("tools"), withIntermediateDirectories: true)
    let script =
      "#!/bin/sh\nprintf '%s' \"$1\" > '\(directory.path("opening"))'\n"
      + "mv '\(directory.path("opening"))' '\(directory.path("opened"))'\n"
    try directory.write(script, to: "tools/xdg-open")
    try FileManager.default.setAttributes(
      [.posixPermissions: 0o755], ofItemAtPath: directory.path("tools/xdg-open"))
    let environment = [
      "PATH": "\(directory.path("tools")):/usr/bin:/bin", "DISPLAY": hasDesktop ? ":0" : "",
      "WAYLAND_DISPLAY": "",
    ]
    let look = try TerminalRun(["look", "people"], in: directory, environment: environment)
    try look.wait(for: "\n")
    let address = try #require(look.seen.split(whereSeparator: \.isWhitespace).first)
    let opened = directory.path("opened")
    while hasDesktop, !FileManager.default.fileExists(atPath: opened) { usleep(10_000) }
    look.interrupt()
    #expect(look.end() == 0)
    #expect((try? String(contentsOfFile: opened, encoding: .utf8)) == (hasDesktop ? String(address) : nil))
  }
}
