import CDTTestSupport
import Foundation
import Testing

/// The folders of CDTQuery use each other's types in one direction only.
@Suite struct FolderOrderTests {
  /// The folders on one line may use each other, and those on the lines before.
  static let layers = [
    ["Execution"], ["Find"], ["Groups"], ["Explain"], ["Describe"], ["Changes"], ["Models"], ["Live"],
  ]

  private struct Source {
    let folder: String, file: String
    /// The words of each line without its comment, and whether the line begins with one.
    let lines: [(words: [String], isIndented: Bool)]

    init(_ folder: String, _ url: URL) throws {
      (self.folder, file) = (folder, url.lastPathComponent)
      lines = try Array(Data(contentsOf: url)).split(separator: UInt8(ascii: "\n")).map { line in
        let comment = line.indices.first { line[$0...].starts(with: "//".utf8) }
        let words = line[..<(comment ?? line.endIndex)].split { byte in
          byte != UInt8(ascii: "_") && byte < 0x80 && !Character(Unicode.Scalar(byte)).isLetter
            && !(0x30...0x39).contains(byte)
        }
        return (words.map { String(decoding: $0, as: UTF8.self) }, line.first == UInt8(ascii: " "))
      }
    }

    /// The types that other files can use.
    var declared: [String] {
      lines.compactMap { words, isIndented in
        let kinds: Set = ["struct", "class", "enum", "protocol", "actor", "typealias"]
        guard !isIndented, let kind = words.firstIndex(where: kinds.contains), kind + 1 < words.count,
          !words[..<kind].contains("private"), !words[..<kind].contains("fileprivate")
        else { return nil }
        return words[kind + 1]
      }
    }
  }

  @Test func `a folder uses no type of a later one`() throws {
    let root = Repository.root.appending(path: "Sources/Query/CDTQuery")
    let folders = Self.layers.joined()
    let sources = try folders.flatMap { folder in
      try FileManager.default.contentsOfDirectory(atPath: root.appending(path: folder).path).map {
        try Source(folder, root.appending(path: "\(folder)/\($0)"))
      }
    }
    var owners: [String: String] = [:]
    for source in sources { for type in source.declared { owners[type] = source.folder } }
    #expect(owners["QueryRun"] == "Execution" && owners["LiveQueries"] == "Live")
    func layer(_ folder: String) -> Int { Self.layers.firstIndex { $0.contains(folder) } ?? .max }
    let uses = sources.flatMap { source in
      Set(source.lines.flatMap(\.words)).compactMap { word -> String? in
        guard let owner = owners[word], layer(owner) > layer(source.folder) else { return nil }
        return "\(source.folder)/\(source.file) uses \(word), a type of \(owner)"
      }
    }
    #expect(uses.sorted() == [])
    let found = try FileManager.default.contentsOfDirectory(atPath: root.path)
    #expect(Set(found).subtracting(["Documentation.docc", "Exports.swift"]) == Set(folders))
  }
}
