import FoundationEssentials
import Testing

/// README.md, docs/*.md and the other pages: what they show happens, and what they point to is there.
@Suite struct PageTests {
  struct Page: Sendable, CustomTestStringConvertible {
    /// The path within the package.
    let name: String
    let lines: [String]

    var testDescription: String { name }

    init(name: String) {
      self.name = name
      let data = try? Data(contentsOf: URL(filePath: "\(Built.package)/\(name)"))
      lines = String(decoding: data ?? Data(), as: UTF8.self).split(
        separator: "\n", omittingEmptySubsequences: false
      ).map(String.init)
    }

    /// The lines of code blocks in a language, each with its number, a group a block.
    func blocks(in language: String) -> [[(number: Int, text: String)]] {
      var blocks: [[(number: Int, text: String)]] = []
      var current: String?
      for (index, line) in lines.enumerated() {
        if line.hasPrefix("```") {
          current = current == nil ? String(line.dropFirst(3)) : nil
          if current == language { blocks.append([]) }
        } else if current == language {
          blocks[blocks.count - 1].append((index + 1, line))
        }
      }
      return blocks
    }

    /// The lines of text, without those of code blocks.
    var prose: [String] {
      var isCode = false
      return lines.filter { line in
        if line.hasPrefix("```") { isCode.toggle() }
        return !isCode && !line.hasPrefix("    ")
      }
    }

    /// Where links lead to, without those to other sites.
    var links: [String] {
      prose.flatMap { line in
        line.split(separator: "](", omittingEmptySubsequences: false).dropFirst().compactMap { rest in
          rest.firstIndex(of: ")").map { String(rest[..<$0]) }
        }
      }.filter { !$0.contains("://") && !$0.hasPrefix("mailto:") }
    }

    /// What headings are linked by.
    var anchors: [String] {
      prose.filter { $0.hasPrefix("#") }.map { heading in
        let text = heading.drop { $0 == "#" || $0 == " " }.lowercased()
        return String(
          text.compactMap {
            $0 == " " ? "-" : $0.isLetter || $0.isNumber || $0 == "-" || $0 == "_" ? $0 : nil
          })
      }
    }
  }

  static let pages: [Page] = {
    let names = (try? FileManager.default.subpathsOfDirectory(atPath: Built.package + "/docs")) ?? []
    return ["README.md", "CONTRIBUTING.md", "SECURITY.md", "Examples/README.md", "llms.txt"].map(Page.init)
      + names.filter { $0.hasSuffix(".md") }.sorted().map { Page(name: "docs/" + $0) }
  }()

  @Test func `the pages of users are among them`() {
    let names = Self.pages.map(\.name)
    for name in ["README.md", "docs/cli.md"] { #expect(names.contains(name)) }
  }

  @Test(arguments: pages) func `examples of shell commands do what they show`(_ page: Page) throws {
    let space = try Workspace()
    try space.makeConflict()
    let examples = page.blocks(in: "sh").flatMap(Examples.read)
    for example in examples {
      let result = try space.shell(example.command, mergesErrors: true)
      #expect(
        Examples.matches(result.output, example.output.joined(separator: "\n")),
        "\(page.name):\(example.line): \(example.command)\n\(result.output)")
      #expect(result.status == 0, "\(page.name):\(example.line): \(example.command)")
    }
  }

  @Test func `README and the page of the command line have examples`() {
    for name in ["README.md", "docs/cli.md"] {
      #expect(!Page(name: name).blocks(in: "sh").flatMap(Examples.read).isEmpty, "\(name)")
    }
  }

  @Test(arguments: pages) func `links lead somewhere`(_ page: Page) throws {
    for link in page.links {
      let parts = link.split(separator: "#", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
      let base = page.name.split(separator: "/").dropLast().map { $0 + "/" }.joined()
      let target = parts[0].isEmpty ? page.name : Self.resolved(base + parts[0])
      #expect(
        FileManager.default.fileExists(atPath: "\(Built.package)/\(target)"), "\(page.name): \(link)")
      guard parts.count == 2, target.hasSuffix(".md") else { continue }
      #expect(Page(name: target).anchors.contains(parts[1]), "\(page.name): \(link)")
    }
  }

  private static func resolved(_ path: String) -> String {
    var parts: [Substring] = []
    for part in path.split(separator: "/") {
      if part == ".." { _ = parts.popLast() } else if part != "." { parts.append(part) }
    }
    return parts.joined(separator: "/")
  }
}
