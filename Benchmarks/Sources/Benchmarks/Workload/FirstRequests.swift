/// Requests for documents that were not asked for before, each to be asked once.
///
/// The requests of a session have no document in common, nor do those that prepare it. Where that leaves one request, as
/// with scans and with tags, of which each document has three, there are more sessions. In each the store is opened anew.
struct FirstRequests {
  /// The requests at the beginning of a session, so that its statements are prepared and its code has run.
  let preparing: [Request]
  let sessions: [[Request]]

  /// The requests of a round.
  init(of query: Operation, round: Int, _ workload: Workload) {
    let (vocabulary, documents) = (workload.vocabulary, workload.documents.count)
    var random = LCG(seed: 7_919 * UInt64(documents) + 104_729 * UInt64(round) + 13)
    /// So many choices, none twice; the first of all are left for preparing.
    func draw<Choice>(_ count: Int, of choices: [Choice], after reserved: Int = 0) -> [Choice] {
      random.distinct(count, below: choices.count - reserved).map { choices[reserved + $0] }
    }
    let names = draw(100, of: vocabulary.names, after: 10)
    let species = draw(19, of: vocabulary.species, after: 1)
    let named: [Request] = vocabulary.names.prefix(10).map { .named($0, minimumAge: 0, limit: 25) }
    let commented = workload.parameters.commented
    let scans = (0..<3).map { commented[(round * 3 + $0) % commented.count] }
    switch query {
    case .q1:
      preparing = named
      sessions = [names.map { .named($0, minimumAge: random.below(100), limit: 25) }]
    case .q2:
      preparing = (1...10).map { .id(BenchDocument.id($0)) }
      sessions = [random.distinct(1_000, below: documents - 10).map { .id(BenchDocument.id($0 + 11)) }]
    case .q3:
      preparing = [.oldest(species: vocabulary.species[0])]
      sessions = [species.map { .oldest(species: $0) }]
    case .q4, .q4i:
      preparing = [.ages(0...9)]
      sessions = [random.distinct(9, below: 9).map { .ages(10 * $0 + 10...10 * $0 + 19) }]
    case .q5:
      preparing = named + [.tagged("none", limit: 100)]
      sessions = draw(10, of: vocabulary.tags).map { [.tagged($0, limit: 100)] }
    case .q6a:
      preparing = scans.map { .commented($0.word, above: 0, limit: 1) }
      sessions = scans.map { [.commented($0.word, above: $0.score, limit: 50)] }
    case .q6b:
      preparing = scans.map { .commented($0.word, above: 0, limit: 1) }
      sessions = scans.prefix(1).map { [.commented($0.word, above: $0.score, limit: nil)] }
    case .q7:
      preparing = [.namedOrSpecies(vocabulary.names[0], minimumAge: 0, species: vocabulary.species[0])]
      sessions = [zip(names, species).map { .namedOrSpecies($0, minimumAge: random.below(100), species: $1) }]
    case .q8:
      preparing = [.documents(limit: 10)]
      sessions = [[Request]](repeating: [.documents(limit: 10_000)], count: 3)
    case .load, .loadIndexed, .index, .update, .maint, .disk:
      preparing = []
      sessions = []
    }
  }
}
