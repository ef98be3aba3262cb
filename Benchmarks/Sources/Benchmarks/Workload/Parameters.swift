/// The parameters of the queries: 300 draws a query.
struct Parameters {
  let named: [(name: String, age: Int)]
  let ids: [String]
  let species: [String]
  let ages: [ClosedRange<Int>]
  let tags: [String]
  let commented: [(score: Int, word: String)]
  let namedOrSpecies: [(name: String, age: Int, species: String)]

  private static let rows = 0..<300

  /// Draws the parameters. The order of the draws is the workload's definition.
  init(count: Int, _ vocabulary: Vocabulary, from random: inout LCG) {
    named = Self.rows.map { _ in (random.pick(vocabulary.names), random.below(100)) }
    ids = Self.rows.map { _ in BenchDocument.id(1 + random.below(count)) }
    species = Self.rows.map { _ in random.pick(vocabulary.species) }
    ages = Self.rows.map { _ in
      let first = random.below(91)
      return first...first + 9
    }
    tags = Self.rows.map { _ in random.pick(vocabulary.tags) }
    commented = Self.rows.map { _ in (100 + random.below(800), random.pick(vocabulary.words)) }
    namedOrSpecies = Self.rows.map { _ in
      (random.pick(vocabulary.names), random.below(100), random.pick(vocabulary.species))
    }
  }

  /// The questions of a query, in the order in which they are asked; none for what is no query.
  func requests(of operation: Operation) -> [Request] {
    switch operation {
    case .q1: named.map { .named($0.name, minimumAge: $0.age, limit: 25) }
    case .q2: ids.map { .id($0) }
    case .q3: species.map { .oldest(species: $0) }
    case .q4, .q4i: ages.map { .ages($0) }
    case .q5: tags.map { .tagged($0, limit: 100) }
    case .q6a: commented.map { .commented($0.word, above: $0.score, limit: 50) }
    case .q6b: commented.map { .commented($0.word, above: $0.score, limit: nil) }
    case .q7: namedOrSpecies.map { .namedOrSpecies($0.name, minimumAge: $0.age, species: $0.species) }
    case .q8: [.documents(limit: 10_000)]
    case .load, .loadIndexed, .index, .update, .maint, .disk: []
    }
  }
}
