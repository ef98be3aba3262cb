import Foundation
import Glibc

/// The library that is loaded into a program to make its calls fail, which `Tests/Support/CDTFaults` is the source of.
///
/// The package does not build it: SwiftPM makes a library that can be loaded only for a product, which every app would see.
enum FaultLibrary {
  /// The path of the library, which is compiled once in a run of the tests.
  static func path() throws -> String { try built.get() }

  private static let built = Result {
    try compile(to: try BuiltProgram.directory().appending(path: "libCDTFaults.so").path)
  }

  private static func compile(to path: String) throws -> String {
    let sources = Repository.root.appending(path: "Tests/Support/CDTFaults").path
    let files = try FileManager.default.contentsOfDirectory(atPath: sources).filter { $0.hasSuffix(".c") }
    // Another run of the tests may compile it at the same time.
    let draft = "\(path).\(ProcessInfo.processInfo.processIdentifier)"
    for compiler in ["clang", "gcc", "cc"] {
      let arguments =
        [compiler, "-shared", "-fPIC", "-O1", "-o", draft] + files.map { "\(sources)/\($0)" } + ["-ldl"]
      guard try SpawnedProcess("/usr/bin/env", arguments).wait() == 0 else { continue }
      guard rename(draft, path) == 0 else { break }
      return path
    }
    throw SpawnedProcess.Failure(description: "\(path) can't be compiled; install clang or gcc")
  }
}
