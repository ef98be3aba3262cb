import Foundation

/// The compiler, for tests of what compiles.
package enum CompilerCheck {
  /// Checks the types of a file that imports modules of this package, with warnings as errors.
  ///
  /// - Returns: The messages of the compiler, a line for each error; empty if the file compiles.
  package static func diagnostics(of file: String, _ options: [String] = []) throws -> String {
    let products = try BuiltProgram.directory()
    let modules = ["Base/CDTCCrypto", "Store/CDTCSQLite", "Query/CDTCPCRE2", "Base/CDTCZlib"].map {
      "Sources/\($0)"
    }
    let places =
      [products.appending(path: "Modules"), products.appending(path: "CDTCPlatform.build")]
      + modules.map { Repository.root.appending(path: $0) }
    let process = Process()
    process.executableURL = URL(filePath: "/usr/bin/env")
    process.arguments =
      [
        "swiftc", "-typecheck", "-swift-version", "6", "-warnings-as-errors", "-diagnostic-style", "llvm",
        file,
      ] + options
      + places.flatMap { ["-I", $0.path] }
    let output = Pipe()
    (process.standardOutput, process.standardError) = (output, output)
    try process.run()
    let data = try output.fileHandleForReading.readToEnd() ?? Data()
    process.waitUntilExit()
    return String(decoding: data, as: UTF8.self)
  }
}
