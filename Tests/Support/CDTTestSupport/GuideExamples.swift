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
