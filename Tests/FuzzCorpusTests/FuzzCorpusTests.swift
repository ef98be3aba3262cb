import CDTFuzzTargets
import CDTTestSupport
import Foundation
import Testing

/// Every input that a fuzz target once found something with, or that leads it into code that random bytes rarely reach.
@Suite struct FuzzCorpusTests {
  private static let corpus = URL(filePath: #filePath).deletingLastPathComponent()
    .appending(path: "../../FuzzTargets/Corpus").standardized

  @Test func `every directory of the corpus belongs to a target`() throws {
    let names = try FileManager.default.contentsOfDirectory(atPath: Self.corpus.path)
    #expect(Set(names) == Set(FuzzTarget.allCases.map(\.rawValue)))
  }

  /// One after the other, as targets use directories of their own again. A property that does not hold ends the process.
  @Test func `the properties of each target hold for its corpus`() throws {
    for target in FuzzTarget.allCases {
      let directory = Self.corpus.appending(path: target.rawValue)
      let files = try FileManager.default.contentsOfDirectory(at: directory, includingPropertiesForKeys: nil)
      #expect(!files.isEmpty, "\(target.rawValue)")
      for file in files { target.run(Array(try Data(contentsOf: file))) }
    }
  }
}
