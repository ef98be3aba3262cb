/// The documents and the parameters of one size of the workload.
struct Workload {
  let vocabulary: Vocabulary
  let documents: JSONLines
  let parameters: Parameters
  /// Replacements for single documents.
  let updates: JSONLines
  /// Replacements for one in a hundred documents, each renamed to ``freshName(_:)``; one set a round.
  let maintenance: [JSONLines]

  /// The minimum number of sets of maintenance.
  static let maintenanceRounds = 5

  static func freshName(_ round: Int) -> String { "Fresh \(round)" }

  init(count: Int, maintenanceRounds: Int = Self.maintenanceRounds, updates: Int = 1_000) {
    vocabulary = Vocabulary()
    let vocabulary = vocabulary
    var random = LCG(seed: 1_000_003 * UInt64(count) + 7)
    let documents = (0..<count).map { BenchDocument(number: $0 + 1, vocabulary, from: &random) }
    var draws = Self.draws(count)
    self.documents = Self.lines(documents)
    parameters = Parameters(count: count, vocabulary, from: &draws)
    self.updates = Self.updates(updates, of: documents, vocabulary, from: &draws)
    maintenance = (0..<maintenanceRounds).map { Self.maintenance($0, of: documents, from: &draws) }
  }

  /// The generator from which parameters and replacements are drawn.
  private static func draws(_ count: Int) -> LCG { LCG(seed: 77 * UInt64(count) + 5) }

  /// The parameters alone, which takes little memory.
  static func parameters(count: Int) -> Parameters {
    var draws = draws(count)
    return Parameters(count: count, Vocabulary(), from: &draws)
  }

  private static func lines(_ documents: [BenchDocument]) -> JSONLines {
    var lines = JSONLines()
    for document in documents { lines.append(document) }
    return lines
  }

  private static func updates(
    _ count: Int, of documents: [BenchDocument], _ vocabulary: Vocabulary, from random: inout LCG
  ) -> JSONLines {
    var lines = JSONLines()
    for _ in 0..<count {
      var document = documents[random.below(documents.count)]
      document.age = random.below(100)
      document.score = Score(from: &random)
      let tag = random.pick(vocabulary.tags)
      document.tags = [tag] + document.tags.dropFirst().filter { $0 != tag }
      lines.append(document)
    }
    return lines
  }

  private static func maintenance(
    _ round: Int, of documents: [BenchDocument], from random: inout LCG
  ) -> JSONLines {
    var lines = JSONLines()
    for position in random.distinct(documents.count / 100, below: documents.count) {
      var document = documents[position]
      document.name = freshName(round)
      document.age = random.below(100)
      lines.append(document)
    }
    return lines
  }
}
