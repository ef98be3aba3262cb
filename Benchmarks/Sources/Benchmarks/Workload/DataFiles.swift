import FoundationEssentials
import Glibc

/// Writes the workload as files, for checking it, or for measuring something else with it.
enum DataFiles {
  static func write(_ workload: Workload, to directory: String) throws {
    try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
    func write(_ bytes: [UInt8], _ name: String) throws {
      try Data(bytes).write(to: URL(filePath: "\(directory)/\(name)"))
    }
    func write(_ rows: [[String]], _ name: String) throws {
      try write(Array(rows.map { $0.joined(separator: "\t") + "\n" }.joined().utf8), name)
    }
    let parameters = workload.parameters
    try write(workload.documents.text, "docs.jsonl")
    try write(workload.updates.text, "updates.jsonl")
    for (round, lines) in workload.maintenance.enumerated() { try write(lines.text, "maint-\(round).jsonl") }
    try write(parameters.named.map { [$0.name, "\($0.age)"] }, "q1.tsv")
    try write(parameters.ids.map { [$0] }, "q2.tsv")
    try write(parameters.species.map { [$0] }, "q3.tsv")
    try write(parameters.ages.map { ["\($0.lowerBound)", "\($0.upperBound)"] }, "q4.tsv")
    try write(parameters.tags.map { [$0] }, "q5.tsv")
    try write(parameters.commented.map { ["\($0.score)", $0.word] }, "q6.tsv")
    try write(parameters.namedOrSpecies.map { [$0.name, "\($0.age)", $0.species] }, "q7.tsv")
  }

  /// Writes documents one after another, so that few of them are in memory at a time.
  static func writeDocuments(_ count: Int, to path: String) throws {
    guard let file = fopen(path, "w") else { throw BenchError("\(path) can't be written") }
    let vocabulary = Vocabulary()
    var random = LCG(seed: 1_000_003 * UInt64(count) + 7)
    for number in 1...count {
      fputs(BenchDocument(number: number, vocabulary, from: &random).json + "\n", file)
    }
    guard fclose(file) == 0 else { throw BenchError("\(path) can't be written") }
  }
}
