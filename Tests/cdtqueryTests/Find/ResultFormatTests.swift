import CDTImport
import CDTTestSupport
import Foundation
import Testing

/// The list of formats, which `docs/cli.md` has, too.
@Suite struct ResultFormatTests {
  @Test func `docs/cli.md describes every format`() throws {
    let page = try Repository.page("cli.md")
    let section = try #require(page.components(separatedBy: "\n### Formats\n").last)
    let rows = section.components(separatedBy: "\n```")[0].split(separator: "\n").filter {
      $0.hasPrefix("| `")
    }
    let names = ResultFormat.allCases.map(\.rawValue)
    #expect(rows.map { String($0.split(separator: "`")[1]) } == names)
    let list = names.dropLast().map { "`\($0)`" }.joined(separator: ", ") + " or `\(names.last ?? "")`"
    #expect(page.contains("| `--format F` | \(list) |"))
  }

  @Test func `export and docs/cli.md name the same formats`() throws {
    let space = try Workspace(Workspace.people)
    for format in ResultFormat.allCases {
      let isExported = try space.run("export", "people/contacts", "--format", format.rawValue).status == 0
      #expect(isExported == (format == .jsonl || format.separatedValues != nil), "\(format)")
    }
    #expect(try Repository.page("cli.md").contains("`--format jsonl`, `csv` or `tsv` decides otherwise."))
  }
}
