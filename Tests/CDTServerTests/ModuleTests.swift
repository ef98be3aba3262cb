import Foundation
import Testing

/// What programs are made of.
@Suite struct ModuleTests {
  /// Whether the file of a built program has a text.
  private static func program(_ name: String, has text: String) throws -> Bool {
    let tests = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
    let file = URL(filePath: tests).deletingLastPathComponent().appending(path: name)
    return try Data(contentsOf: file, options: .alwaysMapped).range(of: Data(text.utf8)) != nil
  }

  @Test func `programs without the server have nothing of SwiftNIO`() throws {
    // A module's name is part of the name of each of its symbols.
    #expect(try Self.program("cdtquery-server", has: "NIOCore"))
    #expect(try !Self.program("cdtquery", has: "NIOCore"))
    #expect(try Self.program("cdtquery", has: "CDTQuery"))
  }
}
