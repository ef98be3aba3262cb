import CDTPlatform
import CDTTestSupport
import Foundation
import Testing

/// What differs between systems is in one module.
@Suite struct PortabilityTests {
  /// A module that not every system has, and the files that may import it.
  static let modules = [
    (module: "FoundationEssentials", files: ["Base/CDTPlatform/Foundation.swift"]),
    (module: "Glibc", files: ["Base/CDTPlatform/"]),
    (module: "Musl", files: ["Base/CDTPlatform/"]),
    (module: "Darwin", files: ["Base/CDTPlatform/", "Base/CDTDigest/"]),
  ]

  @Test(arguments: modules) func `only CDTPlatform imports a system's module`(module: String, files: [String])
    throws
  {
    let sources = Repository.root.appending(path: "Sources")
    let paths = try FileManager.default.subpathsOfDirectory(atPath: sources.path).filter {
      $0.hasSuffix(".swift")
    }
    #expect(paths.count > 100)
    for path in paths where !files.contains(where: path.hasPrefix) {
      let text = try String(contentsOf: sources.appending(path: path), encoding: .utf8)
      #expect(
        !text.split(separator: "\n").contains { $0.hasSuffix("import \(module)") },
        "\(path) imports \(module)")
    }
  }

  @Test func `the arguments of the process are known without /proc`() {
    #expect(!CurrentProcess.arguments.isEmpty && CurrentProcess.arguments == CommandLine.arguments)
    #expect(CurrentProcess.misencodedArgument == nil)
  }

  @Test func `each import of a system's module is conditional`() throws {
    let platform = Repository.root.appending(path: "Sources/Base/CDTPlatform")
    for name in try FileManager.default.contentsOfDirectory(atPath: platform.path)
    where name.hasSuffix(".swift") {
      let lines = try String(contentsOf: platform.appending(path: name), encoding: .utf8).split(
        separator: "\n")
      for line in lines where Self.modules.contains(where: { line.hasSuffix("import \($0.module)") }) {
        // Within #if, lines are indented.
        #expect(line.hasPrefix(" "), "\(name): \(line)")
      }
    }
  }
}
