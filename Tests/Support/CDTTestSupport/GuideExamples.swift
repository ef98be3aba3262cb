import Foundation
import Testing

/// Expects every Swift example of a page of the documentation to stand in a source file, line by line but for the
/// indentation.
///
/// - Parameter isOfFile: Whether an example is expected in the file.
package func expectExamples(
  of page: String, in file: String, atLeast count: Int, where isOfFile: (String) -> Bool = { _ in true }
) throws {
  func lines(_ text: String) -> [String] {
    text.split(separator: "\n").map { $0.trimmingCharacters(in: .whitespaces) }.filter { !$0.isEmpty }
  }
  let source = lines(try String(contentsOf: URL(filePath: file), encoding: .utf8))
  let blocks = try Repository.page(page).components(separatedBy: "```swift\n").dropFirst()
  #expect(blocks.count >= count)
  for block in blocks {
    let code = block.components(separatedBy: "\n```").first ?? ""
    guard isOfFile(code) else { continue }
    let example = lines(code)
    let isHere = source.indices.contains { source[$0...].starts(with: example) }
    #expect(isHere && !example.isEmpty, "\(code)")
  }
}

/// Expects every Swift example in the doc comments of a source file to stand in a file of tests, but for spaces and comments.
///
/// - Parameters:
///   - source: The source file, in `Sources`.
///   - isOfFile: Whether an example is expected in the file.
package func expectExamples(
  ofComments source: String, in file: String, where isOfFile: (String) -> Bool = { _ in true }
) throws {
  func code(_ lines: [Substring]) -> String {
    lines.map { $0.prefix(upTo: $0.firstRange(of: "  // ")?.lowerBound ?? $0.endIndex) }.joined()
      .filter { !$0.isWhitespace }
  }
  func lines(_ path: String) throws -> [Substring] {
    try String(contentsOf: URL(filePath: path), encoding: .utf8).split(separator: "\n")
  }
  let comments = try lines(Repository.root.appending(path: "Sources/\(source)").path)
    .map { $0.drop { $0 == " " } }.filter { $0.hasPrefix("///") }.map { $0.dropFirst(4) }
  let examples = comments.split(separator: "```swift", omittingEmptySubsequences: false).dropFirst()
    .map { Array($0.prefix { $0 != "```" }) }
  let tests = code(try lines(file))
  #expect(!examples.isEmpty)
  for example in examples where isOfFile(example.joined(separator: "\n")) {
    #expect(tests.contains(code(example)), "\(source): \(example.joined(separator: "\n"))")
  }
}
